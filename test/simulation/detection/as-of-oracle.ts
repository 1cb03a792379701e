// The expected result of a history, by brute force over its facts, in BigInt, from decisions 4 and 5 only. Where their text leaves a choice, one
// function makes it and explains it in its comment.
import {
  CHAINS,
  type History,
  heldUntilMs,
  type InvoiceFact,
  monitorUntilMs,
  quoteSlackMs,
  SHARED_ADDRESS,
  type TransferFact,
  watchSlackMs,
} from "./as-of-facts.ts";

/** A period for which one amount was requested. */
export interface Quote {
  readonly units: bigint;
  readonly forMicros: bigint;
  readonly askedFromMs: number;
  /** The end of the lock or the start of the next quote, whichever comes first. */
  readonly endMs: number;
}

type Weighing = "exact in force" | "exact ended" | "exact early" | "in force" | "ended" | "market";
type Rule = "own address" | "exact" | "within tolerance" | "sole candidate" | "unmatched" | "own money";

interface Weight {
  readonly by: Weighing;
  /** The quote that values the payment; null if it is valued at the market rate. */
  readonly quote: Quote | null;
}

export interface ExpectedTransfer {
  readonly rule: Rule;
  readonly invoiceId: string | null;
  readonly weight: Weight | null;
  readonly timeMs: number;
  readonly status: "DETECTED" | "CONFIRMED" | "REORGED" | "UNMATCHED" | "IGNORED";
  readonly isLate: boolean;
}

interface ExpectedInvoice {
  readonly status: string;
  readonly receivedMicros: bigint;
  readonly confirmedMicros: bigint;
  readonly isLate: boolean;
}

export interface Expected {
  readonly transfers: ReadonlyMap<string, ExpectedTransfer>;
  readonly invoices: ReadonlyMap<string, ExpectedInvoice>;
}

export function expectedOf(history: History): Expected {
  const transfers = new Map(history.transfers.map((each) => [each.txHash, expectedTransfer(history, each)]));
  const invoices = new Map(
    history.invoices.map((invoice) => [invoice.id as string, expectedInvoice(history, invoice, transfers)]),
  );
  return { transfers, invoices };
}

/** The part of the history that a reading at `atMs` can know. */
export function asKnownAt(history: History, atMs: number): History {
  const invoices = history.invoices
    .filter(({ openedMs }) => openedMs <= atMs)
    .map((invoice) => ({ ...invoice, asked: invoice.asked.filter((each) => each.atMs <= atMs) }));
  return { ...history, invoices };
}

/**
 * Interpretation: the earliest of the times when the transfer was first seen, in a mempool or in a block, and of the times of all blocks that held
 * it, orphaned ones included. A transfer that was seen had already happened, so a block with a future timestamp counts from when it appeared.
 */
export function paymentTimeMs({ pendingMs, blocks }: TransferFact): number {
  const ofBlocks = blocks.map(({ timeMs, visibleMs }) => Math.min(timeMs, visibleMs));
  return Math.min(pendingMs ?? Number.POSITIVE_INFINITY, ...ofBlocks);
}

function expectedTransfer(history: History, transfer: TransferFact): ExpectedTransfer {
  const timeMs = paymentTimeMs(transfer);
  const { rule, invoice } = payeeOf(history, transfer, timeMs);
  if (invoice === null) {
    const loose = transfer.isOwnMoney ? "IGNORED" : "UNMATCHED";
    const status = chainStatus(transfer) === "REORGED" ? "REORGED" : loose;
    return { rule, invoiceId: null, weight: null, timeMs, status, isLate: false };
  }
  const weight = weightOf(history.kind, invoice, transfer.units, timeMs);
  const status = chainStatus(transfer);
  const isLate = status !== "REORGED" && !mayCount(invoice, timeMs);
  return { rule, invoiceId: invoice.id, weight, timeMs, status, isLate };
}

