// The decision about an invoice by hand: accept what came, dismiss it, or note that the money was sent back.
import { Alert, Button, Group, Modal, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { fieldErrors } from "../api/errors.ts";
import type { Invoice, ResolveInvoiceBody } from "../api/operations.ts";
import { showDone, showError, useChange } from "../api/queries.ts";
import { useMay } from "../shell/merchants.ts";

type Action = ResolveInvoiceBody["action"];

const ACTIONS: Readonly<Record<Action, { readonly name: string; readonly consequence: string }>> = {
  ACCEPT: { name: "Accept", consequence: "The invoice counts as paid with what has come, and your server is told." },
  DISMISS: { name: "Dismiss", consequence: "The invoice stays as it is, and needs no decision any more." },
  RETURNED: {
    name: "Money returned",
    consequence: "A note that you sent the money back with your wallet software. Edgetill cannot send any.",
  },
};

const LONGEST_REASON = 500;
const LONGEST_HASH = 100;
/** States in which the API takes ACCEPT without a review. */
const ACCEPTABLE: readonly Invoice["status"][] = ["UNDERPAID", "EXPIRED", "CANCELLED"];

export function ResolveInvoice({ invoice }: { readonly invoice: Invoice }) {
  const mayResolve = useMay("payment:resolve");
  const [isOpen, { open, close }] = useDisclosure();
  const { needsReview, status } = invoice;
  if (!needsReview && !ACCEPTABLE.includes(status)) return null;
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

function ResolveForm({ invoice, onDone }: { readonly invoice: Invoice; readonly onDone: () => void }) {
  const form = useForm<{ readonly action: Action; readonly reason: string; readonly txHash: string }>({
    initialValues: { action: "ACCEPT", reason: "", txHash: "" },
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
  const actions: readonly Action[] = invoice.needsReview ? ["ACCEPT", "DISMISS", "RETURNED"] : ["ACCEPT"];
  const send = form.onSubmit(({ reason, txHash }) =>
    resolve.mutate(
      {
        merchantId: invoice.merchantId,
        params: { invoiceId: invoice.id },
        body: { action, reason: reason.trim(), ...(action === "RETURNED" && txHash !== "" ? { txHash } : {}) },
      },
      {
        onError: (error) => {
          form.setErrors(fieldErrors(error));
          showError(error);
        },
      },
    ),
  );
  return (
    <form onSubmit={send}>
      <Stack>
        {actions.length > 1 && (
          <SegmentedControl
            aria-label="Decision"
            data={actions.map((value) => ({ value, label: ACTIONS[value].name }))}
            {...form.getInputProps("action")}
          />
        )}
        <Text size="sm">{ACTIONS[action].consequence}</Text>
        <TextInput
          label="Reason"
          required
          maxLength={LONGEST_REASON}
          data-autofocus
          {...form.getInputProps("reason")}
        />
        {action === "RETURNED" && (
          <TextInput
            label="Hash of the transaction that sent it back"
            maxLength={LONGEST_HASH}
            {...form.getInputProps("txHash")}
          />
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={resolve.isPending}>
            {ACTIONS[action].name}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
