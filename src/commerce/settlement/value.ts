// The value of payments in the invoice currency, in micro-units (decisions 4, "Value" and "As of the payment's time"). A quoted amount has exactly
// the value it was quoted for: units are compared with the amount of a quote, never converted by its rate.
import { ceilDiv, floorDiv, maxBig, minBig } from "../../lib/money.ts";
import { microsFor } from "../../rates/quote.ts";
import type { CreditedPayment } from "../payments/payment.ts";
import { type LateGrace, type Quote, quoteWithGrace, type WeighedByQuote } from "../quotes/quotes.ts";

/**
 * Sums are capped at the largest number that the tables store exactly: nine billion units of any currency, far above any invoice's amount and
 * tolerance.
 */
export const MAX_VALUE_MICROS = BigInt(Number.MAX_SAFE_INTEGER);

/** What determines the value of a method's payments. */
export interface PricedMethod {
  readonly network: string;
  readonly cryptocurrency: string;
  /** Decimals of the asset on this network. */
  readonly decimals: number;
  /** Oldest first; empty if the method never had a quote. */
  readonly quotes: readonly Quote[];
  /** `quoteSlackMs` of the network. */
  readonly slackMs: number;
  /** Absent if the invoice has no grace period. */
  readonly lateGrace?: LateGrace | undefined;
}

export interface TotalValue {
  readonly micros: bigint;
  /**
   * The most that rounding may have lost: one micro-unit for every quote with payments, except the first. A sum that is short by no more than this
   * counts as complete. This slack is never shown.
   */
  readonly slackMicros: bigint;
  /** Whether a payment has no value yet: no quote applies and no fresh rate was available. It counts as 0. */
  readonly hasUnweighed: boolean;
}

type ValuedPayment = Pick<
  CreditedPayment,
  "network" | "cryptocurrency" | "amountUnits" | "receivedAtMs" | "marketMicros"
>;

interface ValueFacts {
  readonly expectedMicros: bigint;
  readonly methods: readonly PricedMethod[];
  readonly payments: readonly ValuedPayment[];
}

/** The quote of one payment, and the value that it gives the payment alone. */
interface Weighing {
  /** Null if the market rate when first seen applies. */
  readonly by: WeighedByQuote | null;
  /** Null if the market rate applies but there was no fresh one. */
  readonly micros: bigint | null;
}

/** The quote and value of one payment. Several payments at one quote are added up before rounding (`totalValueOf`). */
export function weighingOf(
  payment: ValuedPayment,
  of: { readonly expectedMicros: bigint; readonly methods: readonly PricedMethod[] },
): Weighing {
  const method = of.methods.find((each) => isOfMethod(payment, each));
  const { amountUnits, receivedAtMs: atMs } = payment;
  const by = method === undefined ? undefined : quoteWithGrace({ amountUnits, atMs }, method);
  if (method === undefined || by === undefined) return { by: null, micros: payment.marketMicros };
  return { by, micros: minBig(valueByQuote(by.quote, amountUnits, method), MAX_VALUE_MICROS) };
}

/**
 * The total value of payments: of all counted ones, or of the confirmed ones among them. E is the invoice's amount.
 *
 * - By a quote: floor(forMicros x sum(units) / quote units) for each quote, added up.
 * - No quote applies, or the asset has no method (assigned by hand): the market value stored on the payment; 0 without one.
 * - E = 0 (any amount): the units are valued at the rate of their quote, with at least one micro-unit, because the first confirmed payment makes the
 *   invoice PAID however small it is.
 *
 * With n quotes, a sum that is at most n-1 short of E counts as E. Capped at `MAX_VALUE_MICROS`.
 */