function chainStatus({ blocks }: TransferFact): "DETECTED" | "CONFIRMED" | "REORGED" {
  if (blocks.some(({ goneMs }) => goneMs === null)) return "CONFIRMED";
  return blocks.length === 0 ? "DETECTED" : "REORGED";
}

/**
 * Decisions 5, "Direct match": the first of rules 1 to 4 that applies. An address that was never used before always belongs to its invoice, whatever
 * a block's time is, because nobody could pay to the address before it was allocated.
 */
export function payeeOf(
  history: History,
  transfer: TransferFact,
  timeMs: number,
): { readonly rule: Rule; readonly invoice: InvoiceFact | null } {
  if (transfer.isOwnMoney) return { rule: "own money", invoice: null };
  if (transfer.address !== SHARED_ADDRESS) {
    const invoice = history.invoices.find(({ address }) => address === transfer.address);
    if (invoice === undefined) throw new Error("an own address of nobody");
    return { rule: "own address", invoice };
  }
  const { kind } = history;
  const holders = history.invoices.filter((each) => heldExactly(kind, each, transfer.units, timeMs));
  const sure = holders.filter((each) => heldExactly(kind, each, transfer.units, timeMs, endOfSecond(timeMs) - timeMs));
  const chosen = sure.length > 0 ? sure : holders;
  const best = Math.min(...chosen.map(({ rank }) => rank));
  const [holder, ...others] = chosen.filter(({ rank }) => rank === best);
  if (holder !== undefined && others.length === 0) {
    const strangers = history.invoices.filter(({ merchant }) => merchant !== holder.merchant);
    const isEarlier = (each: InvoiceFact) =>
      each.rank > holder.rank &&
      holders.includes(each) &&
      askedFromMs(each, transfer.units) < askedFromMs(holder, transfer.units);
    const isRival = (each: InvoiceFact) =>
      isEarlier(each) ||
      (sure.includes(holder)
        ? holders.includes(each) && each.rank < holder.rank
        : each.rank <= holder.rank &&
          each.openedMs <= endOfSecond(timeMs) &&
          isOpenAt(kind, each, timeMs) &&
          isOfItsSize(each));
    const isOfItsSize = (each: InvoiceFact) => {
      const value = valueTo(kind, each, transfer, timeMs);
      return value !== null && value * 10n >= each.expectedMicros && value <= each.expectedMicros * 2n;
    };
    return strangers.some(isRival) ? { rule: "unmatched", invoice: null } : { rule: "exact", invoice: holder };
  }
  const open = history.invoices.filter((each) => isOpenAt(kind, each, timeMs));
  for (const rank of [2, 3]) {
    const meant = byValue(
      kind,
      open.filter((each) => each.rank <= rank),
      { transfer, timeMs },
    );
    if (meant !== undefined) return meant;
  }
  return { rule: "unmatched", invoice: null };
}

/**
 * Interpretation of "a block's time is in whole seconds": its transfers may be as late as the last millisecond of that second, so an amount asked for
 * in that second was asked for before them. At the shared address all payments are first seen in a block.
 */
function endOfSecond(timeMs: number): number {
  return timeMs - (timeMs % 1_000) + 999;
}

/** When exactly these units were first asked for. */
function askedFromMs({ asked }: InvoiceFact, units: bigint): number {
  return Math.min(...asked.filter((each) => each.units === units).map(({ atMs }) => atMs));
}

/**
 * Interpretation of "rules 2 and 3 see the own and higher ranks": invoices of merchants with proof are considered first, as if there were no others.
 */
