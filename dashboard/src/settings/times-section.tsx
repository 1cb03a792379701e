import { Alert, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Settings } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { DurationField } from "./duration-field.tsx";
import { SettingsForm } from "./settings-form.tsx";

type Values = Readonly<Record<(typeof FIELDS)[number]["name"], number>>;

/** Bounds from the contract (merchants/contract.ts), in seconds. */
const FIELDS = [
  {
    name: "invoiceLifetimeSeconds",
    label: "Time to pay an invoice",
    description: "Applies unless an invoice sets its own time.",
    least: 60,
    most: 2_592_000,
    bounds: "Enter 1 minute to 30 days",
  },
  {
    name: "rateLockSeconds",
    label: "Exchange rate held for",
    description: "After that, the crypto amount is recalculated at the current rate.",
    least: 1,
    most: 86_400,
    bounds: "Enter 1 second to 1 day",
  },
  {
    name: "monitorSeconds",
    label: "Watch for late payments for",
    description: "Payments that arrive later can only be found by their transaction hash.",
    least: 0,
    most: 604_800,
    bounds: "Enter up to 7 days",
  },
] as const;

export function TimesSection({ settings }: { readonly settings: Settings }) {
  const { invoiceLifetimeSeconds, rateLockSeconds, monitorSeconds } = settings;
  return (
    <SettingsForm<Values>
      part="times"
      about="How long customers have to pay."
      initial={{ invoiceLifetimeSeconds, rateLockSeconds, monitorSeconds }}
      validate={(values) =>
        Object.fromEntries(
          FIELDS.filter(({ name, least, most }) => !(values[name] >= least && values[name] <= most)).map(
            ({ name, bounds }) => [name, bounds],
          ),
        )
      }
      bodyOf={(values) => values}
    >
      {(form) => (
        <>
          {FIELDS.map(({ name, label, description }) => (
            <DurationField
              key={name}
              label={label}
              description={description}
              value={form.values[name]}
              error={form.errors[name]}
              onChange={(seconds) => form.setFieldValue(name, seconds)}
            />
          ))}
          <TimesExample values={form.values} />
        </>
      )}
    </SettingsForm>
  );
}

function TimesExample({ values }: { readonly values: Values }) {
  const { dateTime } = useFormats();
  const [nowMs] = useState(Date.now);
  const at = (seconds: number) => dateTime(new Date(nowMs + seconds * 1_000).toISOString());
  const { invoiceLifetimeSeconds, rateLockSeconds, monitorSeconds } = values;
  const isLocked = rateLockSeconds >= invoiceLifetimeSeconds;
  if (!FIELDS.every(({ name, most }) => values[name] <= most)) return null;
  return (
    <Alert color="indigo" title="An invoice created now">
      <Stack gap={2}>
        <Text size="sm">can be paid until {at(invoiceLifetimeSeconds)},</Text>
        <Text size="sm">
          {isLocked
            ? "keeps the same crypto amount until then,"
            : `keeps the same crypto amount until ${at(rateLockSeconds)}, then follows the current rate,`}
        </Text>
        <Text size="sm">and is watched for late payments until {at(invoiceLifetimeSeconds + monitorSeconds)}.</Text>
      </Stack>
    </Alert>
  );
}
