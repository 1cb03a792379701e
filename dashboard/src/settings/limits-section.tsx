import { Group } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { fieldText, numberError, wireNumber } from "../shell/amounts.ts";
import { NumberField } from "../shell/number-field.tsx";
import { SettingsForm } from "./settings-form.tsx";

/** The text as the user typed it. */
type Values = Readonly<Record<"maxActiveInvoices" | "maxPublicInvoices", string>>;

const ACTIVE = { digits: 0, least: 1n, most: 1_000_000n } as const;
const PUBLIC = { digits: 0, most: 1_000_000n } as const;

export function LimitsSection({ settings }: { readonly settings: Settings }) {
  const { maxActiveInvoices, maxPublicInvoices } = settings;
  return (
    <SettingsForm<Values>
      part="limits"
      about="The maximum number of invoices that can await payment at the same time. Protects you from being flooded with invoices."
      initial={{ maxActiveInvoices: fieldText(maxActiveInvoices), maxPublicInvoices: fieldText(maxPublicInvoices) }}
      validate={{
        maxActiveInvoices: (text) => numberError(text, ACTIVE),
        maxPublicInvoices: (text) => numberError(text, PUBLIC),
      }}
      bodyOf={(values) => ({
        maxActiveInvoices: wireNumber(values.maxActiveInvoices, ACTIVE),
        maxPublicInvoices: wireNumber(values.maxPublicInvoices, PUBLIC),
      })}
    >
      {(form) => (
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <NumberField
            label="Created by your server and team"
            rule={ACTIVE}
            {...form.getInputProps("maxActiveInvoices")}
          />
          <NumberField
            label="Created through public keys and product pages"
            rule={PUBLIC}
            {...form.getInputProps("maxPublicInvoices")}
          />
        </Group>
      )}
    </SettingsForm>
  );
}