function byValue(
  kind: History["kind"],
  open: readonly InvoiceFact[],
  { transfer, timeMs }: { readonly transfer: TransferFact; readonly timeMs: number },
): { readonly rule: Rule; readonly invoice: InvoiceFact } | undefined {
  const valueFor = (invoice: InvoiceFact) => valueTo(kind, invoice, transfer, timeMs);
  const meant = open.find((each) => isWithin(each, valueFor(each), 1n));
  const value = meant === undefined ? null : valueFor(meant);
  const isMuch = meant !== undefined && value !== null && value > meant.expectedMicros;
  const mayBe = (each: InvoiceFact) =>
    isWithin(each, valueFor(each), 2n) || isUsualMistake(kind, each, { transfer, timeMs, isMuch });
  if (meant !== undefined && open.filter(mayBe).every((each) => each === meant))
    return { rule: "within tolerance", invoice: meant };
  const [sole] = open;
  if (sole !== undefined && open.length === 1) {
    const value = valueFor(sole);
    if (value !== null && value * 10n >= sole.expectedMicros && value <= sole.expectedMicros * 2n) {
      return { rule: "sole candidate", invoice: sole };
    }
  }
  return undefined;
}

/**
 * Rule 2, "other invoices that may be meant": the transfer is half or twice what the invoice asked for, or less by a round fee. If it is more than
 * the nearest invoice's price, it may be less by any fee up to a quarter. Interpretation: of the amounts that the invoice asked for by then, the
 * nearest counts.
 */
function isUsualMistake(
  kind: History["kind"],
  invoice: InvoiceFact,
  { transfer, timeMs, isMuch }: { readonly transfer: TransferFact; readonly timeMs: number; readonly isMuch: boolean },
): boolean {
  const { units: paid } = transfer;
  const isFee = (missing: bigint, asked: bigint) => missing > 0n && missing * 4n <= asked;
  const value = valueTo(kind, invoice, transfer, timeMs);
  const isLessInValue = value !== null && isFee(invoice.expectedMicros - value, invoice.expectedMicros);
  const asked = nearestAsked(kind, invoice, paid, timeMs);
  if (asked === undefined) return isMuch && isLessInValue;
  const fee = asked - paid;
  const isRound = /^[1-9]5?0*$/.test(String(fee)) && isFee(fee, asked);
  return asked === paid * 2n || paid === asked * 2n || isRound || (isMuch && (isLessInValue || isFee(fee, asked)));
}

/** Of the amounts that the invoice asked for by then, the one closest to what was paid, relative to the amount. */
function nearestAsked(kind: History["kind"], invoice: InvoiceFact, paid: bigint, timeMs: number): bigint | undefined {
  const apart = (units: bigint) => (units > paid ? units - paid : paid - units);
  const asked = invoice.asked.filter(({ atMs }) => atMs - watchSlackMs(kind) <= timeMs).map(({ units }) => units);
  const [nearest] = asked.toSorted((a, b) => Number(apart(a) * b - apart(b) * a) || Number(a - b));
  return nearest;
}

/**
 * Interpretation of rule 1: the invoice asked for these units at any time up to the payment's time, plus the slack of the watch, and its amount is
 * still reserved. An invoice that matches only through that slack takes nothing from another merchant, and loses nothing to one of a lower rank: in
 * that case no invoice gets the transfer.
 */
function heldExactly(
  kind: History["kind"],
  invoice: InvoiceFact,
  units: bigint,
  timeMs: number,
  slackMs = watchSlackMs(kind),
): boolean {
  return (
    timeMs <= heldUntilMs(invoice) &&
    quotesOf(invoice).some((quote) => quote.units === units && quote.askedFromMs - slackMs <= timeMs)
  );
}

/** Interpretation of "open then": an invoice is still open at `expiresAt` itself, but no longer at the moment of its cancellation. */
function isOpenAt(kind: History["kind"], invoice: InvoiceFact, timeMs: number): boolean {
  if (timeMs < invoice.openedMs - watchSlackMs(kind) || timeMs > invoice.expiresAtMs) return false;
  return invoice.cancelledAtMs === null || invoice.cancelledAtMs > timeMs;
}

/** Interpretation of "value" in rules 2 and 3: what the transfer would be worth to the invoice as of its time, compared with E, not with the rest. */
function valueTo(kind: History["kind"], invoice: InvoiceFact, transfer: TransferFact, timeMs: number): bigint | null {
  const { quote } = weightOf(kind, invoice, transfer.units, timeMs);
  return quote === null ? atRate(kind, transfer) : (quote.forMicros * transfer.units) / quote.units;
}

