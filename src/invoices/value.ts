// What payments are worth in the invoice currency, in micro-units (decisions 4, "Value"). What was asked is worth exactly what is
// expected, by construction: a method's units are weighed against its own asked amount, never converted by a rate.
import { ceilDiv, floorDiv, maxBig, minBig, parseUnits } from "../lib/money.ts";
import type { CreditedPayment } from "../payments/payment.ts";

/** Sums stop growing here: the largest that the tables hold exactly, nine billion units of any currency, far above E + over. */
export const MAX_WORTH_MICROS = BigInt(Number.MAX_SAFE_INTEGER);

/** An amount that was asked from `quotedAtMs` until the next quote. */
export interface Quote {
  readonly amountUnits: bigint;
  readonly quotedAtMs: number;
}

export interface PricedMethod {
  readonly network: string;
  readonly cryptocurrency: string;
  /** What is asked now, in base units; null while UNAVAILABLE and on an any-amount invoice. */
  readonly amountUnits: bigint | null;
  /** Since when that is asked; null with `amountUnits`. */
  readonly quotedAtMs: number | null;
  /** Price of one whole coin in the invoice currency at activation, decimal text; weighs only on an any-amount invoice. */
  readonly rate: string | null;
  /** Decimals of the asset on this network. */
  readonly decimals: number;
  /** What was asked before, where the method was quoted anew; any order. */
  readonly earlierQuotes?: readonly Quote[];
}

export interface Worth {
  readonly micros: bigint;
  /** What rounding may have taken: one micro-unit for every addend but the first. Forgiven, never shown. */
  readonly slackMicros: bigint;
}

type WorthOfPayment = Pick<
  CreditedPayment,
  "network" | "cryptocurrency" | "amountUnits" | "receivedAtMs" | "fiatMicros"
>;

export interface WorthFacts {
  readonly expectedMicros: bigint;
  readonly methods: readonly PricedMethod[];
  readonly payments: readonly WorthOfPayment[];
}

/**
 * The worth of `payments`, which the caller has chosen (all counted ones for R, the confirmed of them for C).
 *
 * - E > 0: floor(E x sum(units) / asked units) for each method, added. A method that was quoted anew weighs a payment by what was asked
 *   when it was received (a payment from before the first quote by the first), so that a quote made before the money was read takes
 *   nothing from a payer who sent what was asked; every quote with money is then an addend of its own.
 * - E = 0 asks for nothing, so there is nothing to weigh by: the units are worth the rate of the method at activation, and at least one
 *   micro-unit, since the first confirmed payment is to make the invoice PAID however small it is.
 * - An asset without a method (assigned by hand): the worth at first sight, stored on the payment; without one, nothing.
 *
 * With n addends of methods a sum at most n-1 short of E *is* E. Capped at `MAX_WORTH_MICROS`.
 */
export function worthOf({ expectedMicros, methods, payments }: WorthFacts): Worth {
  const isAnyAmount = expectedMicros === 0n;
  const addends: bigint[] = [];
  let unpriced = payments;
  for (const method of methods) {
    const own = payments.filter((payment) => isOfMethod(payment, method));
    const worths = isAnyAmount ? worthAtRate(method, own) : worthAgainstQuotes(expectedMicros, method, own);
    if (worths === undefined) continue;
    addends.push(...worths);
    unpriced = unpriced.filter((payment) => !isOfMethod(payment, method));
  }
  const assigned = unpriced.map(({ fiatMicros }) => maxBig(fiatMicros ?? 0n, isAnyAmount ? 1n : 0n));
  const slackMicros = maxBig(BigInt(addends.length) - 1n, 0n);
  const sum = total([...addends, ...assigned]);
  const isWhole = sum < expectedMicros && sum + slackMicros >= expectedMicros;
  return { micros: isWhole ? expectedMicros : minBig(sum, MAX_WORTH_MICROS), slackMicros };
}

/** Whether `worthOf` weighs the payments of a method against it, and not by what is stored on them. */
export function isPriced(method: PricedMethod, expectedMicros: bigint): boolean {
  return expectedMicros === 0n ? method.rate !== null : quotesOf(method).length > 0;
}

