// A manual decision about an invoice (decisions 4, `resolve`): which decisions an invoice accepts, and what is stored.

import { isoTime } from "../../lib/time.ts";
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
  /** When money was last sent back, if another decision followed. */
  readonly returnedAt?: string;
  /** Late money that came until then, and counted when money was sent back, goes on counting: it was received. */
  readonly lateCountsUntilMs?: number;
}

/** MARK says that the merchant considers it settled; it has no money, so the status stays. */
const MARKABLE: readonly InvoiceStatus[] = ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "EXPIRED", "UNDERPAID"];

const ACCEPTABLE: readonly InvoiceStatus[] = ["AWAITING_PAYMENT", "EXPIRED", "UNDERPAID", "CANCELLED"];

/** Their money is settled, and it is too little or too much. */
export const RETURNABLE: readonly InvoiceStatus[] = ["UNDERPAID", "OVERPAID"];
const ASKABLE: readonly InvoiceStatus[] = ["EXPIRED", "UNDERPAID"];

/** Columns of an invoice. */
interface ResolvableInvoice {
  readonly status: InvoiceStatus;
  readonly needsReview: boolean;
  readonly isLate: boolean;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  readonly monitorUntilMs: number;
  readonly resolution: JsonOf<StoredResolution> | null;
}

/**
 * ACCEPT is for an invoice that is not paid in full, or under review because its money has no price, MARK for one that is neither paid nor
 * cancelled, ASK_FOR_REST for one whose time is over, that got some money and keeps it, and whose payments are still watched for. DISMISS clears `needsReview`,
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
  { status, isLate, latePaymentPolicy, monitorUntilMs, resolution }: ResolvableInvoice,
  nowMs: number,
): boolean {
  const hasMoney = status === "UNDERPAID" || isLate;
  const isKept = hasMoney && returnedAtMs(resolution) === undefined;
  return ASKABLE.includes(status) && isKept && latePaymentPolicy === "REVIEW" && nowMs <= monitorUntilMs;
}

/**
 * The columns that a decision other than MARK sets. With ASK_FOR_REST late money counts to the end of the monitoring, as where the merchant accepts it,
 * so that what came late counts now and the page can ask for the rest. With RETURNED late money waits for a decision again: what was sent back must
 * not be added to what comes later.
 */
export function resolvedColumns(action: ResolutionAction, resolution: JsonOf<StoredResolution>) {
  const columns = { resolution, needsReview: false };
  if (action === "RETURNED") return { ...columns, latePaymentPolicy: "REVIEW" as const };
  return action === "ASK_FOR_REST" ? { ...columns, latePaymentPolicy: "ACCEPT" as const } : columns;
}

/** The column's content after a decision. `lateCountedUntilMs`: when the newest late payment that counts came. */
export function withResolution(
  before: JsonOf<StoredResolution> | null,
  resolution: Resolution,
  lateCountedUntilMs?: number,
): JsonOf<StoredResolution> {
  const isReturn = resolution.action === "RETURNED";
  const returnedMs = isReturn ? undefined : returnedAtMs(before);
  const lateCountsUntilMs = (isReturn ? lateCountedUntilMs : undefined) ?? lateCountsUntil(before);
  return printJson({
    ...resolution,
    ...(isAccepted(before) ? { wasAccepted: true as const } : {}),
    ...(returnedMs === undefined ? {} : { returnedAt: isoTime(returnedMs) }),
    ...(lateCountsUntilMs === undefined ? {} : { lateCountsUntilMs }),
  });
}

/** When money was last sent back, whatever was decided since; undefined if none was. */
export function returnedAtMs(column: JsonOf<StoredResolution> | null): number | undefined {
  if (column === null) return undefined;
  const { action, at, returnedAt } = parseJson(column);
  const time = action === "RETURNED" ? at : returnedAt;
  return time === undefined ? undefined : Date.parse(time);
}

export function lateCountsUntil(column: JsonOf<StoredResolution> | null): number | undefined {
  return column === null ? undefined : parseJson(column).lateCountsUntilMs;
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
