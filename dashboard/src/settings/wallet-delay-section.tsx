import { Alert, Text } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { fieldText, numberError, numberIn, wireNumber } from "../shell/amounts.ts";
import { NumberField } from "../shell/number-field.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import { SettingsForm } from "./settings-form.tsx";

const HOURS = { digits: 0, most: 168n } as const;

interface Values {
  /** As typed. */
  readonly walletChangeDelayHours: string;
}

export function WalletDelaySection({ settings }: { readonly settings: Settings }) {
  const { walletChangeDelayHours: hours, pendingWalletChangeDelay: pending } = settings;
  return (
    <SettingsForm<Values>
      title="Delay of wallet changes"
      about="A wallet that was added or enabled is used by invoices only after this time. It gives your team time to notice a thief, who would add a wallet of their own."
      initial={{ walletChangeDelayHours: fieldText(pending?.hours ?? hours) }}
      validate={{ walletChangeDelayHours: (text) => numberError(text, HOURS) }}
      bodyOf={(values) => ({ walletChangeDelayHours: wireNumber(values.walletChangeDelayHours, HOURS) })}
    >
      {(form) => (
        <>
          <NumberField
            label="Delay"
            hint="0 to 168 hours. A change needs a fresh proof that it is you, and every owner and admin is mailed."
            unit="hours"
            rule={HOURS}
            maw={420}
            {...form.getInputProps("walletChangeDelayHours")}
          />
          <DelayText now={hours} wanted={numberIn(form.values.walletChangeDelayHours, HOURS)} />
          {pending !== null && (
            <Alert color="orange" title="A shorter delay was asked for">
              {pending.hours} hours, from <Time value={pending.from} /> on. If nobody of your team did that, save{" "}
              {hours} again and end the sessions that you do not know.
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
  const text = wanted === 0 ? "A new wallet is used at once." : `A new wallet is used after ${spanOf(wanted)}.`;
  return (
    <Text size="sm" c="dimmed">
      {text}
      {wanted < now && ` A shorter delay takes effect only once the present one has passed: in ${spanOf(now)}.`}
    </Text>
  );
}
