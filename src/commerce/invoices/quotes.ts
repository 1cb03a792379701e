// The quotes of a payment method, and which of them a payment is weighed by (decisions 4, "As of the payment's time"). A quote is a fact with a
// time: the amount asked, its fiat value, from when it was asked, until when it was locked. A payment is weighed by its own time, not by when
// the chain was read, so reading late, reading twice or reading in another order changes nothing.
import type { Network } from "../../chains/network.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { type JsonOf, parseJson, printJson } from "../../lib/typed-json.ts";

export interface Quote {
  /** What was asked, in base units; null on an any-amount invoice, which asks for nothing and is weighed by `rate`. */
  readonly amountUnits: bigint | null;
  /** Price of one whole coin in the invoice currency, decimal text. */
  readonly rate: string;
  /** What paying exactly `amountUnits` is worth, in micro-units: E at first, E - R for the rest of a partial payment. */
  readonly forMicros: bigint;
  readonly askedFromMs: number;
  /** The last moment of the lock, inside. */
  readonly lockedUntilMs: number;
  /**
   * The amount reserved for what a part left due, within the lock and at its rate. It weighs only a payment of exactly that amount: when a part
   * is read must not decide what other money is worth, so it ends no quote and is never in force.
   */
  readonly isRemainder?: true;
}

/** The same amount asked again within this of the end of its lock is the same quote, lengthened. */
const LENGTHENED_WITHIN_MS = 120 * SECOND_MS;

/**
 * How many quotes a method keeps, those with money on them aside. At the default lock of an hour that is ten days of a page that is never
 * closed; it bounds the row whatever the lock is.
 */
const QUOTES_KEPT = 240;

/** How long before and after a quote a payment may still mean it: people take time to pay, and a block's time is set by its miner. */
export function quoteSlackMs({ blockSeconds }: Pick<Network, "blockSeconds">): number {
  return Math.max(120, 2 * blockSeconds) * SECOND_MS;
}

export type WeighingRule =
  /** It sent exactly what a quote asked, within the slack of that quote. */
  | "EXACT_UNITS"
  /** The quote in force at its time; before the first quote of a method, the first. */
  | "IN_FORCE"
  /** No quote was in force, and the last had ended less than the slack ago. */
  | "LAST_ENDED";

export interface WeighedByQuote {
  readonly rule: WeighingRule;
  readonly quote: Quote;
}

/**
 * The quote that weighs a payment of `amountUnits` at `atMs`; undefined if none applies, because the last one ended too long ago and no new
 * one was requested: then the market rate when the payment was first seen weighs it. `quotes`: oldest first.
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
  // A rest cannot be paid before it is asked, least of all by the part that left it.
  const remainders = quotes
    .filter(({ isRemainder, askedFromMs }) => isRemainder === true && askedFromMs < atMs)
    .map((quote) => spanOf(quote, undefined));
  const exact = [...remainders, ...spans].filter((span) => span.quote.amountUnits === amountUnits && isMeant(span));
  const best = exact.find((span) => span === inForce) ?? exact.findLast(({ endMs }) => endMs < atMs) ?? exact[0];
  if (best !== undefined) return { rule: "EXACT_UNITS", quote: best.quote };
  if (inForce !== undefined) return { rule: "IN_FORCE", quote: inForce.quote };
  // Nothing can have been paid before it was asked: an earlier time comes from a miner whose clock is slow.
  if (atMs < first.askedFromMs) return { rule: "IN_FORCE", quote: first };
  return ended !== undefined && isMeant(ended) ? { rule: "LAST_ENDED", quote: ended.quote } : undefined;
}

interface Span {
  readonly quote: Quote;
  /** Inside: the end of the lock, or the millisecond before the next quote. */
  readonly endMs: number;
}

function spanOf(quote: Quote, next: Quote | undefined): Span {
  const endMs = Math.min(quote.lockedUntilMs, (next?.askedFromMs ?? Number.POSITIVE_INFINITY) - 1);
  return { quote, endMs };
}

/**
 * The history once `next` is asked. The same amount for the same worth, asked again before 120 s have passed since the end of the last quote,
 * lengthens that one and leaves its beginning alone. `isUsed`: whether money is weighed by a quote, which is then never forgotten.
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
    // The first one says since when anything can have been paid.
    if (dropped >= tooMany || quote === first || isUsed(quote)) return true;
    dropped++;
    return false;
  });
  return [...kept, next];
}

/** The same amount for the same worth; where any amount may be sent, at the same rate. */
function isSameAsk(a: Quote, b: Quote): boolean {
  if (a.amountUnits !== b.amountUnits || a.forMicros !== b.forMicros) return false;
  return a.amountUnits !== null || a.rate === b.rate;
}

export interface StoredQuote extends Omit<Quote, "amountUnits" | "forMicros"> {
  readonly amountUnits: string | null;
  readonly forMicros: string;
}

/** Since when exactly these units have been asked for, by the quotes that a method keeps; null where they were not. */
export function firstAskedMs(
  { quotes }: { readonly quotes: JsonOf<readonly StoredQuote[]> },
  amountUnits: bigint,
): number | null {
  const asked = parseQuotes(quotes).filter((quote) => quote.amountUnits === amountUnits);
  return asked.length === 0 ? null : Math.min(...asked.map(({ askedFromMs }) => askedFromMs));
}

/** The JSON array that a method's row holds, oldest first. */
export function printQuotes(quotes: readonly Quote[]): JsonOf<readonly StoredQuote[]> {
  return printJson(quotes.map(storedOf));
}

export function parseQuotes(json: JsonOf<readonly StoredQuote[]>): readonly Quote[] {
  return parseJson(json).map(quoteOf);
}

/** One quote as JSON: what a payment's row keeps of the quote that weighs it. */
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
