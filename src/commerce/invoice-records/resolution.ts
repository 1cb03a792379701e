// A manual decision about an invoice (decisions 4, `resolve`): which decisions an invoice accepts, and what is stored.

import { type JsonOf, parseJson, printJson } from "../../lib/typed-json.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { Failure } from "../../platform/failures.ts";

export type ResolutionAction = "ACCEPT" | "DISMISS" | "RETURNED" | "MARK";

interface Resolution {
  readonly action: ResolutionAction;
  readonly reason: string;
  /** Id of the API key or user. */
  readonly actor: string;
  readonly at: string;
  /** With RETURNED: the transaction that sent the money back, if given. */
  readonly txHash: string | null;
}

/** The column's content. An accepted invoice stays PAID, whatever is decided later about later payments. */
export interface StoredResolution extends Resolution {
  readonly wasAccepted?: true;
}

/** MARK says that the merchant considers it settled; it has no money, so the status stays. */
const MARKABLE: readonly InvoiceStatus[] = ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "EXPIRED", "UNDERPAID"];

const ACCEPTABLE: readonly InvoiceStatus[] = ["AWAITING_PAYMENT", "EXPIRED", "UNDERPAID", "CANCELLED"];

/**
 * ACCEPT is for an invoice that is not paid in full, or under review because its money has no price, MARK for one that is neither paid nor
 * cancelled. The other two clear `needsReview`, which must be set.
 */
export function resolutionRefusal(
  { status, needsReview }: { readonly status: InvoiceStatus; readonly needsReview: boolean },
  action: ResolutionAction,
  hasUnpriced: boolean,
): Failure | undefined {
  if (action === "ACCEPT") {
    const isAcceptable = ACCEPTABLE.includes(status) || (status === "PENDING_CONFIRMATION" && hasUnpriced);
    return isAcceptable ? undefined : { code: "INVOICE_NOT_RESOLVABLE", status };
  }
  if (action === "MARK") return MARKABLE.includes(status) ? undefined : { code: "INVOICE_NOT_RESOLVABLE", status };
  return needsReview ? undefined : { code: "NOTHING_TO_REVIEW" };
}

/** The column's content after a decision. */
export function withResolution(
  before: JsonOf<StoredResolution> | null,
  resolution: Resolution,
): JsonOf<StoredResolution> {
  return printJson(isAccepted(before) ? { ...resolution, wasAccepted: true } : resolution);
}

/** Whether the invoice is paid because it was accepted. */
export function isAccepted(column: JsonOf<StoredResolution> | null): boolean {
  if (column === null) return false;
  const { action, wasAccepted } = parseJson(column);
  return action === "ACCEPT" || wasAccepted === true;
}

/** Whether nothing is left to mark: it is paid, or its latest decision was this one. */
export function isMarked({
  status,
  resolution,
}: {
  readonly status: InvoiceStatus;
  readonly resolution: JsonOf<StoredResolution> | null;
}): boolean {
  return status === "PAID" || status === "OVERPAID" || (resolution !== null && parseJson(resolution).action === "MARK");
}

/** The latest decision, as shown. */
export function resolutionOf(column: JsonOf<StoredResolution>): Resolution {
  const { action, reason, actor, at, txHash } = parseJson(column);
  return { action, reason, actor, at, txHash };
}
