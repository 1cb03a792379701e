// The quotes of a payment method, and which of them gives a payment its value (decisions 4, "As of the payment's time"). A quote records the amount
// asked for, its fiat value, when it was first asked for, and when its lock ends. A payment's value depends on its own time, not on when the chain
// was read, so it does not matter whether the chain is read late, twice or in a different order.
import type { Network } from "../../chains/registry/network.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { type JsonOf, parseJson, printJson } from "../../lib/typed-json.ts";

export interface Quote {
  /** The amount asked for, in base units; null on an any-amount invoice, whose payments are valued by `rate`. */
  readonly amountUnits: bigint | null;
  /** Price of one whole coin in the invoice currency, decimal text. */
  readonly rate: string;
  /** The value of exactly `amountUnits`, in micro-units: first the invoice's amount, after a partial payment what is left of it. */
  readonly forMicros: bigint;
  readonly askedFromMs: number;
  /** The last millisecond of the lock, included. */
  readonly lockedUntilMs: number;
  /**
   * Marks the amount reserved for what is left after a partial payment, within the lock and at its rate. It applies only to a payment of exactly that
   * amount. It does not end other quotes and is never in force, because the time at which the partial payment is read must not change the value of
   * other payments.
   */
  readonly isRemainder?: true;
}

/** If the same amount is asked for within this time after the end of the lock, the quote is extended. */
const LENGTHENED_WITHIN_MS = 120 * SECOND_MS;

/**
 * How many quotes a method keeps; those with payments are kept even beyond this number. With the default lock of an hour they cover ten days during
 * which a page stays open. The limit bounds the size of the row even for short locks.
 */
const QUOTES_KEPT = 240;

/** How long before and after a quote a payment may still belong to it, because payers take time, and a block's time is set by its miner. */
export function quoteSlackMs({ blockSeconds }: Pick<Network, "blockSeconds">): number {
  return Math.max(120, 2 * blockSeconds) * SECOND_MS;
}

type WeighingRule =
  /** The payment is exactly the amount of a quote, within that quote's slack. */
  | "EXACT_UNITS"
  /** The quote in force at the payment's time; before the first quote of a method, that first quote. */
  | "IN_FORCE"
  /** No quote was in force, and the last had ended less than the slack ago. */
  | "LAST_ENDED";

export interface WeighedByQuote {
  readonly rule: WeighingRule;
  readonly quote: Quote;
}

/**
 * The quote that applies to a payment of `amountUnits` at `atMs`. Undefined if the last quote ended too long before and no new one was requested:
 * then the market rate when the payment was first seen applies. `quotes`: oldest first.
 */
export function quoteFor(
  payment: { readonly amountUnits: bigint; readonly atMs: number },
  quotes: readonly Quote[],
  slackMs: number,
): WeighedByQuote | undefined {
  const { amountUnits, atMs } = payment;
  const prices = quotes.filter((quote) => quote.isRemainder !== true);
  const [first] = prices;
  if (first === undefined) return undefined;
  const spans = prices.map((quote, n) => spanOf(quote, prices[n + 1]));
  const inForce = spans.findLast(({ quote, endMs }) => quote.askedFromMs <= atMs && atMs <= endMs);
  const ended = spans.findLast(({ endMs }) => endMs < atMs);
  const isMeant = ({ quote, endMs }: Span) => quote.askedFromMs - slackMs <= atMs && atMs <= endMs + slackMs;
  // The amount for the rest cannot be paid before it is asked for, in particular not by the partial payment that left it.
  const remainders = quotes
    .filter(({ isRemainder, askedFromMs }) => isRemainder === true && askedFromMs < atMs)
    .map((quote) => spanOf(quote, undefined));
  const exact = [...remainders, ...spans].filter((span) => span.quote.amountUnits === amountUnits && isMeant(span));
  const best = exact.find((span) => span === inForce) ?? exact.findLast(({ endMs }) => endMs < atMs) ?? exact[0];
  if (best !== undefined) return { rule: "EXACT_UNITS", quote: best.quote };
  if (inForce !== undefined) return { rule: "IN_FORCE", quote: inForce.quote };
  // No payment can precede the first quote: an earlier time comes from a miner whose clock is slow.
  if (atMs < first.askedFromMs) return { rule: "IN_FORCE", quote: first };
  return ended !== undefined && isMeant(ended) ? { rule: "LAST_ENDED", quote: ended.quote } : undefined;
}

/** `endMs`: the end of the time to pay. A payment until `untilMs` gets the price as of `endMs`. */
export interface LateGrace {
  readonly endMs: number;
  readonly untilMs: number;
}

/**
 * Like `quoteFor`, for an invoice with a grace period. A payment within that period gets the price as of the end of the time to pay, however far the
 * market has moved. If a newer price was asked for after the end of the time to pay, a payer may mean either price: then only a payment of exactly
 * the older amount gets the older price.
 */
