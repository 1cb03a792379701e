// A manual decision about an invoice (decisions 4, `resolve`): which decisions an invoice accepts, and what is stored.

import { type JsonOf, parseJson, printJson } from "../../lib/typed-json.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { Failure } from "../../platform/failures.ts";

export const INVOICE_RESOLUTIONS = ["ACCEPT", "DISMISS", "RETURNED", "MARK", "ASK_FOR_REST"] as const;
export type ResolutionAction = (typeof INVOICE_RESOLUTIONS)[number];

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

/** Their money is settled, and it is too little or too much. */
const RETURNABLE: readonly InvoiceStatus[] = ["UNDERPAID", "OVERPAID"];
const ASKABLE: readonly InvoiceStatus[] = ["EXPIRED", "UNDERPAID"];

/** Columns of an invoice. */
interface ResolvableInvoice {
  readonly status: InvoiceStatus;
  readonly needsReview: boolean;
  readonly isLate: boolean;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  readonly monitorUntilMs: number;
}

/**
 * ACCEPT is for an invoice that is not paid in full, or under review because its money has no price, MARK for one that is neither paid nor
 * cancelled, ASK_FOR_REST for one whose time is over, that got some money, and whose payments are still watched for. DISMISS clears `needsReview`,
 * which must be set; so does RETURNED, for which too little or too much money is enough.
 */
export function resolutionRefusal(
  invoice: ResolvableInvoice,
  action: ResolutionAction,
  { hasUnpriced, nowMs }: { readonly hasUnpriced: boolean; readonly nowMs: number },
): Failure | undefined {
  const { status, needsReview } = invoice;
  const unresolvable = { code: "INVOICE_NOT_RESOLVABLE", status } as const;
  switch (action) {
    case "ACCEPT":
      return ACCEPTABLE.includes(status) || (status === "PENDING_CONFIRMATION" && hasUnpriced)
        ? undefined
        : unresolvable;
    case "MARK":
      return MARKABLE.includes(status) ? undefined : unresolvable;
    case "ASK_FOR_REST":
      return mayAskForRest(invoice, nowMs) ? undefined : unresolvable;
    case "DISMISS":
      return needsReview ? undefined : { code: "NOTHING_TO_REVIEW" };
    case "RETURNED":
      return needsReview || RETURNABLE.includes(status) ? undefined : { code: "NOTHING_TO_REVIEW" };
  }
}

function mayAskForRest(
  { status, isLate, latePaymentPolicy, monitorUntilMs }: ResolvableInvoice,
  nowMs: number,
): boolean {
  const hasMoney = status === "UNDERPAID" || isLate;
  return ASKABLE.includes(status) && hasMoney && latePaymentPolicy === "REVIEW" && nowMs <= monitorUntilMs;
}

/**
 * The columns that a decision other than MARK sets. With ASK_FOR_REST late money counts to the end of the monitoring, as where the merchant accepts it,
 * so that what came late counts now and the page can ask for the rest.
 */
export function resolvedColumns(action: ResolutionAction, resolution: JsonOf<StoredResolution>) {
  const columns = { resolution, needsReview: false };
  return action === "ASK_FOR_REST" ? { ...columns, latePaymentPolicy: "ACCEPT" as const } : columns;
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
