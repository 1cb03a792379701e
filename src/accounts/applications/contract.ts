// The wire format of a key for an application.
import * as z from "zod";
import { textField } from "../../lib/fields.ts";
import { RIGHT_NAMES } from "./rights.ts";

export const authorizeBody = () =>
  z.strictObject({
    question: z.string().max(128).meta({
      description:
        "Identifies the application's request; taken from the page `/api-keys/authorize`. It can be answered once, within 30 minutes.",
    }),
    application: textField(200).meta({ description: "Becomes the name of the key.", examples: ["WooCommerce"] }),
    redirect: z
      .string()
      .max(1_000)
      .nullable()
      .meta({ description: "Where the page sends the key; null if it is shown instead." }),
    rights: z
      .array(z.enum(RIGHT_NAMES))
      .min(1)
      .max(RIGHT_NAMES.length)
      .refine((names) => new Set(names).size === names.length, "must not contain a right twice")
      .meta({
        description: "Names of permissions in BTCPay Server's API. Your own role must have the matching permissions.",
      }),
  });
