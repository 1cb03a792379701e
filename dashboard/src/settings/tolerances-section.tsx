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
      title="When an invoice is paid"
      about="Wallets and exchanges take fees and round. How much too little, or too much, is still what you asked for?"
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
            label="Money that comes after an invoice has expired"
            {...form.getInputProps("latePaymentPolicy")}
          >
            <Stack gap="xs" mt={6}>
              <Radio value="REVIEW" label="Waits for your decision" />
              <Radio value="ACCEPT" label="Counts, as if it had come in time" />
            </Stack>
          </Radio.Group>
          <NumberField
            label="Two sources must agree from this amount on"
            hint="A payment of a large invoice is believed once two providers of chain data have seen it. Empty: never."
            rule={RULES.quorumAboveAmount}
            {...form.getInputProps("quorumAboveAmount")}
          />
          {settings.warnings.includes("QUORUM_IGNORED") && (
            <Alert color="orange">
              On networks for which this deployment has only one source, that one is believed whatever the amount.
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
        label="So much too little is still paid"
        unit="%"
        rule={RULES.underpaidTolerancePercent}
        {...form.getInputProps("underpaidTolerancePercent")}
      />
      <NumberField
        label="But never more than"
        hint="In the invoice's currency."
        rule={RULES.underpaidToleranceMax}
        {...form.getInputProps("underpaidToleranceMax")}
      />
      <NumberField
        label="So much too much is not yet overpaid"
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
            {money(`${units}.00`, "USD")} is paid by anything from {money(from, "USD")} to {money(to, "USD")}.
          </Text>
        );
      })}
    </Alert>
  );
}
