// A payment as a line of an export.

import { pairOf } from "../../chains/registry/pair.ts";
import { floorDiv, formatFixed, formatMicros, formatUnits } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import type { Payment } from "../payments/payment.ts";
import { parseQuote } from "../quotes/quotes.ts";

/** A payment as read for exports, with the columns of its invoice that are shown. */
export interface ExportedPayment
  extends Pick<
    Payment,
    | "id"
    | "createdAtMs"
    | "receivedAtMs"
    | "confirmedAtMs"
    | "status"
    | "invoiceId"
    | "network"
    | "cryptocurrency"
    | "amountUnits"
    | "fiatMicros"
    | "weighedBy"
    | "weighedQuote"
    | "txHash"
    | "outputIndex"
    | "fromAddress"
    | "toAddress"
    | "isLate"
    | "matchedBy"
  > {
  readonly currency: string | null;
  readonly externalId: string | null;
  readonly customerId: string | null;
}

/** The columns, in order. New columns are added at the end. */
export const PAYMENT_COLUMNS = [
  "id",
  "receivedAt",
  "status",
  "invoiceId",
  "externalId",
  "customerId",
  "network",
  "cryptocurrency",
  "amount",
  "currency",
  "fiatAmount",
  "rate",
  "valuedBy",
  "txHash",
  "outputIndex",
  "fromAddress",
  "toAddress",
  "isLate",
  "matchedBy",
  "confirmedAt",
  "createdAt",
] as const;

/** The fields that every export of payments shows: what was paid, for which invoice and by which customer. */
export function paidOf(payment: ExportedPayment) {
  const { status, invoiceId, externalId, customerId, network, cryptocurrency, currency, fiatMicros } = payment;
  return {
    status,
    invoiceId,
    externalId,
    customerId,
    network,
    cryptocurrency,
    amount: amountOf(payment),
    currency,
    fiatAmount: fiatMicros === null ? null : formatMicros(fiatMicros),
    rate: rateOf(payment),
  };
}

export function paymentLineOf(payment: ExportedPayment) {
  const { id, weighedBy, txHash, outputIndex, fromAddress, toAddress, isLate, matchedBy } = payment;
  return {
    id,
    receivedAt: isoTime(payment.receivedAtMs),
    ...paidOf(payment),
    valuedBy: weighedBy,
    txHash,
    outputIndex,
    fromAddress,
    toAddress,
    isLate,
    matchedBy,
    confirmedAt: payment.confirmedAtMs === null ? null : isoTime(payment.confirmedAtMs),
    createdAt: isoTime(payment.createdAtMs),
  };
}

function amountOf(payment: Pick<ExportedPayment, "network" | "cryptocurrency" | "amountUnits">): string {
  return formatUnits(payment.amountUnits, decimalsOf(payment));
}

/** Fraction digits of a rate that is computed from a value. */
const RATE_DIGITS = 8;

/**
 * The price of one whole coin by which the payment was valued: its quote's price or, without a quote, its value divided by its amount, rounded down.
 * Null while it has no value.
 */
export function rateOf(payment: ExportedPayment): string | null {
  const { weighedQuote, fiatMicros, amountUnits } = payment;
  if (weighedQuote !== null) return parseQuote(weighedQuote).rate;
  if (fiatMicros === null || amountUnits === 0n) return null;
  // A micro-unit is 10^-6, so two more digits make 8.
  const scaled = fiatMicros * 10n ** BigInt(RATE_DIGITS - 6 + decimalsOf(payment));
  return formatFixed(floorDiv(scaled, amountUnits), RATE_DIGITS);
}

function decimalsOf(pair: Pick<ExportedPayment, "network" | "cryptocurrency">): number {
  return pairOf(pair).asset.decimals;
}
