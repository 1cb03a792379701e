import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import { moveReservations } from "../reservations/store.ts";
import { type ChangeEffects, changeInvoice } from "./change-invoice.ts";
import type { InvoiceFile } from "./invoice.ts";
import { settlementChange } from "./settle-invoice.ts";

/** Cancels an invoice that awaits payment and has seen no money (decisions 4); it is watched for `monitorSeconds` more. */
export async function cancelInvoice(fx: ChangeEffects, file: InvoiceFile): Promise<Result<InvoiceFile, Failure>> {
  const { merchantId, id } = file.invoice;
  return changeInvoice(fx, { merchantId, id, read: file }, async (read) => {
    // What the clock has ended cannot be cancelled any more, whether or not somebody has looked since.
    const due = settlementChange(read, fx.nowMs);
    const status = due?.moves?.at(-1) ?? read.invoice.status;
    if (read.invoice.receivedMicros > 0n || read.payments.length > 0) return err({ code: "INVOICE_HAS_PAYMENTS" });
    if (status !== "AWAITING_PAYMENT") return err({ code: "INVOICE_NOT_CANCELLABLE", status });
    const monitorUntilMs = Math.min(read.invoice.expiresAtMs, fx.nowMs) + read.invoice.monitorSeconds * SECOND_MS;
    const change = settlementChange(read, fx.nowMs, { columns: { cancelledAtMs: fx.nowMs, monitorUntilMs } });
    if (change === undefined) throw new Error(`cancelling changes nothing of ${id}`);
    const audit = { ...change.audit, action: "invoice.cancelled" } as const;
    return ok({ ...change, audit, statements: [moveReservations(fx.db, read.invoice.id, monitorUntilMs)] });
  });
}
