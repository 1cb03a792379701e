import { Group, TextInput } from "@mantine/core";
import type { Inputs } from "../shell/form.tsx";
import { LONGEST } from "./longest.ts";

/** The fields that identify an invoice's customer. */
export function ContactFields({ form }: { readonly form: Inputs<"customerEmail" | "customerName"> }) {
  return (
    <Group grow align="flex-start">
      <TextInput label="Customer's email" type="email" {...form.getInputProps("customerEmail")} />
      <TextInput label="Customer's name" maxLength={LONGEST.customerName} {...form.getInputProps("customerName")} />
    </Group>
  );
}
