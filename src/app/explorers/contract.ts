import * as z from "zod";

const template = (placeholder: string) =>
  z
    .string()
    .nullable()
    .meta({ description: `An https URL with the placeholder \`${placeholder}\`.` });

export const explorersBody = () =>
  z
    .object({
      data: z.array(z.object({ network: z.string(), transaction: template("{hash}"), address: template("{address}") })),
    })
    .meta({ title: "Explorers" });
