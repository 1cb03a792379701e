// What a person decided about an invoice (decisions 4, `resolve`): which decisions an invoice takes, and what of them lasts.
import type { Failure } from "../failures.ts";
import type { Invoice } from "./invoice.ts";
import type { InvoiceStatus, ResolutionAction } from "./status.ts";

export interface Resolution {
  readonly action: ResolutionAction;
  readonly reason: string;
  /** Id of the key or person. */
  readonly actor: string;
  readonly at: string;
  /** RETURNED: the transaction that sent the money back, where it is told. */
  readonly txHash: string | null;
}

/** The column. An invoice that was accepted stays PAID whatever is decided later about money that came after. */
interface StoredResolution extends Resolution {
  readonly wasAccepted?: true;
}

const ACCEPTABLE: readonly InvoiceStatus[] = ["AWAITING_PAYMENT", "EXPIRED", "UNDERPAID", "CANCELLED"];

/**
 * ACCEPT ends what was not paid in full, or waits for a person because nothing could price its money; the other two take a mark off that must
 * be there.
 */
export function resolutionRefusal(
  { status, needsReview }: Pick<Invoice, "status" | "needsReview">,
  action: ResolutionAction,
  hasUnpriced: boolean,
): Failure | undefined {
  if (action === "ACCEPT") {
    const isAcceptable = ACCEPTABLE.includes(status) || (status === "PENDING_CONFIRMATION" && hasUnpriced);
    return isAcceptable ? undefined : { code: "INVOICE_NOT_RESOLVABLE", status };
  }
  return needsReview ? undefined : { code: "NOTHING_TO_REVIEW" };
}

/** The column after a decision. */
export function withResolution(before: string | null, resolution: Resolution): string {
  const stored: StoredResolution = isAccepted(before) ? { ...resolution, wasAccepted: true } : resolution;
  return JSON.stringify(stored);
}

/** Whether the invoice counts as paid because somebody said so. */
export function isAccepted(column: string | null): boolean {
  if (column === null) return false;
  const { action, wasAccepted }: StoredResolution = JSON.parse(column);
  return action === "ACCEPT" || wasAccepted === true;
}

/** The latest decision, as it is shown. */
export function resolutionOf(column: string): Resolution {
  const { action, reason, actor, at, txHash }: StoredResolution = JSON.parse(column);
  return { action, reason, actor, at, txHash };
}
