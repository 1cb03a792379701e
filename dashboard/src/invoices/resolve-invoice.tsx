// A user's decision about an invoice: accept what was received, dismiss it, or note that it was returned.
import { Alert, Button, Group, Modal, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import type { Invoice, ResolveInvoiceBody } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { Form, refusedIn } from "../shell/form.tsx";
import { useMay } from "../shell/merchants.ts";

type Action = ResolveInvoiceBody["action"];

const ACTIONS: Readonly<Record<Action, { readonly name: string; readonly consequence: string }>> = {
  ACCEPT: { name: "Accept", consequence: "The invoice counts as paid with what has come, and your server is told." },
  DISMISS: { name: "Dismiss", consequence: "The invoice stays as it is, and needs no decision any more." },
  MARK: {
    name: "Mark as settled",
    consequence:
      "Shops that speak the API of BTCPay Server take it for settled. Here it stays unpaid until money comes.",
  },
  RETURNED: {
    name: "Money returned",
    consequence: "A note that you sent the money back with your wallet software. Edgetill cannot send any.",
  },
};

const LONGEST_REASON = 500;
const LONGEST_HASH = 100;
/** States in which ACCEPT is offered, with or without a review: an invoice that was paid in full has nothing to accept. */
const ACCEPTABLE: readonly Invoice["status"][] = ["UNDERPAID", "EXPIRED", "CANCELLED"];
/** And those in which it is part of a review. */
const ACCEPTABLE_IN_REVIEW: readonly Invoice["status"][] = [...ACCEPTABLE, "AWAITING_PAYMENT", "PENDING_CONFIRMATION"];

export function ResolveInvoice({ invoice }: { readonly invoice: Invoice }) {
  const mayResolve = useMay("payment:resolve");
  const [isOpen, { open, close }] = useDisclosure();
  const { needsReview, status } = invoice;
  if (!needsReview && (!mayResolve || !ACCEPTABLE.includes(status))) return null;
  return (
    <>
      <Alert
        color={needsReview ? "orange" : "gray"}
        title={needsReview ? "This invoice needs your decision" : "The invoice is over"}
      >
        <Group justify="space-between" gap="sm">
          <Text size="sm" style={{ flex: "1 1 16rem" }}>
            {needsReview
              ? "Money came late, or cannot be judged by the rules alone. Compare the payments below."
              : "If you were paid in another way, or what came is enough for you, accept it."}
          </Text>
          {mayResolve && (
            <Button size="xs" variant={needsReview ? "filled" : "default"} onClick={open}>
              Decide
            </Button>
          )}
        </Group>
      </Alert>
      <Modal opened={isOpen} onClose={close} title="Decide about the invoice" size="lg">
        <ResolveForm invoice={invoice} onDone={close} />
      </Modal>
    </>
  );
}

function actionsFor({ needsReview, status }: Invoice): readonly Action[] {
  if (!needsReview) return ["ACCEPT"];
  return ACCEPTABLE_IN_REVIEW.includes(status) ? ["ACCEPT", "DISMISS", "RETURNED"] : ["DISMISS", "RETURNED"];
}

function ResolveForm({ invoice, onDone }: { readonly invoice: Invoice; readonly onDone: () => void }) {
  const actions = actionsFor(invoice);
  const form = useForm<{ readonly action: Action; readonly reason: string; readonly txHash: string }>({
    initialValues: { action: actions[0] ?? "DISMISS", reason: "", txHash: "" },
    validate: { reason: (reason) => (reason.trim() === "" ? "Say why: it is kept with the invoice" : null) },
  });
  const resolve = useChange("resolveInvoice", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone("The decision was recorded.");
      onDone();
    },
  });
  const { action } = form.values;
  const send = form.onSubmit(({ reason, txHash }) =>
    resolve.mutate(
      {
        merchantId: invoice.merchantId,
        params: { invoiceId: invoice.id },
        body: { action, reason: reason.trim(), ...(action === "RETURNED" && txHash !== "" ? { txHash } : {}) },
      },
      refusedIn(form),
    ),
  );
  return (
    <Form onSubmit={send} action={ACTIONS[action].name} isBusy={resolve.isPending}>
      {actions.length > 1 && (
        <SegmentedControl
          aria-label="Decision"
          data={actions.map((value) => ({ value, label: ACTIONS[value].name }))}
          {...form.getInputProps("action")}
        />
      )}
      <Text size="sm">{ACTIONS[action].consequence}</Text>
      <TextInput label="Reason" required maxLength={LONGEST_REASON} data-autofocus {...form.getInputProps("reason")} />
      {action === "RETURNED" && (
        <TextInput
          label="Hash of the transaction that sent it back"
          maxLength={LONGEST_HASH}
          {...form.getInputProps("txHash")}
        />
      )}
    </Form>
  );
}
