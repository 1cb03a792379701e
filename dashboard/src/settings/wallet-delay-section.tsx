import { Alert, NumberInput, Text } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import { SettingsForm } from "./settings-form.tsx";

const MOST_HOURS = 168;

interface Values {
  readonly walletChangeDelayHours: number | string;
}

export function WalletDelaySection({ settings }: { readonly settings: Settings }) {
  const { walletChangeDelayHours: hours, pendingWalletChangeDelay: pending } = settings;
  return (
    <SettingsForm<Values>
      title="Delay of wallet changes"
      about="A wallet that was added or enabled is used by invoices only after this time. It gives your team time to notice a thief, who would add a wallet of their own."
      initial={{ walletChangeDelayHours: pending?.hours ?? hours }}
      bodyOf={(values) => ({ walletChangeDelayHours: Number(values.walletChangeDelayHours) })}
    >
      {(form) => (
        <>
          <NumberInput
            label="Delay"
            description="0 to 168 hours. A change needs a fresh proof that it is you, and every owner and admin is mailed."
            suffix=" hours"
            min={0}
            max={MOST_HOURS}
            allowDecimal={false}
            hideControls
            maw={420}
            {...form.getInputProps("walletChangeDelayHours")}
          />
          <DelayText now={hours} wanted={Number(form.values.walletChangeDelayHours)} />
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

function DelayText({ now, wanted }: { readonly now: number; readonly wanted: number }) {
  const { count } = useFormats();
  const spanOf = (hours: number) => (hours === 1 ? "1 hour" : `${count(hours)} hours`);
  const text = wanted === 0 ? "A new wallet is used at once." : `A new wallet is used after ${spanOf(wanted)}.`;
  return (
    <Text size="sm" c="dimmed">
      {text}
      {wanted < now && ` A shorter delay takes effect only once the present one has passed: in ${spanOf(now)}.`}
    </Text>
  );
}
