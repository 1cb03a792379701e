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

/** The content of the column `resolution`. An accepted invoice stays PAID, whatever is later decided about further payments. */
export interface StoredResolution extends Resolution {
  readonly wasAccepted?: true;
  /** When money was last sent back, if another decision followed. */
  readonly returnedAt?: string;
  /** Late money received up to this time continues to count, because it counted when money was first sent back. */
  readonly lateCountsUntilMs?: number;
}

/** MARK means that the merchant considers the invoice settled; it adds no money, so the status stays. */
const MARKABLE: readonly InvoiceStatus[] = ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "EXPIRED", "UNDERPAID"];

const ACCEPTABLE: readonly InvoiceStatus[] = ["AWAITING_PAYMENT", "EXPIRED", "UNDERPAID", "CANCELLED"];

/** Statuses of an invoice that ended with too little or too much money. */
export const RETURNABLE: readonly InvoiceStatus[] = ["UNDERPAID", "OVERPAID"];
const ASKABLE: readonly InvoiceStatus[] = ["EXPIRED", "UNDERPAID"];

/** The columns of an invoice that decide which decisions it accepts. */
interface ResolvableInvoice {
  readonly status: InvoiceStatus;
  readonly needsReview: boolean;
  readonly isLate: boolean;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  readonly monitorUntilMs: number;
  readonly resolution: JsonOf<StoredResolution> | null;
}

/**
 * ACCEPT requires an invoice that is not paid in full, or whose money has no price. MARK requires one that is neither paid nor cancelled.
 * ASK_FOR_REST requires one that ended with only part of the money, which was not sent back, whose payments are still watched, and whose late
 * payments do not count yet. DISMISS requires `needsReview`, and clears it. RETURNED clears it too, but is also allowed without it if too little or
 * too much money was received.
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
 * The columns that a decision other than MARK sets. After ASK_FOR_REST late money counts until the end of the monitoring, as if the merchant's policy
 * accepted it, so that the page can ask for the rest. After RETURNED late money needs a decision again, because money that was sent back must not be
 * added to later payments.
 */
export function resolvedColumns(action: ResolutionAction, resolution: JsonOf<StoredResolution>) {
  const columns = { resolution, needsReview: false };
  if (action === "RETURNED") return { ...columns, latePaymentPolicy: "REVIEW" as const };
  return action === "ASK_FOR_REST" ? { ...columns, latePaymentPolicy: "ACCEPT" as const } : columns;
}

/** The content of the column `resolution` after a decision. `lateCountedUntilMs`: when the newest late payment that counts arrived. */
export function withResolution(
  before: JsonOf<StoredResolution> | null,
  resolution: Resolution,
  lateCountedUntilMs?: number,
): JsonOf<StoredResolution> {
  const isReturn = resolution.action === "RETURNED";
  const returnedMs = isReturn ? undefined : returnedAtMs(before);
  // The value from the first return is kept: late money that arrived after it does not count.
  const lateCountsUntilMs = lateCountsUntil(before) ?? (isReturn ? lateCountedUntilMs : undefined);
  return printJson({
    ...resolution,
    ...(isAccepted(before) ? { wasAccepted: true as const } : {}),
    ...(returnedMs === undefined ? {} : { returnedAt: isoTime(returnedMs) }),
    ...(lateCountsUntilMs === undefined ? {} : { lateCountsUntilMs }),
  });
}

/** When money was last sent back, regardless of later decisions; undefined if none was sent back. */
export function returnedAtMs(column: JsonOf<StoredResolution> | null): number | undefined {
  if (column === null) return undefined;
  const { action, at, returnedAt } = parseJson(column);
  const time = action === "RETURNED" ? at : returnedAt;
  return time === undefined ? undefined : Date.parse(time);
}

function lateCountsUntil(column: JsonOf<StoredResolution> | null): number | undefined {
  return column === null ? undefined : parseJson(column).lateCountsUntilMs;
}

/**
 * Which late money counts, whatever the late payment policy is. The grace period ends once the invoice is cancelled or money was sent back: earlier
 * money still counts, but later money must not be added to money that was returned.
 */
export function lateTerms({
  cancelledAtMs,
  lateGraceUntilMs,
  resolution,
}: {
  readonly cancelledAtMs: number | null;
  readonly lateGraceUntilMs: number | null;
  readonly resolution: JsonOf<StoredResolution> | null;
}) {
  const isOver = cancelledAtMs !== null || returnedAtMs(resolution) !== undefined;
  return { lateGraceUntilMs: isOver ? null : lateGraceUntilMs, lateCountsUntilMs: lateCountsUntil(resolution) };
}

/** Whether the invoice is paid because it was accepted. */
export function isAccepted(column: JsonOf<StoredResolution> | null): boolean {
  if (column === null) return false;
  const { action, wasAccepted } = parseJson(column);
  return action === "ACCEPT" || wasAccepted === true;
}

/** Whether there is nothing left to mark: the invoice is paid, or its latest decision was a MARK. */
export function isMarked({
  status,
  resolution,
}: {
  readonly status: InvoiceStatus;
  readonly resolution: JsonOf<StoredResolution> | null;
}): boolean {
  return status === "PAID" || status === "OVERPAID" || (resolution !== null && parseJson(resolution).action === "MARK");
}

/** The latest decision, as responses show it. */
export function resolutionOf(column: JsonOf<StoredResolution>): Resolution {
  const { action, reason, actor, at, txHash } = parseJson(column);
  return { action, reason, actor, at, txHash };
}
