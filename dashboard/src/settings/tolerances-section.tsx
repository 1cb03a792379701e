import { Alert, Group, Radio, Stack, Text } from "@mantine/core";
import type { Settings, UpdateSettingsBody } from "../api/operations.ts";
import { ANY_CURRENCY, fieldText, type NumberRule, numberError, numberIn, wireNumber } from "../shell/amounts.ts";
import type { Inputs } from "../shell/form.tsx";
import { NumberField } from "../shell/number-field.tsx";
import { useFormats } from "../shell/reader.tsx";
import { DurationField } from "./duration-field.tsx";
import { paidBounds } from "./examples.ts";
import { SettingsForm } from "./settings-form.tsx";

/** Numbers as the user typed them. */
interface Values {
  readonly underpaidTolerancePercent: string;
  readonly underpaidToleranceMax: string;
  readonly overpaidTolerancePercent: string;
  readonly latePaymentPolicy: Settings["latePaymentPolicy"];
  readonly lateGraceSeconds: number;
  readonly quorumAboveAmount: string;
}

const EXAMPLES = [20, 100, 2_000];
const MOST_GRACE_SECONDS = 86_400;
/** From the contract (merchants/contract.ts). */
const RULES = {
  underpaidTolerancePercent: { digits: 2, most: 10n },
  underpaidToleranceMax: ANY_CURRENCY,
  overpaidTolerancePercent: { digits: 2, most: 100n },
  quorumAboveAmount: ANY_CURRENCY,
} as const satisfies Partial<Record<keyof Values, NumberRule>>;

export function TolerancesSection({ settings }: { readonly settings: Settings }) {
  return (
    <SettingsForm<Values>
      part="paid"
      about="Wallets and exchanges deduct fees and round amounts. Choose how much difference you accept."
      initial={valuesOf(settings)}
      validate={{
        underpaidTolerancePercent: (text) => numberError(text, RULES.underpaidTolerancePercent),
        underpaidToleranceMax: (text) => numberError(text, RULES.underpaidToleranceMax),
        overpaidTolerancePercent: (text) => numberError(text, RULES.overpaidTolerancePercent),
        lateGraceSeconds: (seconds) =>
          seconds >= 0 && seconds <= MOST_GRACE_SECONDS ? null : "Enter 0 minutes to 1 day",
        quorumAboveAmount: (text) => numberError(text, RULES.quorumAboveAmount, null),
      }}
      bodyOf={bodyOf}
    >
      {(form) => (
        <>
          <ToleranceFields form={form} />
          <PaidExamples values={form.values} />
          <DurationField
            label="Grace period for late payments"
            description='Payments within this time after expiry count as on time, even if the exchange rate has changed. Cannot be longer than "Watch for late payments for". Enter 0 for no grace period.'
            value={form.values.lateGraceSeconds}
            error={form.errors.lateGraceSeconds}
            onChange={(seconds) => form.setFieldValue("lateGraceSeconds", seconds)}
          />
          <Radio.Group label="Payments after the grace period" {...form.getInputProps("latePaymentPolicy")}>
            <Stack gap="xs" mt={6}>
              <Radio value="REVIEW" label="Ask me to decide" />
              <Radio value="ACCEPT" label="Accept them automatically" />
            </Stack>
          </Radio.Group>
          <NumberField
            label="Require two data sources from this amount"
            hint="A payment to a large invoice counts once two data sources have seen it. Leave empty to never require it."
            rule={RULES.quorumAboveAmount}
            {...form.getInputProps("quorumAboveAmount")}
          />
          {settings.warnings.includes("QUORUM_IGNORED") && (
            <Alert color="orange">
              On networks where this deployment has only one data source, that source is trusted for any amount.
            </Alert>
          )}
        </>
      )}
    </SettingsForm>
  );
}

function valuesOf(settings: Settings): Values {
  return {
    underpaidTolerancePercent: fieldText(settings.underpaidTolerancePercent),
    underpaidToleranceMax: fieldText(settings.underpaidToleranceMax),
    overpaidTolerancePercent: fieldText(settings.overpaidTolerancePercent),
    latePaymentPolicy: settings.latePaymentPolicy,
    lateGraceSeconds: settings.lateGraceSeconds,
    quorumAboveAmount: fieldText(settings.quorumAboveAmount),
  };
}

function bodyOf({ latePaymentPolicy, lateGraceSeconds, quorumAboveAmount, ...tolerances }: Values): UpdateSettingsBody {
  const { underpaidTolerancePercent, underpaidToleranceMax, overpaidTolerancePercent } = tolerances;
  return {
    underpaidTolerancePercent: wireNumber(underpaidTolerancePercent, RULES.underpaidTolerancePercent),
    underpaidToleranceMax: wireNumber(underpaidToleranceMax, RULES.underpaidToleranceMax),
    overpaidTolerancePercent: wireNumber(overpaidTolerancePercent, RULES.overpaidTolerancePercent),
    latePaymentPolicy,
    lateGraceSeconds,
    quorumAboveAmount: quorumAboveAmount.trim() === "" ? null : wireNumber(quorumAboveAmount, RULES.quorumAboveAmount),
  };
}

function ToleranceFields({ form }: { readonly form: Inputs<keyof Values> }) {
  return (
    <Group grow align="flex-start" preventGrowOverflow={false}>
      <NumberField
        label="Accept underpayment up to"
        unit="%"
        rule={RULES.underpaidTolerancePercent}
        {...form.getInputProps("underpaidTolerancePercent")}
      />
      <NumberField
        label="Maximum underpayment"
        hint="In the invoice's currency."
        rule={RULES.underpaidToleranceMax}
        {...form.getInputProps("underpaidToleranceMax")}
      />
      <NumberField
        label="Accept overpayment up to"
        unit="%"
        rule={RULES.overpaidTolerancePercent}
        {...form.getInputProps("overpaidTolerancePercent")}
      />
    </Group>
  );
}

function PaidExamples({ values }: { readonly values: Values }) {
  const { money } = useFormats();
  const underpaidPercent = numberIn(values.underpaidTolerancePercent, RULES.underpaidTolerancePercent);
  const underpaidMax = numberIn(values.underpaidToleranceMax, RULES.underpaidToleranceMax);
  const overpaidPercent = numberIn(values.overpaidTolerancePercent, RULES.overpaidTolerancePercent);
  if (underpaidPercent === undefined || underpaidMax === undefined || overpaidPercent === undefined) return null;
  return (
    <Alert color="indigo" title="For example">
      {EXAMPLES.map((units) => {
        const { from, to } = paidBounds(units, { underpaidPercent, underpaidMax, overpaidPercent });
        return (
          <Text key={units} size="sm">
            An invoice for {money(`${units}.00`, "USD")} counts as paid with {money(from, "USD")} to {money(to, "USD")}.
          </Text>
        );
      })}
    </Alert>
  );
}