export function totalValueOf({ expectedMicros, methods, payments }: ValueFacts): TotalValue {
  const least = expectedMicros === 0n ? 1n : 0n;
  const byQuote = new Map<Quote, { readonly method: PricedMethod; units: bigint }>();
  let marketMicros = 0n;
  let hasUnweighed = false;
  for (const payment of payments) {
    const { by, micros } = weighingOf(payment, { expectedMicros, methods });
    if (by === null) {
      if (micros === null) hasUnweighed = true;
      marketMicros += maxBig(micros ?? 0n, least);
      continue;
    }
    const method = methods.find((each) => isOfMethod(payment, each));
    if (method === undefined) throw new Error("a quote has no method");
    const sum = byQuote.get(by.quote);
    if (sum === undefined) byQuote.set(by.quote, { method, units: payment.amountUnits });
    else sum.units += payment.amountUnits;
  }
  const addends = [...byQuote].map(([quote, { method, units }]) => maxBig(valueByQuote(quote, units, method), least));
  const slackMicros = maxBig(BigInt(addends.length) - 1n, 0n);
  const sum = marketMicros + addends.reduce((total, addend) => total + addend, 0n);
  const isWhole = sum < expectedMicros && sum + slackMicros >= expectedMicros;
  return { micros: isWhole ? expectedMicros : minBig(sum, MAX_VALUE_MICROS), slackMicros, hasUnweighed };
}

function valueByQuote({ amountUnits, forMicros, rate }: Quote, units: bigint, { decimals }: PricedMethod): bigint {
  return amountUnits === null ? microsFor({ units, decimals, rate }) : floorDiv(forMicros * units, amountUnits);
}

/** Whether the value reaches `boundMicros`, allowing for what rounding may have lost. */
export function covers(value: TotalValue, boundMicros: bigint): boolean {
  return value.micros + value.slackMicros >= boundMicros;
}

/**
 * The amount still due, in base units at a method's quote: ceil(`amountUnits` x missing / `quoteForMicros`), at least 0. Null if no amount is asked
 * for, as on an any-amount invoice. `quoteForMicros`: the fiat value of `amountUnits`, that is, the invoice's amount or what was left of it when it
 * was quoted.
 */
export function amountDueUnits(facts: {
  readonly amountUnits: bigint | null;
  readonly quoteForMicros: bigint | null;
  readonly expectedMicros: bigint;
  readonly receivedMicros: bigint;
}): bigint | null {
  const { amountUnits, quoteForMicros, expectedMicros, receivedMicros } = facts;
  if (amountUnits === null || quoteForMicros === null) return null;
  const missingMicros = expectedMicros - receivedMicros;
  return missingMicros <= 0n ? 0n : ceilDiv(amountUnits * missingMicros, quoteForMicros);
}

/**
 * How far below the invoice's amount a sum may be and still count as paid: min(amount x percent, max), rounded down. Basis points are hundredths of a
 * percent. `askedPercent`, from the create request, can only lower the result.
 */
export function underpaidToleranceMicros(facts: {
  readonly expectedMicros: bigint;
  readonly basisPoints: number;
  readonly maxMicros: bigint;
  readonly askedPercent?: number | undefined;
}): bigint {
  const asked = Math.floor((facts.askedPercent ?? Number.POSITIVE_INFINITY) * 100);
  return minBig(percentage(facts.expectedMicros, Math.min(asked, facts.basisPoints)), facts.maxMicros);
}

/** How far above the invoice's amount a sum may be without counting as overpaid: amount x percent, rounded down. */
export function overpaidToleranceMicros(facts: {
  readonly expectedMicros: bigint;
  readonly basisPoints: number;
}): bigint {
  return percentage(facts.expectedMicros, facts.basisPoints);
}

function percentage(micros: bigint, basisPoints: number): bigint {
  return floorDiv(micros * BigInt(basisPoints), 10_000n);
}

function isOfMethod(payment: Pick<ValuedPayment, "network" | "cryptocurrency">, method: PricedMethod): boolean {
  return payment.network === method.network && payment.cryptocurrency === method.cryptocurrency;
}
