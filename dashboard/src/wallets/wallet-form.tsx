// Registers a wallet. Pasted text is recognised at once, but only the service decides whether it is accepted.
import { Alert, Button, Select, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { fieldErrors } from "../api/errors.ts";
import type { RegisteredWallet } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { type NumberRule, numberError, numberIn } from "../shell/amounts.ts";
import { Form, LongText, refusedIn } from "../shell/form.tsx";
import { NumberField } from "../shell/number-field.tsx";
import { AddressTable } from "./address-table.tsx";
import { type Pair, pairsFor } from "./pairs.ts";
import { type Recognised, recognise, recognisedText } from "./recognise.ts";
import type { Verdict } from "./verdict.ts";

/** The same limits as in the API. */
export const CONFIRMATIONS: NumberRule = { digits: 0, least: 1n, most: 1_000n };

interface Props {
  readonly merchantId: string;
  /** The button that closes the form without adding a wallet. */
  readonly leave: { readonly name: string; readonly onLeave: () => void };
  readonly onRegistered: (wallet: RegisteredWallet) => void;
}

interface Values {
  readonly text: string;
  readonly pair: string;
  /** "" means the recommended number. */
  readonly confirmations: string;
}

export function WalletForm({ merchantId, leave, onRegistered }: Props) {
  const form = useForm<Values>({
    initialValues: { text: "", pair: "", confirmations: "" },
    validate: { confirmations: (text) => numberError(text, CONFIRMATIONS, null) },
  });
  const recognised = recognise(form.values.text);
  const pairs = pairsFor(recognised);
  const pair = pairs.find(({ label }) => label === form.values.pair) ?? pairs[0];
  const isSecret = recognised.kind === "SECRET";
  const { verdict, isChecking } = useVerdict({ text: form.values.text, pair, recognised });
  const register = useChange("registerWallet", { isShownInPlace: true, onSuccess: onRegistered });
  const send = form.onSubmit(({ confirmations }) => {
    if (pair === undefined || !verdict?.isUsable) {
      form.setFieldError(
        "text",
        isSecret ? "Never paste a secret: use an address or a public key" : "Paste an address or a public key",
      );
      return;
    }
    const { cryptocurrency, network, recommendedConfirmations } = pair;
    const requiredConfirmations = numberIn(confirmations, CONFIRMATIONS) ?? recommendedConfirmations;
    register.mutate(
      { merchantId, body: { ...verdict.registration, cryptocurrency, network, requiredConfirmations } },
      refusedIn(form, formErrors),
    );
  });
  return (
    <Form
      onSubmit={send}
      action="Add wallet"
      isBusy={register.isPending || isChecking}
      leave={
        <Button variant="subtle" onClick={leave.onLeave}>
          {leave.name}
        </Button>
      }
    >
      <LongText
        label="Address or extended public key"
        description="From your own wallet software. Payments go straight there; Edgetill never holds them."
        spellCheck={false}
        {...form.getInputProps("text")}
      />
      {recognised.kind !== "UNKNOWN" && (
        <Alert color={isSecret ? "red" : "indigo"} role="status">
          {recognisedText(recognised)}
        </Alert>
      )}
      {pair !== undefined && <Choices pairs={pairs} pair={pair} form={form} />}
      {verdict !== undefined && <TheVerdict verdict={verdict} />}
    </Form>
  );
}

/** Whether the service will accept the pasted text, and as what. */
function useVerdict({ text, pair, recognised }: { text: string; pair: Pair | undefined; recognised: Recognised }) {
  const { data, isLoading } = useQuery({
    queryKey: ["walletVerdict", text, pair?.label],
    queryFn: async () => {
      const { verdictOf } = await import("./verdict.ts");
      return pair === undefined ? null : verdictOf({ text, pair, recognised });
    },
    enabled: pair !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { verdict: data ?? undefined, isChecking: isLoading };
}

/** Shows a key's first addresses. Only the user can check that the key is right: the wallet software must show the same addresses. */
function TheVerdict({ verdict }: { readonly verdict: Verdict }) {
  if (!verdict.isUsable) {
    return (
      <Alert color="red" role="status" title="This cannot be used">
        {verdict.reason.replace(/^./, (first) => first.toUpperCase())}.
      </Alert>
    );
  }
  if (verdict.addresses.length === 0) return null;
  return (
    <Stack gap="xs">
      <Text size="sm">
        These are its first addresses. Compare them with your wallet software. If they differ, this is a different key,
        and the money would not appear in your wallet.
      </Text>
      <AddressTable addresses={verdict.addresses} />
    </Stack>
  );
}

interface ChoicesProps {
  readonly pairs: readonly Pair[];
  readonly pair: Pair;
  readonly form: Pick<ReturnType<typeof useForm<Values>>, "values" | "setFieldValue" | "getInputProps">;
}

function Choices({ pairs, pair, form }: ChoicesProps) {
  const recommended = pair.recommendedConfirmations;
  const isFew = (numberIn(form.values.confirmations, CONFIRMATIONS) ?? recommended) < recommended;
  return (
    <>
      <Select
        label="Coin and network"
        data={pairs.map(({ label }) => label)}
        value={pair.label}
        onChange={(label) => form.setFieldValue("pair", label ?? "")}
        allowDeselect={false}
        searchable
      />
      <NumberField
        label="Confirmations"
        hint={`A payment counts after this many blocks. Recommended here: ${recommended}.`}
        placeholder={String(recommended)}
        rule={CONFIRMATIONS}
        {...form.getInputProps("confirmations")}
      />
      {isFew && (
        <Alert color="orange" role="status">
          With fewer than {recommended} confirmations, a payment may count and then disappear from the chain. Use this
          for small amounts only.
        </Alert>
      )}
    </>
  );
}

/** Maps errors to the form's fields: one field stands for the API's `address` and `xpub`. */
function formErrors(error: Error): Readonly<Record<string, string>> {
  const { address, xpub, requiredConfirmations, ...others } = fieldErrors(error);
  const text = address ?? xpub;
  return {
    ...others,
    ...(text === undefined ? {} : { text }),
    ...(requiredConfirmations === undefined ? {} : { confirmations: requiredConfirmations }),
  };
}
