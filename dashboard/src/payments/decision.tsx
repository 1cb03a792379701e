// The second step of a decision: shows its consequences and asks for a reason.
import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Invoice, PaymentDetails } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { Form, refusedIn } from "../shell/form.tsx";
import { useFormats } from "../shell/reader.tsx";

export type Decision =
  | { readonly action: "ASSIGN"; readonly invoice: Invoice }
  | { readonly action: "IGNORE" /** Whether the money was sent back. */; readonly isReturned?: true };

const LONGEST_REASON = 500;
const LONGEST_HASH = 100;

interface Props {
  readonly payment: PaymentDetails;
  readonly decision: Decision | undefined;
  readonly onClose: () => void;
}

export function DecisionDialog({ payment, decision, onClose }: Props) {
  const title = decision === undefined ? "" : titleOf(decision);
  return (
    <Modal opened={decision !== undefined} onClose={onClose} title={title} size="lg">
      {decision !== undefined && <DecisionForm payment={payment} decision={decision} onClose={onClose} />}
    </Modal>
  );
}

function titleOf(decision: Decision): string {
  if (decision.action === "ASSIGN") return "Assign payment";
  return decision.isReturned === true ? "Mark as returned" : "Ignore payment";
}

function DecisionForm({ payment, decision, onClose }: Props & { readonly decision: Decision }) {
  const form = useForm({
    initialValues: { reason: "", txHash: "" },
    validate: { reason: (reason) => (reason.trim() === "" ? "Enter a reason; it is saved with the payment" : null) },
  });
  const resolve = useChange("resolvePayment", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone(decision.action === "ASSIGN" ? "Payment assigned." : <Ignored payment={payment} decision={decision} />);
      onClose();
    },
  });
  const send = form.onSubmit(({ reason, txHash }) => {
    const sentBack = txHash.trim() === "" ? {} : { txHash: txHash.trim() };
    const target = decision.action === "ASSIGN" ? { invoiceId: decision.invoice.id } : sentBack;
    const body = { action: decision.action, reason: reason.trim(), ...target };
    resolve.mutate({ merchantId: payment.merchantId, params: { paymentId: payment.id }, body }, refusedIn(form));
  });
  return (
    <Form
      onSubmit={send}
      action={titleOf(decision)}
      isBusy={resolve.isPending}
      leave={
        <Button variant="default" onClick={onClose}>
          Back
        </Button>
      }
    >
      <Consequence payment={payment} decision={decision} />
      <TextInput
        label="Reason"
        description="Saved with the payment, along with who decided."
        required
        maxLength={LONGEST_REASON}
        data-autofocus
        {...form.getInputProps("reason")}
      />
      {decision.action === "IGNORE" && (
        <TextInput
          label="Return transaction hash"
          description="Optional. Enter it if you sent the money back."
          maxLength={LONGEST_HASH}
          {...form.getInputProps("txHash")}
        />
      )}
    </Form>
  );
}

function Consequence({ payment, decision }: { readonly payment: PaymentDetails; readonly decision: Decision }) {
  const { coins, money } = useFormats();
  const amount = `${coins(payment.amount)} ${payment.currency}`;
  if (decision.action === "IGNORE") {
    return (
      <Text size="sm">
        {amount} will not be credited to any invoice. You can reopen or assign the payment later. Edgetill does not
        return money: to return it, use your wallet software.
      </Text>
    );
  }
  const { name, rawAmount, currency, amountReceived } = decision.invoice;
  return (
    <Stack gap="xs">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {amount} will be credited to{" "}
        <Text span fw={650} inherit>
          {name}
        </Text>
        . The invoice is for {money(rawAmount, currency)} and has received {money(amountReceived, currency)} so far.
      </Text>
      <Text size="sm">Your server is notified immediately, as for any other payment. This cannot be undone.</Text>
    </Stack>
  );
}

/** The notice after a payment was ignored. While it is shown, one click undoes a mistake. */
function Ignored({ payment, decision }: { readonly payment: PaymentDetails; readonly decision: Decision }) {
  const putBack = usePutBack(payment);
  return (
    <Group justify="space-between" gap="xs">
      {decision.action === "IGNORE" && decision.isReturned === true
        ? "Payment marked as returned."
        : "Payment ignored."}
      <Button size="compact-sm" variant="default" loading={putBack.isPending} onClick={putBack.start}>
        Undo
      </Button>
    </Group>
  );
}

export function PutBackButton({ payment }: { readonly payment: PaymentDetails }) {
  const putBack = usePutBack(payment);
  return (
    <Button variant="default" loading={putBack.isPending} onClick={putBack.start}>
      Reopen payment
    </Button>
  );
}

function usePutBack({ merchantId, id: paymentId }: PaymentDetails) {
  const { isPending, mutate } = useChange("resolvePayment", {
    onSuccess: () => showDone("Payment reopened."),
  });
  const body = { action: "REOPEN", reason: "Payment reopened" } as const;
  return { isPending, start: () => mutate({ merchantId, params: { paymentId }, body }) };
}
