// A manual decision about an invoice (decisions 4, `resolve`): which decisions an invoice accepts, and what is stored.

import { type JsonOf, parseJson, printJson } from "../../lib/typed-json.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { Failure } from "../../platform/failures.ts";

export type ResolutionAction = "ACCEPT" | "DISMISS" | "RETURNED";

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

const ACCEPTABLE: readonly InvoiceStatus[] = ["AWAITING_PAYMENT", "EXPIRED", "UNDERPAID", "CANCELLED"];

/**
 * ACCEPT is for an invoice that is not paid in full, or under review because its money has no price. The other two clear `needsReview`, which
 * must be set.
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

/** The latest decision, as shown. */
export function resolutionOf(column: JsonOf<StoredResolution>): Resolution {
  const { action, reason, actor, at, txHash } = parseJson(column);
  return { action, reason, actor, at, txHash };
}
