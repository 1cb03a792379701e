import { Alert, Group, Radio, Stack, Text } from "@mantine/core";
import type { Settings, UpdateSettingsBody } from "../api/operations.ts";
import { ANY_CURRENCY, fieldText, type NumberRule, numberError, numberIn, wireNumber } from "../shell/amounts.ts";
import type { Inputs } from "../shell/form.tsx";
import { NumberField } from "../shell/number-field.tsx";
import { useFormats } from "../shell/reader.tsx";
import { paidBounds } from "./examples.ts";
import { SettingsForm } from "./settings-form.tsx";

/** Numbers as typed. */
interface Values {
  readonly underpaidTolerancePercent: string;
  readonly underpaidToleranceMax: string;
  readonly overpaidTolerancePercent: string;
  readonly latePaymentPolicy: Settings["latePaymentPolicy"];
  readonly quorumAboveAmount: string;
}

const EXAMPLES = [20, 100, 2_000];
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
        quorumAboveAmount: (text) => numberError(text, RULES.quorumAboveAmount, null),
      }}
      bodyOf={bodyOf}
    >
      {(form) => (
        <>
          <ToleranceFields form={form} />
          <PaidExamples values={form.values} />
          <Radio.Group
            label="Money that arrives after an invoice has expired"
            {...form.getInputProps("latePaymentPolicy")}
          >
            <Stack gap="xs" mt={6}>
              <Radio value="REVIEW" label="Ask me to decide" />
              <Radio value="ACCEPT" label="Accept it as if it had arrived in time" />
            </Stack>
          </Radio.Group>
          <NumberField
            label="Require two data sources from this amount"
            hint="A payment to a large invoice counts once two chain data providers have seen it. Leave empty to never require it."
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
    quorumAboveAmount: fieldText(settings.quorumAboveAmount),
  };
}

function bodyOf({ latePaymentPolicy, quorumAboveAmount, ...tolerances }: Values): UpdateSettingsBody {
  const { underpaidTolerancePercent, underpaidToleranceMax, overpaidTolerancePercent } = tolerances;
  return {
    underpaidTolerancePercent: wireNumber(underpaidTolerancePercent, RULES.underpaidTolerancePercent),
    underpaidToleranceMax: wireNumber(underpaidToleranceMax, RULES.underpaidToleranceMax),
    overpaidTolerancePercent: wireNumber(overpaidTolerancePercent, RULES.overpaidTolerancePercent),
    latePaymentPolicy,
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
        label="Accept at most"
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
            {money(`${units}.00`, "USD")} counts as paid with anything from {money(from, "USD")} to {money(to, "USD")}.
          </Text>
        );
      })}
    </Alert>
  );
}
