// A user's decision about an invoice: accept what was received, dismiss it, or note that it was returned.
import { Alert, Button, Group, Modal, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { type ReactNode, useState } from "react";
import type { Invoice, ResolveInvoiceBody } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { AdviceAlert, decisionOf } from "../payments/advice.tsx";
import { Form, refusedIn } from "../shell/form.tsx";
import { useMay } from "../shell/merchants.ts";

type Action = ResolveInvoiceBody["action"];

const ACTIONS: Readonly<Record<Action, { readonly name: string; readonly consequence: string }>> = {
  ACCEPT: {
    name: "Accept",
    consequence: "The invoice counts as paid with what has come, and your server is notified.",
  },
  DISMISS: { name: "Dismiss", consequence: "The invoice stays as it is, and no longer needs a decision." },
  MARK: {
    name: "Mark as settled",
    consequence:
      "Shops that speak the API of BTCPay Server take it for settled. Here it stays unpaid until money comes.",
  },
  ASK_FOR_REST: {
    name: "Ask for the rest",
    consequence:
      "Money that comes late counts from now on, and the page asks the customer for what is missing, with its own amount.",
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
/** States whose money can go back without a review. */
const RETURNABLE: readonly Invoice["status"][] = ["UNDERPAID", "OVERPAID"];
/** And those in which it is part of a review. */
const ACCEPTABLE_IN_REVIEW: readonly Invoice["status"][] = [...ACCEPTABLE, "AWAITING_PAYMENT", "PENDING_CONFIRMATION"];

export function ResolveInvoice({ invoice }: { readonly invoice: Invoice }) {
  const mayResolve = useMay("payment:resolve");
  const [chosen, choose] = useState<Action>();
  const { needsReview, status, recommendation } = invoice;
  const advised = decisionOf(invoice);
  const isShown = needsReview || recommendation !== undefined || (mayResolve && ACCEPTABLE.includes(status));
  if (!isShown) return null;
  const [first = "DISMISS"] = actionsFor(invoice);
  const others = actionsFor(invoice).filter((action) => action !== advised);
  const buttons = mayResolve && (
    <Group gap="xs">
      {advised !== undefined && (
        <Button size="xs" onClick={() => choose(advised)}>
          {ACTIONS[advised].name}
        </Button>
      )}
      {others.length > 0 && (
        <Button
          size="xs"
          variant={needsReview && advised === undefined ? "filled" : "default"}
          onClick={() => choose(first)}
        >
          Decide
        </Button>
      )}
    </Group>
  );
  return (
    <>
      {needsReview && (
        <Text size="sm" fw={600}>
          This invoice needs your decision
        </Text>
      )}
      {recommendation === undefined ? (
        <Undecided invoice={invoice}>{buttons}</Undecided>
      ) : (
        <AdviceAlert advice={recommendation} currency={invoice.currency} needsDecision={needsReview}>
          {buttons}
        </AdviceAlert>
      )}
      <Modal opened={chosen !== undefined} onClose={() => choose(undefined)} title="Decide about the invoice" size="lg">
        {chosen !== undefined && <ResolveForm invoice={invoice} first={chosen} onDone={() => choose(undefined)} />}
      </Modal>
    </>
  );
}

/** Where nothing is advised. */
function Undecided({ invoice, children }: { readonly invoice: Invoice; readonly children: ReactNode }) {
  const { needsReview } = invoice;
  return (
    <Alert color={needsReview ? "orange" : "gray"} title={needsReview ? "Compare the payments" : "The invoice is over"}>
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ flex: "1 1 16rem" }}>
          {needsReview
            ? "Money came late, or cannot be judged by the rules alone. Compare the payments below."
            : "If you were paid in another way, or what came is enough for you, accept it."}
        </Text>
        {children}
      </Group>
    </Alert>
  );
}

/** What the API accepts of this invoice, the advised one first. */
function actionsFor(invoice: Invoice): readonly Action[] {
  const { needsReview, status } = invoice;
  const advised = decisionOf(invoice);
  const accepting: readonly Action[] = (needsReview ? ACCEPTABLE_IN_REVIEW : ACCEPTABLE).includes(status)
    ? ["ACCEPT"]
    : [];
  const closing: readonly Action[] = needsReview ? ["DISMISS", "RETURNED"] : [];
  const returning: readonly Action[] = !needsReview && RETURNABLE.includes(status) ? ["RETURNED"] : [];
  const all = [...accepting, ...closing, ...returning];
  return advised === undefined ? all : [advised, ...all.filter((action) => action !== advised)];
}

function ResolveForm(of: { readonly invoice: Invoice; readonly first: Action; readonly onDone: () => void }) {
  const { invoice, onDone } = of;
  const actions = actionsFor(invoice);
  const form = useForm<{ readonly action: Action; readonly reason: string; readonly txHash: string }>({
    initialValues: { action: of.first, reason: "", txHash: "" },
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
