import { Alert, Text } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { fieldText, numberError, numberIn, wireNumber } from "../shell/amounts.ts";
import { NumberField } from "../shell/number-field.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import { SettingsForm } from "./settings-form.tsx";

const HOURS = { digits: 0, most: 168n } as const;

interface Values {
  /** The text as the user typed it. */
  readonly walletChangeDelayHours: string;
}

export function WalletDelaySection({ settings }: { readonly settings: Settings }) {
  const { walletChangeDelayHours: hours, pendingWalletChangeDelay: pending } = settings;
  return (
    <SettingsForm<Values>
      part="wallet-delay"
      about="Invoices use a newly added or enabled wallet only after this delay. It gives your team time to react if an attacker adds a wallet."
      initial={{ walletChangeDelayHours: fieldText(pending?.hours ?? hours) }}
      validate={{ walletChangeDelayHours: (text) => numberError(text, HOURS) }}
      bodyOf={(values) => ({ walletChangeDelayHours: wireNumber(values.walletChangeDelayHours, HOURS) })}
    >
      {(form) => (
        <>
          <NumberField
            label="Delay"
            hint="0 to 168 hours. You will need to confirm your identity, and every owner and admin gets an email."
            unit="hours"
            rule={HOURS}
            maw={420}
            {...form.getInputProps("walletChangeDelayHours")}
          />
          <DelayText now={hours} wanted={numberIn(form.values.walletChangeDelayHours, HOURS)} />
          {pending !== null && (
            <Alert color="orange" title="A shorter delay was requested">
              {pending.hours} hours, starting <Time value={pending.from} />. If no one on your team requested this, save{" "}
              {hours} again and end any sessions you do not recognise.
            </Alert>
          )}
        </>
      )}
    </SettingsForm>
  );
}

function DelayText({ now, wanted }: { readonly now: number; readonly wanted: number | undefined }) {
  const { count } = useFormats();
  if (wanted === undefined) return null;
  const spanOf = (hours: number) => (hours === 1 ? "1 hour" : `${count(hours)} hours`);
  const text = wanted === 0 ? "A new wallet is used right away." : `A new wallet is used after ${spanOf(wanted)}.`;
  return (
    <Text size="sm" c="dimmed">
      {text}
      {wanted < now && ` A shorter delay takes effect only after the current one: in ${spanOf(now)}.`}
    </Text>
  );
}
