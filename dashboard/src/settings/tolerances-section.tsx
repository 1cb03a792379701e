import { Alert, Group, NumberInput, Radio, Stack, Text } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { paidBounds } from "./examples.ts";
import { SettingsForm } from "./settings-form.tsx";

/** What a number field holds while it is being typed. */
type Typed = number | string;

interface Values {
  readonly underpaidTolerancePercent: Typed;
  readonly underpaidToleranceMax: Typed;
  readonly overpaidTolerancePercent: Typed;
  readonly latePaymentPolicy: Settings["latePaymentPolicy"];
  readonly quorumAboveAmount: Typed;
}

const EXAMPLES = [20, 100, 2_000];
const MOST_AMOUNT = 1_000_000;

export function TolerancesSection({ settings }: { readonly settings: Settings }) {
  return (
    <SettingsForm<Values>
      title="When an invoice is paid"
      about="Wallets and exchanges take fees and round. How much too little, or too much, is still what you asked for?"
      initial={{
        underpaidTolerancePercent: settings.underpaidTolerancePercent,
        underpaidToleranceMax: Number(settings.underpaidToleranceMax),
        overpaidTolerancePercent: settings.overpaidTolerancePercent,
        latePaymentPolicy: settings.latePaymentPolicy,
        quorumAboveAmount: settings.quorumAboveAmount === null ? "" : Number(settings.quorumAboveAmount),
      }}
      bodyOf={(values) => ({
        underpaidTolerancePercent: Number(values.underpaidTolerancePercent),
        underpaidToleranceMax: Number(values.underpaidToleranceMax),
        overpaidTolerancePercent: Number(values.overpaidTolerancePercent),
        latePaymentPolicy: values.latePaymentPolicy,
        quorumAboveAmount: values.quorumAboveAmount === "" ? null : Number(values.quorumAboveAmount),
      })}
    >
      {(form) => (
        <>
          <Group grow align="flex-start" preventGrowOverflow={false}>
            <NumberInput
              label="So much too little is still paid"
              suffix=" %"
              min={0}
              max={10}
              decimalScale={2}
              hideControls
              {...form.getInputProps("underpaidTolerancePercent")}
            />
            <NumberInput
              label="But never more than"
              description="In the invoice's currency."
              inputWrapperOrder={["label", "input", "description", "error"]}
              min={0}
              max={MOST_AMOUNT}
              decimalScale={6}
              hideControls
              {...form.getInputProps("underpaidToleranceMax")}
            />
            <NumberInput
              label="So much too much is not yet overpaid"
              suffix=" %"
              min={0}
              max={100}
              decimalScale={2}
              hideControls
              {...form.getInputProps("overpaidTolerancePercent")}
            />
          </Group>
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
          <NumberInput
            label="Two sources must agree from this amount on"
            description="A payment of a large invoice is believed once two providers of chain data have seen it. Empty: never."
            min={0}
            max={MOST_AMOUNT}
            decimalScale={6}
            thousandSeparator=" "
            hideControls
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

function PaidExamples({ values }: { readonly values: Values }) {
  const { money } = useFormats();
  const tolerances = {
    underpaidPercent: Number(values.underpaidTolerancePercent),
    underpaidMax: Number(values.underpaidToleranceMax),
    overpaidPercent: Number(values.overpaidTolerancePercent),
  };
  return (
    <Alert color="indigo" title="For example">
      {EXAMPLES.map((units) => {
        const { from, to } = paidBounds(units, tolerances);
        return (
          <Text key={units} size="sm">
            {money(`${units}.00`, "USD")} is paid by anything from {money(from, "USD")} to {money(to, "USD")}.
          </Text>
        );
      })}
    </Alert>
  );
}
