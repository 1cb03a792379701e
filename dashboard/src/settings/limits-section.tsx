import { Group, NumberInput } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { SettingsForm } from "./settings-form.tsx";

type Values = Readonly<Record<"maxActiveInvoices" | "maxPublicInvoices", number | string>>;

const MOST = 1_000_000;

export function LimitsSection({ settings }: { readonly settings: Settings }) {
  const { maxActiveInvoices, maxPublicInvoices } = settings;
  return (
    <SettingsForm<Values>
      title="Limits"
      about="How many invoices may wait for their payment at the same time, so that nobody can flood you."
      initial={{ maxActiveInvoices, maxPublicInvoices }}
      bodyOf={(values) => ({
        maxActiveInvoices: Number(values.maxActiveInvoices),
        maxPublicInvoices: Number(values.maxPublicInvoices),
      })}
    >
      {(form) => (
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <NumberInput
            label="Of your server and team"
            min={1}
            max={MOST}
            allowDecimal={false}
            thousandSeparator=" "
            hideControls
            {...form.getInputProps("maxActiveInvoices")}
          />
          <NumberInput
            label="Of public keys and product pages"
            min={0}
            max={MOST}
            allowDecimal={false}
            thousandSeparator=" "
            hideControls
            {...form.getInputProps("maxPublicInvoices")}
          />
        </Group>
      )}
    </SettingsForm>
  );
}
