// A user's decision about an invoice: accept the amount received, request the rest, dismiss the review, or record that the money was returned.
import { Alert, Button, Group, Modal, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { type ReactNode, useState } from "react";
import type { Invoice, ResolveInvoiceBody } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { AdviceAlert, decisionOf } from "../payments/advice.tsx";
import { Form, refusedIn } from "../shell/form.tsx";
import { useMay } from "../shell/merchants.ts";
import { Time } from "../shell/time.tsx";

type Action = ResolveInvoiceBody["action"];

const ACTIONS: Readonly<Record<Action, { readonly name: string; readonly consequence: string }>> = {
  ACCEPT: {
    name: "Accept",
    consequence: "Marks the invoice as paid with the amount received, and notifies your server.",
  },
  DISMISS: { name: "Dismiss", consequence: "Leaves the invoice as it is and closes the review." },
  MARK: {
    name: "Mark as settled",
    consequence:
      "Shops connected through the BTCPay Server API treat the invoice as settled. In Edgetill it stays unpaid until money arrives.",
  },
  ASK_FOR_REST: {
    name: "Request remaining amount",
    consequence:
      "Late payments count from now on, and the payment page asks for the remaining amount. The customer is not emailed: send them the link.",
  },
  RETURNED: {
    name: "Mark as returned",
    consequence: "Records that you sent the money back with your wallet software. Edgetill cannot send money.",
  },
};

const LONGEST_REASON = 500;
const LONGEST_HASH = 100;
/** States in which ACCEPT is offered even without a review. An invoice that was paid in full has nothing to accept. */
const ACCEPTABLE: readonly Invoice["status"][] = ["UNDERPAID", "EXPIRED", "CANCELLED"];
/** States in which money can be returned without a review. */
const RETURNABLE: readonly Invoice["status"][] = ["UNDERPAID", "OVERPAID"];
/** States in which ACCEPT is offered during a review. */
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
          Resolve
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
      <Modal opened={chosen !== undefined} onClose={() => choose(undefined)} title="Resolve invoice" size="lg">
        {chosen !== undefined && <ResolveForm invoice={invoice} first={chosen} onDone={() => choose(undefined)} />}
      </Modal>
    </>
  );
}

/** Shown if nothing is recommended. */
function Undecided({ invoice, children }: { readonly invoice: Invoice; readonly children: ReactNode }) {
  const { needsReview } = invoice;
  return (
    <Alert
      color={needsReview ? "orange" : "gray"}
      title={needsReview ? "Compare the payments" : "This invoice is closed"}
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ flex: "1 1 16rem" }}>
          {needsReview
            ? "Money arrived late, or could not be handled automatically. Compare the payments below."
            : "Accept it if you were paid another way or the amount received is enough."}
        </Text>
        {children}
      </Group>
    </Alert>
  );
}

/** The actions offered for this invoice, the recommended one first. */
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
    validate: { reason: (reason) => (reason.trim() === "" ? "Enter a reason; it is saved with the invoice" : null) },
  });
  const resolve = useChange("resolveInvoice", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone("Decision recorded.");
      onDone();
    },
  });
  const { action } = form.values;
  const until = invoice.recommendation?.until ?? null;
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
      <Text size="sm" component="div">
        {ACTIONS[action].consequence}
        {action === "ASK_FOR_REST" && until !== null && (
          <>
            {" "}
            The page asks until <Time value={until} />.
          </>
        )}
      </Text>
      <TextInput label="Reason" required maxLength={LONGEST_REASON} data-autofocus {...form.getInputProps("reason")} />
      {action === "RETURNED" && (
        <TextInput label="Return transaction hash" maxLength={LONGEST_HASH} {...form.getInputProps("txHash")} />
      )}
    </Form>
  );
}
