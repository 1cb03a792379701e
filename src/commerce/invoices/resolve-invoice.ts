import { err, ok, type Result } from "../../lib/result.ts";
import { isoTime } from "../../lib/time.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { InvoiceFile } from "../invoice-records/invoice.ts";
import type { ResolutionAction } from "../invoice-records/resolution.ts";
import {
  isMarked,
  lateTerms,
  resolutionRefusal,
  resolvedColumns,
  withResolution,
} from "../invoice-records/resolution.ts";
import { lateCountedUntilMs } from "../settlement/counting.ts";
import { type Change, type ChangeDependencies, changeInvoice } from "./change-invoice.ts";
import { stateFacts } from "./invoice-facts.ts";
import { type MarkDependencies, mailMark } from "./send-mark-mail.ts";
import { settlementChange } from "./settle-invoice.ts";

interface ResolveRequest {
  readonly action: ResolutionAction;
  readonly reason: string;
  readonly txHash?: string | undefined;
}

/**
 * A manual decision about an invoice (decisions 4). ACCEPT makes it PAID. MARK keeps its status, which reflects what was received, and every OWNER
 * and ADMIN is emailed; a second MARK changes nothing. After ASK_FOR_REST late money counts and the page asks for the rest; RETURNED ends that. Every
 * decision except MARK clears `needsReview`, which later money or an unread network can set again. The reason is stored with the invoice and not in
 * the audit log, which is append-only.
 */
export async function resolveInvoice(
  deps: ChangeDependencies & MarkDependencies,
  file: InvoiceFile,
  request: ResolveRequest,
): Promise<Result<InvoiceFile, Failure>> {
  const { merchantId, id } = file.invoice;
  const { action, reason, txHash = null } = request;
  return changeInvoice(deps, { merchantId, id, read: file }, async (read) => {
    const { invoice } = read;
    if (action === "MARK" && isMarked(invoice)) return ok(undefined);
    const hasUnpriced = read.payments.some(({ weighedBy }) => weighedBy === "NO_RATE");
    const refusal = resolutionRefusal(invoice, action, { hasUnpriced, nowMs: deps.nowMs });
    if (refusal !== undefined) return err(refusal);
    const made = { action, reason, actor: deps.trail.actor.id ?? "", at: isoTime(deps.nowMs), txHash };
    const countedUntilMs = lateCountedUntilMs({ ...invoice, ...lateTerms(invoice) }, read.payments);
    const resolution = withResolution(invoice.resolution, made, countedUntilMs);
    if (action === "MARK") return ok(markOf(deps, { ...read, invoice: { ...invoice, resolution } }));
    const columns = resolvedColumns(action, resolution);
    const change = settlementChange(read, deps.nowMs, { columns }) ?? unsettled(columns);
    const { before, after } = changedFacts(stateFacts(invoice), stateFacts({ ...invoice, ...change.columns }));
    return ok({ ...change, audit: { action: "invoice.resolved", before, after: { ...after, resolution: action } } });
  });
}

/** Writes only the mark and its event; anything else that is due is settled by a read. */
function markOf(deps: ChangeDependencies & MarkDependencies, { invoice }: InvoiceFile): Change {
  return {
    columns: { resolution: invoice.resolution },
    events: [{ type: "invoice.marked" }],
    audit: { action: "invoice.resolved", after: { status: invoice.status, resolution: "MARK" } },
    afterwards: () => mailMark(deps, invoice),
  };
}

/** The change for a decision that does not change the status or any sum. */
function unsettled(columns: Change["columns"]): Omit<Change, "audit"> {
  return { columns, events: [{ type: "invoice.updated" }] };
}
