// The quotes of a payment method, and which of them gives a payment its value (decisions 4, "As of the payment's time"). A quote is a fact with a
// time: the amount asked, its fiat value, from when it was asked, until when it was locked. A payment's value depends on its own time, not on
// when the chain was read, so reading late, twice or in another order changes nothing.
import type { Network } from "../../chains/registry/network.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { type JsonOf, parseJson, printJson } from "../../lib/typed-json.ts";

export interface Quote {
  /** The amount asked, in base units; null on an any-amount invoice, whose payments are valued by `rate`. */
  readonly amountUnits: bigint | null;
  /** Price of one whole coin in the invoice currency, decimal text. */
  readonly rate: string;
  /** The value of exactly `amountUnits`, in micro-units: E at first, E - R for the rest of a partial payment. */
  readonly forMicros: bigint;
  readonly askedFromMs: number;
  /** The last millisecond of the lock, included. */
  readonly lockedUntilMs: number;
  /**
   * The amount reserved for the rest after a partial payment, within the lock and at its rate. It applies only to a payment of exactly that
   * amount. It ends no quote and is never in force, because the time at which a part is read must not change the value of other payments.
   */
  readonly isRemainder?: true;
}

/** The same amount asked again within this time after the end of its lock extends the quote. */
const LENGTHENED_WITHIN_MS = 120 * SECOND_MS;

/**
 * How many quotes a method keeps, besides those with payments. With the default lock of an hour that is ten days of a page that is never closed.
 * It bounds the size of the row for any lock.
 */
const QUOTES_KEPT = 240;

/** How long before and after a quote a payment may still belong to it: payers take time, and a miner sets a block's time. */
export function quoteSlackMs({ blockSeconds }: Pick<Network, "blockSeconds">): number {
  return Math.max(120, 2 * blockSeconds) * SECOND_MS;
}

type WeighingRule =
  /** It sent exactly the amount of a quote, within that quote's slack. */
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
 * The quote that applies to a payment of `amountUnits` at `atMs`. Undefined if the last one ended too long ago and no new one was requested:
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
  // A rest cannot be paid before it is asked for, in particular not by the partial payment that left it.
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

interface Span {
  readonly quote: Quote;
  /** Included: the end of the lock, or the millisecond before the next quote. */
  readonly endMs: number;
}

function spanOf(quote: Quote, next: Quote | undefined): Span {
  const endMs = Math.min(quote.lockedUntilMs, (next?.askedFromMs ?? Number.POSITIVE_INFINITY) - 1);
  return { quote, endMs };
}

/**
 * The history after `next` is asked. The same amount for the same value, asked again within 120 s after the end of the last quote, extends that
 * quote and keeps its start. `isUsed`: whether a quote has payments; such a quote is never dropped.
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

/** Whether both ask for the same amount at the same value or, on an any-amount invoice, have the same rate. */
function isSameAsk(a: Quote, b: Quote): boolean {
  if (a.amountUnits !== b.amountUnits || a.forMicros !== b.forMicros) return false;
  return a.amountUnits !== null || a.rate === b.rate;
}

export interface StoredQuote extends Omit<Quote, "amountUnits" | "forMicros"> {
  readonly amountUnits: string | null;
  readonly forMicros: string;
}

/** When exactly these units were first asked for, by the quotes that a method keeps; null if they were not. */
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
