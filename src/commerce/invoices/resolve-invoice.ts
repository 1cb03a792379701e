import { err, ok, type Result } from "../../lib/result.ts";
import { isoTime } from "../../lib/time.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { InvoiceFile } from "../invoice-records/invoice.ts";
import type { ResolutionAction } from "../invoice-records/resolution.ts";
import { isMarked, resolutionRefusal, resolvedColumns, withResolution } from "../invoice-records/resolution.ts";
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
 * A manual decision about an invoice (decisions 4). ACCEPT makes it PAID. MARK leaves its status, which is what has been received, and every OWNER and
 * ADMIN is emailed; a second one changes nothing. ASK_FOR_REST has late money count, and the page ask for the rest; RETURNED ends that. All but MARK clear `needsReview`, which only later money sets again. The reason is stored with the
 * invoice and not in the audit log, which is append-only.
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
    const resolution = withResolution(invoice.resolution, made, lateCountedUntilMs(invoice, read.payments));
    if (action === "MARK") return ok(markOf(deps, { ...read, invoice: { ...invoice, resolution } }));
    const columns = resolvedColumns(action, resolution);
    const change = settlementChange(read, deps.nowMs, { columns }) ?? unsettled(columns);
    const { before, after } = changedFacts(stateFacts(invoice), stateFacts({ ...invoice, ...change.columns }));
    return ok({ ...change, audit: { action: "invoice.resolved", before, after: { ...after, resolution: action } } });
  });
}

/** Only the mark and its event; a read settles whatever else is due. */
function markOf(deps: ChangeDependencies & MarkDependencies, { invoice }: InvoiceFile): Change {
  return {
    columns: { resolution: invoice.resolution },
    events: [{ type: "invoice.marked" }],
    audit: { action: "invoice.resolved", after: { status: invoice.status, resolution: "MARK" } },
    afterwards: () => mailMark(deps, invoice),
  };
}

/** The change if the decision alters nothing else. */
function unsettled(columns: Change["columns"]): Omit<Change, "audit"> {
  return { columns, events: [{ type: "invoice.updated" }] };
}