function isWithin(invoice: InvoiceFact, value: bigint | null, times: bigint): boolean {
  return (
    value !== null &&
    value >= invoice.expectedMicros - times * invoice.underpaidToleranceMicros &&
    value <= invoice.expectedMicros + times * invoice.overpaidToleranceMicros
  );
}

/** The invoice's quotes, oldest first. The same units requested again within 120 s of the end of their lock extend it; later they are a new quote. */
export function quotesOf(invoice: InvoiceFact): readonly Quote[] {
  const made: { units: bigint; forMicros: bigint; askedFromMs: number; lockedUntilMs: number }[] = [];
  for (const { atMs, units, forMicros } of invoice.asked) {
    const lockedUntilMs = Math.min(invoice.expiresAtMs, atMs + invoice.lockSeconds * 1_000);
    const last = made.at(-1);
    const isSame = last !== undefined && last.units === units && last.forMicros === forMicros;
    if (isSame && atMs <= last.lockedUntilMs + 120_000) last.lockedUntilMs = lockedUntilMs;
    else made.push({ units, forMicros, askedFromMs: atMs, lockedUntilMs });
  }
  return made.map(({ units, forMicros, askedFromMs, lockedUntilMs }, n) => ({
    units,
    forMicros,
    askedFromMs,
    endMs: Math.min(lockedUntilMs, made[n + 1]?.askedFromMs ?? lockedUntilMs),
  }));
}

/**
 * The quote that values a payment. Of the quotes that the payment may be meant for, it is the one with exactly its units, else the one in force, else
 * the last that ended, else none. Interpretation: of several with exactly its units, it is the one in force, else the last that ended, else the next.
 * A future quote is meant only by a payment of exactly its units, except for an invoice's first quote: nothing can be paid before it is asked for, so
 * an earlier time comes from a slow clock.
 */
export function weightOf(kind: History["kind"], invoice: InvoiceFact, units: bigint, timeMs: number): Weight {
  const slackMs = quoteSlackMs(kind);
  const meant = quotesOf(invoice).filter(
    ({ askedFromMs, endMs }) => askedFromMs - slackMs <= timeMs && timeMs <= endMs + slackMs,
  );
  const exact = meant.filter((quote) => quote.units === units);
  const chosen = (quotes: readonly Quote[]) => ({
    inForce: quotes.findLast(({ askedFromMs, endMs }) => askedFromMs <= timeMs && timeMs <= endMs),
    ended: quotes.findLast(({ endMs }) => endMs < timeMs),
    early: quotes.find(({ askedFromMs }) => askedFromMs > timeMs),
  });
  const byUnits = chosen(exact);
  if (byUnits.inForce !== undefined) return { by: "exact in force", quote: byUnits.inForce };
  if (byUnits.ended !== undefined) return { by: "exact ended", quote: byUnits.ended };
  if (byUnits.early !== undefined) return { by: "exact early", quote: byUnits.early };
  const byTime = chosen(meant);
  if (byTime.inForce !== undefined) return { by: "in force", quote: byTime.inForce };
  if (byTime.ended !== undefined) return { by: "ended", quote: byTime.ended };
  const [first] = quotesOf(invoice);
  if (first !== undefined && timeMs < first.askedFromMs) return { by: "in force", quote: first };
  return { by: "market", quote: null };
}

/** The value at the market rate: floor(units x rate), in micro-units; null if there is no rate. */
function atRate(kind: History["kind"], { units, sightRate }: TransferFact): bigint | null {
  if (sightRate === null) return null;
  return (units * BigInt(sightRate) * 1_000_000n) / 10n ** BigInt(CHAINS[kind].decimals);
}

/** Which payments count: those on time, and late ones within the monitor window if the invoice accepts them; none on a cancelled invoice. */
function mayCount(invoice: InvoiceFact, timeMs: number): boolean {
  if (invoice.cancelledAtMs !== null) return false;
  if (timeMs <= invoice.expiresAtMs) return true;
  return invoice.latePaymentPolicy === "ACCEPT" && timeMs <= monitorUntilMs(invoice);
}

