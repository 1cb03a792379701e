// The second step of a decision: its consequences, and its reason.
import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Invoice, PaymentDetails } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { Form, refusedIn } from "../shell/form.tsx";
import { useFormats } from "../shell/reader.tsx";

export type Decision =
  | { readonly action: "ASSIGN"; readonly invoice: Invoice }
  | { readonly action: "IGNORE" /** The money was sent back. */; readonly isReturned?: true };

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
  if (decision.action === "ASSIGN") return "Assign the payment";
  return decision.isReturned === true ? "The payment was sent back" : "Ignore the payment";
}

function DecisionForm({ payment, decision, onClose }: Props & { readonly decision: Decision }) {
  const form = useForm({
    initialValues: { reason: "", txHash: "" },
    validate: { reason: (reason) => (reason.trim() === "" ? "Say why: it is kept with the payment" : null) },
  });
  const resolve = useChange("resolvePayment", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone(decision.action === "ASSIGN" ? "The payment was assigned." : <Ignored payment={payment} />);
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
      action={decision.action === "ASSIGN" ? "Assign it" : "Ignore it"}
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
        description="Kept with the payment, with who decided."
        required
        maxLength={LONGEST_REASON}
        data-autofocus
        {...form.getInputProps("reason")}
      />
      {decision.action === "IGNORE" && (
        <TextInput
          label="Hash of the transaction that sent it back"
          description="If you sent it back."
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
        {amount} will belong to no invoice. You can put the payment back, or assign it later. Nothing is sent back by
        itself: send it with your wallet software first, if you do.
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
        , which asks for {money(rawAmount, currency)} and has received {money(amountReceived, currency)}.
      </Text>
      <Text size="sm">Your server is notified at once, as for any other payment. This cannot be taken back.</Text>
    </Stack>
  );
}

/** The notice after a payment was ignored: while it is shown, a mistake is undone with one press. */
function Ignored({ payment }: { readonly payment: PaymentDetails }) {
  const putBack = usePutBack(payment);
  return (
    <Group justify="space-between" gap="xs">
      The payment was ignored.
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
      Put it back
    </Button>
  );
}

function usePutBack({ merchantId, id: paymentId }: PaymentDetails) {
  const { isPending, mutate } = useChange("resolvePayment", {
    onSuccess: () => showDone("The payment waits for a decision again."),
  });
  const body = { action: "REOPEN", reason: "Ignoring it was taken back" } as const;
  return { isPending, start: () => mutate({ merchantId, params: { paymentId }, body }) };
}
