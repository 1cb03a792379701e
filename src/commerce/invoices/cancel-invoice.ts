import { err, ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Failure } from "../../platform/failures.ts";
import { shortenAmounts } from "../amounts/store.ts";
import type { InvoiceFile } from "../invoice-records/invoice.ts";
import { type ChangeDependencies, changeInvoice } from "./change-invoice.ts";
import { settlementChange } from "./settle-invoice.ts";

/** Cancels an invoice that awaits payment and has received no money (decisions 4); it is watched for another `monitorSeconds`. */
export async function cancelInvoice(
  deps: ChangeDependencies,
  file: InvoiceFile,
): Promise<Result<InvoiceFile, Failure>> {
  const { merchantId, id } = file.invoice;
  return changeInvoice(deps, { merchantId, id, read: file }, async (read) => {
    // An invoice that is due to expire can no longer be cancelled, even if no read or sweep has settled it yet.
    const due = settlementChange(read, deps.nowMs);
    const status = due?.moves?.at(-1) ?? read.invoice.status;
    if (read.invoice.receivedMicros > 0n || read.payments.length > 0) return err({ code: "INVOICE_HAS_PAYMENTS" });
    if (status !== "AWAITING_PAYMENT") return err({ code: "INVOICE_NOT_CANCELLABLE", status });
    const monitorUntilMs = Math.min(read.invoice.expiresAtMs, deps.nowMs) + read.invoice.monitorSeconds * SECOND_MS;
    const change = settlementChange(read, deps.nowMs, { columns: { cancelledAtMs: deps.nowMs, monitorUntilMs } });
    if (change === undefined) throw new Error(`cancelling changes nothing of ${id}`);
    const audit = { ...change.audit, action: "invoice.cancelled" } as const;
    return ok({ ...change, audit, statements: [shortenAmounts(deps.db, read.invoice.id, monitorUntilMs)] });
  });
}
