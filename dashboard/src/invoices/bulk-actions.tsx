// Actions for several invoices in the list at once.
import { Button, Card, CopyButton, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/call.ts";
import { StepUpCancelled } from "../api/errors.ts";
import type { Invoice } from "../api/operations.ts";
import { showDone, showError } from "../api/queries.ts";
import { save } from "../reports/download.ts";
import { ConfirmDialog } from "../shell/confirm.tsx";
import { csvOfRows } from "../shell/list-export.ts";
import { useMay } from "../shell/merchants.ts";
import { INVOICE_LINE } from "./invoice-line.ts";
import { type Refusal, refusalsText } from "./refusals-text.ts";
import { isCancellable } from "./states.ts";

interface Props {
  /** The chosen invoices, in their current state. */
  readonly invoices: readonly Invoice[];
  readonly onClear: () => void;
}

export function BulkActions({ invoices, onClear }: Props) {
  const { button, dialog } = useCancelling(invoices, onClear);
  if (invoices.length === 0) return dialog;
  const links = invoices.map(({ checkoutUrl }) => checkoutUrl).join("\n");
  return (
    <>
      <Card padding="sm" component="section" aria-label="Selected invoices">
        <Group gap="sm">
          <Text size="sm" fw={600} role="status">
            {countOf(invoices.length)} selected
          </Text>
          <CopyButton value={links} timeout={2_000}>
            {({ copied, copy }) => (
              <Button size="xs" variant="default" onClick={copy}>
                {copied ? "Copied" : "Copy links"}
              </Button>
            )}
          </CopyButton>
          <Button size="xs" variant="default" onClick={() => save(csvOfRows(invoices, INVOICE_LINE), "invoices.csv")}>
            Export selected
          </Button>
          {button}
          <Button size="xs" variant="subtle" onClick={onClear}>
            Clear selection
          </Button>
        </Group>
      </Card>
      {dialog}
    </>
  );
}

/** The confirmation is about the invoices that were chosen when it was opened. The list may change meanwhile, but no other invoice is cancelled. */
function useCancelling(invoices: readonly Invoice[], onDone: () => void) {
  const mayCancel = useMay("invoice:cancel");
  const { isRunning, cancelAll } = useCancelAll(onDone);
  const [asked, ask] = useState<readonly Invoice[]>([]);
  const [isAsking, { open, close }] = useDisclosure();
  const now = openOf(invoices);
  const button = mayCancel && now.length > 0 && (
    <Button
      size="xs"
      variant="default"
      loading={isRunning}
      onClick={() => {
        ask(invoices);
        open();
      }}
    >
      {cancelText(now)}
    </Button>
  );
  const dialog = (
    <ConfirmDialog
      isOpen={isAsking}
      onClose={close}
      action={cancelText(openOf(asked))}
      consequence={`${consequenceOf(openOf(asked).length, asked.length)} Payments already on their way are still detected, and will need your decision.`}
      onConfirmed={() => void cancelAll(openOf(asked))}
    />
  );
  return { button, dialog };
}

function openOf(invoices: readonly Invoice[]): readonly Invoice[] {
  return invoices.filter(isCancellable);
}

function cancelText(open: readonly Invoice[]): string {
  return `Cancel ${countOf(open.length)}`;
}

function countOf(number: number): string {
  return number === 1 ? "1 invoice" : `${number} invoices`;
}

function consequenceOf(open: number, all: number): string {
  const pages = open === 1 ? "The payment page stops" : "Their payment pages stop";
  const others = all - open;
  if (others === 0) return `${pages} asking for payment.`;
  if (others === 1)
    return `${pages} asking for payment. The other selected invoice can no longer be cancelled and stays as it is.`;
  return `${pages} asking for payment. The other ${others} selected can no longer be cancelled and stay as they are.`;
}

/**
 * Cancels one invoice after the other. If some cancellations are refused, the other invoices are still cancelled, and the refused ones are named at
 * the end.
 */
function useCancelAll(onDone: () => void) {
  const client = useQueryClient();
  const [isRunning, setRunning] = useState(false);
  const cancelAll = async (invoices: readonly Invoice[]) => {
    setRunning(true);
    let cancelled = 0;
    const refusals: Refusal[] = [];
    for (const { merchantId, id: invoiceId, name } of invoices) {
      try {
        const input = { merchantId, params: { invoiceId } };
        await call("cancelInvoice", input, { idempotencyKey: crypto.randomUUID() });
        cancelled += 1;
      } catch (error) {
        if (error instanceof Error && !(error instanceof StepUpCancelled)) refusals.push({ name, error });
      }
    }
    setRunning(false);
    await client.invalidateQueries();
    if (cancelled > 0) showDone(`${countOf(cancelled)} cancelled.`);
    const refused = refusalsText(refusals);
    if (refused !== undefined) showError(new Error(refused));
    onDone();
  };
  return { isRunning, cancelAll };
}