/** Whether the worth reaches a bound, with what rounding took forgiven. */
export function covers(worth: Worth, boundMicros: bigint): boolean {
  return worth.micros + worth.slackMicros >= boundMicros;
}

/** Micro-units that `units` of an asset are worth at a price of one whole coin, rounded down. */
export function microsAtRate({ units, decimals, rate }: { units: bigint; decimals: number; rate: string }): bigint {
  const fractionDigits = rate.split(".")[1]?.length ?? 0;
  const price = parseUnits(rate, fractionDigits);
  if (!price.ok) throw new Error(`a rate must be decimal text, got ${rate}`);
  return floorDiv(units * price.value * 1_000_000n, 10n ** BigInt(decimals + fractionDigits));
}

/**
 * What is still missing of a method's asked amount, in base units: ceil(asked x (E - R) / E), at least 0. Null where nothing is asked
 * (E = 0, or the method has no amount).
 */
export function amountDueUnits(facts: {
  readonly amountUnits: bigint | null;
  readonly expectedMicros: bigint;
  readonly receivedMicros: bigint;
}): bigint | null {
  const { amountUnits, expectedMicros, receivedMicros } = facts;
  if (expectedMicros === 0n || amountUnits === null) return null;
  const missingMicros = expectedMicros - receivedMicros;
  return missingMicros <= 0n ? 0n : ceilDiv(amountUnits * missingMicros, expectedMicros);
}

/** How far below E still counts as paid: min(E x percent, max), rounded down; basis points are hundredths of a percent. */
export function underpaidToleranceMicros(facts: {
  readonly expectedMicros: bigint;
  readonly basisPoints: number;
  readonly maxMicros: bigint;
}): bigint {
  return minBig(percentage(facts.expectedMicros, facts.basisPoints), facts.maxMicros);
}

/** How far above E is not yet overpaid: E x percent, rounded down. */
export function overpaidToleranceMicros(facts: {
  readonly expectedMicros: bigint;
  readonly basisPoints: number;
}): bigint {
  return percentage(facts.expectedMicros, facts.basisPoints);
}

function percentage(micros: bigint, basisPoints: number): bigint {
  return floorDiv(micros * BigInt(basisPoints), 10_000n);
}

function isOfMethod(payment: WorthOfPayment, method: PricedMethod): boolean {
  return payment.network === method.network && payment.cryptocurrency === method.cryptocurrency;
}

/** Undefined when the method was never quoted. */
function worthAgainstQuotes(
  expectedMicros: bigint,
  method: PricedMethod,
  payments: readonly WorthOfPayment[],
): readonly bigint[] | undefined {
  const quotes = quotesOf(method);
  if (quotes.length === 0) return undefined;
  return quotes.flatMap((quote, i) => {
    const until = quotes[i + 1]?.quotedAtMs ?? Number.POSITIVE_INFINITY;
    const since = i === 0 ? Number.NEGATIVE_INFINITY : quote.quotedAtMs;
    const own = payments.filter(({ receivedAtMs }) => since <= receivedAtMs && receivedAtMs < until);
    return own.length === 0 ? [] : [floorDiv(expectedMicros * unitsOf(own), quote.amountUnits)];
  });
}

/** Oldest first. */
function quotesOf(method: PricedMethod): readonly Quote[] {
  const { amountUnits, quotedAtMs, earlierQuotes = [] } = method;
  const current = amountUnits === null ? [] : [{ amountUnits, quotedAtMs: quotedAtMs ?? 0 }];
  return [...earlierQuotes, ...current].toSorted((a, b) => a.quotedAtMs - b.quotedAtMs);
}

/** Undefined when the method has no rate. */
function worthAtRate(method: PricedMethod, payments: readonly WorthOfPayment[]): readonly bigint[] | undefined {
  const { rate, decimals } = method;
  if (rate === null) return undefined;
  if (payments.length === 0) return [];
  return [maxBig(microsAtRate({ units: unitsOf(payments), decimals, rate }), 1n)];
}

function unitsOf(payments: readonly WorthOfPayment[]): bigint {
  return total(payments.map(({ amountUnits }) => amountUnits));
}

function total(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n);
}