export function quoteWithGrace(
  payment: { readonly amountUnits: bigint; readonly atMs: number },
  of: { readonly quotes: readonly Quote[]; readonly slackMs: number; readonly lateGrace?: LateGrace | undefined },
): WeighedByQuote | undefined {
  const { quotes, slackMs, lateGrace } = of;
  const now = quoteFor(payment, quotes, slackMs);
  if (lateGrace === undefined || payment.atMs <= lateGrace.endMs || payment.atMs > lateGrace.untilMs) return now;
  if (now?.rule === "EXACT_UNITS") return now;
  const atEnd = quoteFor({ ...payment, atMs: lateGrace.endMs }, quotes, slackMs);
  const isAskedSince = quotes.some(
    ({ isRemainder, askedFromMs }) => !isRemainder && askedFromMs > lateGrace.endMs && askedFromMs <= payment.atMs,
  );
  return isAskedSince && atEnd?.rule !== "EXACT_UNITS" ? now : (atEnd ?? now);
}

interface Span {
  readonly quote: Quote;
  /** Inclusive: the end of the lock, or the millisecond before the next quote. */
  readonly endMs: number;
}

function spanOf(quote: Quote, next: Quote | undefined): Span {
  const endMs = Math.min(quote.lockedUntilMs, (next?.askedFromMs ?? Number.POSITIVE_INFINITY) - 1);
  return { quote, endMs };
}

/**
 * A method's quotes after `next` was added. If the same amount for the same value is asked for within 120 s after the end of the last quote, that
 * quote is extended and keeps its start. `isUsed`: whether a quote has payments; such a quote is never dropped.
 */
export function withQuote(
  quotes: readonly Quote[],
  next: Quote,
  isUsed: (quote: Quote) => boolean = () => false,
): readonly Quote[] {
  const last = quotes.findLast(({ isRemainder }) => isRemainder === next.isRemainder);
  const isSame = last !== undefined && isSameAsk(last, next);
  if (isSame && next.askedFromMs - last.lockedUntilMs <= LENGTHENED_WITHIN_MS) {
    const lockedUntilMs = Math.max(last.lockedUntilMs, next.lockedUntilMs);
    return quotes.map((quote) => (quote === last ? { ...last, lockedUntilMs } : quote));
  }
  const tooMany = quotes.length + 1 - QUOTES_KEPT;
  let dropped = 0;
  const [first] = quotes;
  const kept = quotes.filter((quote) => {
    // The first quote is kept, because no payment can precede it.
    if (dropped >= tooMany || quote === first || isUsed(quote)) return true;
    dropped++;
    return false;
  });
  return [...kept, next];
}

/** Whether both ask for the same amount at the same value or, on an any-amount invoice, at the same rate. */
function isSameAsk(a: Quote, b: Quote): boolean {
  if (a.amountUnits !== b.amountUnits || a.forMicros !== b.forMicros) return false;
  return a.amountUnits !== null || a.rate === b.rate;
}

export interface StoredQuote extends Omit<Quote, "amountUnits" | "forMicros"> {
  readonly amountUnits: string | null;
  readonly forMicros: string;
}

/** When this exact amount was first asked for, according to the quotes that the method still has; null if none of them asked for it. */
export function firstAskedMs(
  { quotes }: { readonly quotes: JsonOf<readonly StoredQuote[]> },
  amountUnits: bigint,
): number | null {
  const asked = parseQuotes(quotes).filter((quote) => quote.amountUnits === amountUnits);
  return asked.length === 0 ? null : Math.min(...asked.map(({ askedFromMs }) => askedFromMs));
}

/** The JSON array for a method's row, oldest first. */
export function printQuotes(quotes: readonly Quote[]): JsonOf<readonly StoredQuote[]> {
  return printJson(quotes.map(storedOf));
}

export function parseQuotes(json: JsonOf<readonly StoredQuote[]>): readonly Quote[] {
  return parseJson(json).map(quoteOf);
}

/** One quote as JSON, for the row of a payment that it applies to. */
export function printQuote(quote: Quote): JsonOf<StoredQuote> {
  return printJson(storedOf(quote));
}

export function parseQuote(json: JsonOf<StoredQuote>): Quote {
  return quoteOf(parseJson(json));
}

function storedOf(quote: Quote): StoredQuote {
  const { amountUnits, forMicros } = quote;
  return { ...quote, amountUnits: amountUnits?.toString() ?? null, forMicros: forMicros.toString() };
}

function quoteOf(stored: StoredQuote): Quote {
  const { amountUnits, forMicros } = stored;
  return {
    ...stored,
    amountUnits: amountUnits === null ? null : BigInt(amountUnits),
    forMicros: BigInt(forMicros),
  };
}
