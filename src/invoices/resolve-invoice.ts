import { changedFacts } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { isoTime } from "../lib/time.ts";
import { type Change, type ChangeEffects, changeInvoice } from "./change-invoice.ts";
import type { InvoiceFile } from "./invoice.ts";
import { stateFacts } from "./invoice-facts.ts";
import { resolutionRefusal, withResolution } from "./resolution.ts";
import { settlementChange } from "./settle-invoice.ts";
import type { ResolutionAction } from "./status.ts";

export interface ResolveRequest {
  readonly action: ResolutionAction;
  readonly reason: string;
  readonly txHash?: string | undefined;
}

/**
 * A person's decision about an invoice (decisions 4): ACCEPT makes it PAID; each takes `needsReview` off, which only money that comes later
 * puts on again. The reason is kept with the invoice and not in the audit log, which forgets nothing.
 */
export async function resolveInvoice(
  fx: ChangeEffects,
  file: InvoiceFile,
  request: ResolveRequest,
): Promise<Result<InvoiceFile, Failure>> {
  const { merchantId, id } = file.invoice;
  const { action, reason, txHash = null } = request;
  return changeInvoice(fx, { merchantId, id, read: file }, async (read) => {
    const { invoice } = read;
    const hasUnpriced = read.payments.some(({ weighedBy }) => weighedBy === "NO_RATE");
    const refusal = resolutionRefusal(invoice, action, hasUnpriced);
    if (refusal !== undefined) return err(refusal);
    const made = { action, reason, actor: fx.trail.actor.id ?? "", at: isoTime(fx.nowMs), txHash };
    const columns = { resolution: withResolution(invoice.resolution, made), needsReview: false };
    const change = settlementChange(read, fx.nowMs, { columns }) ?? unsettled(columns);
    const { before, after } = changedFacts(stateFacts(invoice), stateFacts({ ...invoice, ...change.columns }));
    return ok({ ...change, audit: { action: "invoice.resolved", before, after: { ...after, resolution: action } } });
  });
}

/** Where nothing follows from it. */
function unsettled(columns: Change["columns"]): Omit<Change, "audit"> {
  return { columns, events: [{ type: "invoice.updated" }] };
}