interface TotalValue {
  readonly micros: bigint;
  readonly forgivenMicros: bigint;
}

/**
 * All payments under one quote are summed before they are rounded. Each payment at the market rate is rounded on its own. Rounding is forgiven for
 * quotes only.
 */
function totalValueOf(
  history: History,
  invoice: InvoiceFact,
  counted: readonly (readonly [TransferFact, Weight])[],
): TotalValue {
  const onQuote = new Map<number, { readonly quote: Quote; units: bigint }>();
  let micros = 0n;
  for (const [transfer, { quote }] of counted) {
    if (quote === null) {
      micros += atRate(history.kind, transfer) ?? 0n;
      continue;
    }
    const sum = onQuote.get(quote.askedFromMs) ?? { quote, units: 0n };
    sum.units += transfer.units;
    onQuote.set(quote.askedFromMs, sum);
  }
  for (const { quote, units } of onQuote.values()) micros += (quote.forMicros * units) / quote.units;
  const forgivenMicros = onQuote.size > 1 ? BigInt(onQuote.size - 1) : 0n;
  return { micros: whole(micros, forgivenMicros, invoice.expectedMicros), forgivenMicros };
}

/** Interpretation of "n-1 micro-units are forgiven": a sum that is short of E by at most that much is shown as E. */
function whole(micros: bigint, forgivenMicros: bigint, expectedMicros: bigint): bigint {
  return micros < expectedMicros && micros + forgivenMicros >= expectedMicros ? expectedMicros : micros;
}

function expectedInvoice(
  history: History,
  invoice: InvoiceFact,
  transfers: ReadonlyMap<string, ExpectedTransfer>,
): ExpectedInvoice {
  const own = history.transfers.flatMap((transfer) => {
    const of = transfers.get(transfer.txHash);
    if (of?.invoiceId !== invoice.id || of.weight === null || of.status === "REORGED") return [];
    return [{ transfer, weight: of.weight, status: of.status, isLate: of.isLate }];
  });
  const counted = own.filter(({ isLate }) => !isLate);
  const confirmed = counted.filter(({ status }) => status === "CONFIRMED");
  const received = totalValueOf(
    history,
    invoice,
    counted.map(({ transfer, weight }) => [transfer, weight]),
  );
  const settled = totalValueOf(
    history,
    invoice,
    confirmed.map(({ transfer, weight }) => [transfer, weight]),
  );
  const isUnpriced = ({ transfer, weight }: (typeof own)[number]) =>
    weight.quote === null && transfer.sightRate === null;
  const isUnsettled = counted.some((each) => each.status === "DETECTED" || isUnpriced(each));
  return {
    status: statusOf(invoice, { received, settled, isUnsettled }),
    receivedMicros: received.micros,
    confirmedMicros: settled.micros,
    isLate: own.some(({ isLate }) => isLate),
  };
}

/** The table of decisions 4, for an invoice that is closed and not resolved by a user. */
function statusOf(
  invoice: InvoiceFact,
  of: { readonly received: TotalValue; readonly settled: TotalValue; readonly isUnsettled: boolean },
): string {
  const { received, settled } = of;
  const leastMicros = invoice.expectedMicros - invoice.underpaidToleranceMicros;
  if (invoice.cancelledAtMs !== null) return "CANCELLED";
  if (settled.micros > invoice.expectedMicros + invoice.overpaidToleranceMicros) return "OVERPAID";
  if (settled.micros > 0n && settled.micros + settled.forgivenMicros >= leastMicros) return "PAID";
  if (received.micros > 0n && received.micros + received.forgivenMicros >= leastMicros) return "PENDING_CONFIRMATION";
  if (of.isUnsettled) return "PENDING_CONFIRMATION";
  return settled.micros > 0n ? "UNDERPAID" : "EXPIRED";
}
