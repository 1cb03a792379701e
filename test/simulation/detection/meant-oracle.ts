// Which invoice a transfer belongs to, and why it does not belong to the others: brute force over the facts, from decisions 5 ("Direct match",
// "Dust") and 12 ("Shared addresses and keys") only.
import { type AmountFact, DAY, type InvoiceFact, type Situation } from "./meant-facts.ts";

type Reason = "AMBIGUOUS" | "AMOUNT_DIFFERS" | "OUTSIDE_WINDOW";

interface Refused {
  readonly invoice: InvoiceFact;
  readonly reason: Reason;
}

export interface Expected {
  readonly rule: "ADDRESS" | "EXACT_AMOUNT" | "TOLERANCE" | "SOLE_CANDIDATE" | "nobody's";
  readonly invoice: InvoiceFact | null;
  readonly needsReview: boolean;
  /** Whether the transfer is too small to be a payment. */
  readonly isDust: boolean;
  /** What the transfer is worth to the invoice; 0 without one. */
  readonly worthMicros: bigint;
  /** The other candidates, the most likely first. */
  readonly refused: readonly Refused[];
  /** Whether a row that cannot be read must be reported. */
  readonly isAlarming: boolean;
}

const SLACK_MS = 30_000;
const QUOTE_SLACK_MS = 120_000;
const KEPT_MS = 40 * DAY;
const FARTHEST = 32n;
const RANKS = [1, 2, 3] as const;

/** A fee is at most a quarter of an amount. A round fee is a digit from 1 to 9, or such a digit and a 5, followed only by zeros. */
const isFee = (missing: bigint, asked: bigint) => missing > 0n && 4n * missing <= asked;
const ROUND = [/^[1-9]0*$/, /^[1-9]50*$/];

type Found = Pick<Expected, "rule" | "invoice" | "needsReview" | "refused"> & { readonly isAlarming?: boolean };

const nobodys = (refused: readonly Refused[], isAlarming = false): Found => ({
  rule: "nobody's",
  invoice: null,
  needsReview: false,
  refused,
  isAlarming,
});
const credited = (rule: Found["rule"], invoice: InvoiceFact, needsReview = false): Found => ({
  rule,
  invoice,
  needsReview,
  refused: [],
});
const because =
  (reason: Reason) =>
  (invoice: InvoiceFact): Refused => ({ invoice, reason });

export function expectedOf(situation: Situation): Expected {
  const meant = new Meant(situation);
  const found = meant.found();
  const { invoice } = found;
  // The value for an invoice with unreadable quotes is unknown.
  if (invoice?.damage === "quotes") {
    const all = meant.readable().map(because("AMBIGUOUS"));
    return { ...nobodys(all), isAlarming: true, isDust: situation.units < 100_000n, worthMicros: 0n };
  }
  const isAlarming = found.isAlarming === true;
  if (invoice === null) return { ...found, isAlarming, isDust: situation.units < 100_000n, worthMicros: 0n };
  const worth = meant.worthTo(invoice);
  const isDust = worth * 100n < invoice.expectedMicros && worth < invoice.toleranceMicros;
  return { ...found, isAlarming, isDust, worthMicros: worth };
}

class Meant {
  readonly #of: Situation;
  /**
   * The last millisecond of the second in which the block was made: an amount requested within that second counts as requested before the payment.
   */
  readonly #endOfSecondMs: number;

  constructor(of: Situation) {
    this.#of = of;
    this.#endOfSecondMs = of.isMined ? of.paidMs - (of.paidMs % 1_000) + 999 : of.paidMs;
  }

  found(): Found {
    const { owner, isToItself } = this.#of;
    const isOwned = owner !== undefined && owner.damage !== "row";
    if (isToItself) return nobodys(isOwned ? [because("AMOUNT_DIFFERS")(owner)] : []);
    if (isOwned) return this.#ofOwner(owner);
    const exact = this.#exact();
    const damaged = [...(owner === undefined ? [] : [owner]), ...exact.filter(({ damage }) => damage === "row")];
    // If an invoice that asked for exactly this amount cannot be read, only the others that asked for it can get the transfer.
    if (damaged.length > 0) return this.#besideDamaged(damaged, this.#match(exact, { isWhole: false }), exact);
    if (exact.length > 0 && exact.every((each) => this.#isSure(each))) return this.#match(exact, { isWhole: false });
    const all = this.#candidates();
    const hidden = all.filter(
      (each) => each.damage === "row" && (this.#isOpenWith(each) || this.#isReleasedExact(each)),
    );
    const matched = this.#match(all, { isWhole: true });
    return hidden.length === 0 ? matched : this.#besideDamaged(hidden, matched, all);
  }

  readable(): readonly InvoiceFact[] {
    const { owner } = this.#of;
    const exact = this.#exact();
    const isDecided = owner !== undefined || exact.every((each) => this.#isSure(each));
    const all = exact.length > 0 && isDecided ? exact : this.#candidates();
    return [...(owner === undefined ? [] : [owner]), ...all].filter(({ damage }) => damage !== "row");
  }

  /** An invoice's own address belongs to it alone, unless an older invoice of the same merchant asked for exactly this amount there. */
  #ofOwner(owner: InvoiceFact): Found {
    const { paidMs, coin } = this.#of;
    const older = this.#exact().find(
      (each) =>
        each.merchant === owner.merchant &&
        each.damage !== "row" &&
        each.damage !== "forged" &&
        this.#exactly(each).some(({ sinceMs }) => sinceMs <= this.#endOfSecondMs && sinceMs <= owner.openedMs),
    );
    if (older !== undefined) return credited("EXACT_AMOUNT", older);
    if (paidMs < owner.openedMs - SLACK_MS) return nobodys([because("OUTSIDE_WINDOW")(owner)]);
    if (coin !== "USDT" || owner.damage === "forged") return nobodys([because("AMOUNT_DIFFERS")(owner)]);
    return credited("ADDRESS", owner);
  }

  /**
   * The invoice is credited only if every unreadable invoice has a lower rank, is not the owner of the address, and did not ask for exactly this
   * amount earlier.
   */
  #besideDamaged(damaged: readonly InvoiceFact[], matched: Found, others: readonly InvoiceFact[]): Found {
    const { invoice } = matched;
    const isAbove = (each: InvoiceFact) =>
      invoice !== null &&
      invoice.rank < each.rank &&
      each !== this.#of.owner &&
      (!this.#exact().includes(each) || this.#since(each) >= this.#since(invoice));
    if (damaged.every(isAbove)) return matched;
    const readable = others.filter(({ damage }) => damage !== "row");
    return nobodys([...damaged.map(because("AMBIGUOUS")), ...readable.map(because("AMOUNT_DIFFERS"))], true);
  }

  /** `isWhole`: all candidates count, not only those that asked for exactly this amount. */
  #match(all: readonly InvoiceFact[], { isWhole }: { readonly isWhole: boolean }): Found {
    const candidates = all.filter(({ damage }) => damage === "none" || damage === "quotes");
    const live = candidates.filter((each) =>
      this.#held(each, isWhole).some((amount) => this.#isInWindow(each, amount)),
    );
    const exact = live.filter((each) => this.#exactly(each).length > 0);
    const among = { candidates, live, exact, isWhole };
    const found = this.#byAmount(among) ?? this.#byWorth(among);
    const isAlarming = candidates.some(({ damage }) => damage === "quotes");
    if (found.invoice === null) return { ...found, isAlarming };
    if (!isWhole || found.rule === "EXACT_AMOUNT" || !this.#hasReleased()) return found;
    const others = byId(candidates.filter((each) => each !== found.invoice));
    return nobodys([found.invoice, ...others].map(because("AMOUNT_DIFFERS")), isAlarming);
  }

  /** Undefined unless exactly one invoice of the best rank asked for exactly this amount. */
  #byAmount(among: Among): Found | undefined {
    const { exact, live } = among;
    const sure = exact.filter((each) => this.#isSure(each));
    const asking = sure.length > 0 ? sure : exact;
    const best = Math.min(...asking.map(({ rank }) => rank));
    const [holder, ...others] = asking.filter(({ rank }) => rank === best);
    if (holder === undefined || others.length > 0) return undefined;
    const isRival = (each: InvoiceFact): boolean => {
      if (each.merchant === holder.merchant) return false;
      const isExact = exact.includes(each);
      if (each.rank > holder.rank) return isExact && this.#since(each) < this.#since(holder);
      if (sure.includes(holder)) return isExact && each.rank < holder.rank;
      return this.#isOpen(each) && this.#wasAsking(each, among.isWhole) && this.#isOfItsSize(each);
    };
    const rivals = live.filter(isRival);
    return rivals.length === 0 ? credited("EXACT_AMOUNT", holder) : nobodys(reasons(among, [holder, ...rivals]));
  }

  #byWorth(among: Among): Found {
    const { live, exact, isWhole } = among;
    const open = live.filter((each) => this.#isOpen(each));
    for (const rank of RANKS) {
      const seen = open.filter((each) => each.rank <= rank);
      const unread = seen.filter(({ damage }) => damage === "quotes");
      if (unread.length > 0) return nobodys(reasons(among, [...exact, ...unread]));
      const [near] = seen.filter((each) => this.#isWithin(each, 1n));
      if (near !== undefined && this.#mayBeMeant(seen, near, isWhole).length === 1) return credited("TOLERANCE", near);
      const [sole] = seen;
      if (sole !== undefined && isWhole && seen.length === 1 && this.#openTo(rank) === 1 && this.#isOfItsSize(sole))
        return credited("SOLE_CANDIDATE", sole, this.worthTo(sole) > sole.expectedMicros + sole.overMicros);
    }
    const near = open.filter((each) => this.#isWithin(each, 1n));
    return nobodys(reasons(among, [...exact, ...near.flatMap((each) => this.#mayBeMeant(open, each, isWhole))]));
  }

  /**
   * `near` and the other invoices that the payment may be meant for: those within twice the tolerance, and those for which a usual mistake explains
   * the amount (half or double the amount, or less a fee).
   */
  #mayBeMeant(open: readonly InvoiceFact[], near: InvoiceFact, isWhole: boolean): readonly InvoiceFact[] {
    const isMuch = this.worthTo(near) > near.expectedMicros;
    return open.filter((each) => {
      const worth = this.#worth(each);
      const asked = this.#held(each, isWhole).filter((amount) => this.#isInWindow(each, amount));
      const fees = asked.map((amount) => amount.units - this.#of.units);
      const isRound = asked.some(
        (amount, n) => isFee(fees[n] ?? 0n, amount.units) && ROUND.some((round) => round.test(String(fees[n]))),
      );
      const isHalf = asked.some(({ units }) => units === 2n * this.#of.units || 2n * units === this.#of.units);
      const isLess =
        (worth !== null && isFee(each.expectedMicros - worth, each.expectedMicros)) ||
        asked.some((amount, n) => isFee(fees[n] ?? 0n, amount.units));
      return this.#isWithin(each, 2n) || isHalf || isRound || (isMuch && isLess);
    });
  }

  /** The invoice's amounts in the transfer's coin. */
  #own({ amounts }: InvoiceFact): readonly AmountFact[] {
    return amounts.filter(({ coin }) => coin === this.#of.coin);
  }

  #isInWindow({ heldUntilMs }: InvoiceFact, { sinceMs }: AmountFact): boolean {
    return sinceMs - SLACK_MS <= this.#of.paidMs && this.#of.paidMs <= heldUntilMs;
  }

  #exactly(invoice: InvoiceFact): readonly AmountFact[] {
    return this.#own(invoice).filter((each) => each.units === this.#of.units && this.#isInWindow(invoice, each));
  }

  /** The invoices for which exactly this amount is still reserved. */
  #exact(): readonly InvoiceFact[] {
    return this.#of.invoices.filter((each) => this.#exactly(each).some(({ isReleased }) => !isReleased));
  }

  #isReleasedExact(invoice: InvoiceFact): boolean {
    return this.#exactly(invoice).some(({ isReleased }) => isReleased);
  }

  #isSure(invoice: InvoiceFact): boolean {
    return this.#exactly(invoice).some(({ sinceMs }) => sinceMs <= this.#endOfSecondMs);
  }

  #since(invoice: InvoiceFact): number {
    return Math.min(...this.#exactly(invoice).map(({ sinceMs }) => sinceMs));
  }

  #isOpen({ expiresMs, cancelledMs }: InvoiceFact): boolean {
    return this.#of.paidMs <= expiresMs && (cancelledMs === null || this.#of.paidMs < cancelledMs);
  }

  /** Whether the invoice was open and asked for a nearby amount that is still reserved for it. */
  #isOpenWith(invoice: InvoiceFact): boolean {
    return this.#isOpen(invoice) && this.#nearby(invoice).some((each) => this.#isInWindow(invoice, each));
  }

  #wasAsking(invoice: InvoiceFact, isWhole: boolean): boolean {
    return this.#held(invoice, isWhole).some(({ sinceMs }) => sinceMs <= this.#endOfSecondMs);
  }

  #nearby(invoice: InvoiceFact): readonly AmountFact[] {
    const { units } = this.#of;
    return this.#own(invoice).filter(
      (each) => !each.isReleased && each.units <= units * FARTHEST && each.units >= units / FARTHEST,
    );
  }

  /** Invoices that asked for exactly this amount, or for one that is at most 32 times as large or as small. */
  #candidates(): readonly InvoiceFact[] {
    return this.#of.invoices.filter((each) => this.#held(each, true).length > 0);
  }

  /** The amounts of an invoice that count: the exact one, the nearest one that it asked for while open, and the nearest other one. */
  #held(invoice: InvoiceFact, isWhole: boolean): readonly AmountFact[] {
    const exact = this.#exactly(invoice).filter(({ isReleased }) => isWhole || !isReleased);
    if (!isWhole) return exact;
    const isAsked = (each: AmountFact) => this.#isOpen(invoice) && this.#isInWindow(invoice, each);
    const nearby = this.#nearby(invoice);
    const nearest = [nearby.filter(isAsked), nearby.filter((each) => !isAsked(each))].flatMap(
      (some) => some.toSorted((a, b) => this.#compareDistance(a, b))[0] ?? [],
    );
    return [...exact, ...nearest];
  }

  #compareDistance(a: AmountFact, b: AmountFact): number {
    const { units } = this.#of;
    const apart = (each: AmountFact) => (each.units > units ? each.units - units : units - each.units);
    const [left, right] = [apart(a) * b.units, apart(b) * a.units];
    return left < right ? -1 : Number(left > right);
  }

  /** How many open invoices of that rank or a better one asked for any amount of this coin that is still reserved. */
  #openTo(rank: number): number {
    return this.#of.invoices.filter(
      (each) =>
        each.rank <= rank &&
        this.#isOpen(each) &&
        this.#own(each).some((amount) => !amount.isReleased && this.#isInWindow(each, amount)),
    ).length;
  }

  /** Whether an open invoice's amount was released, or the payment is so old that released amounts are no longer known. */
  #hasReleased(): boolean {
    const { invoices, paidMs, nowMs } = this.#of;
    const hasGone = (each: InvoiceFact) =>
      this.#isOpen(each) && this.#own(each).some((amount) => amount.isReleased && this.#isInWindow(each, amount));
    return paidMs < nowMs - KEPT_MS || invoices.some(hasGone);
  }

  /**
   * The transfer's value by the quote for exactly these units; else by the quote in force; else by the first quote if the transfer came before it, or
   * by the last one if that has just ended; else at the market price of 1.
   */
  worthTo(invoice: InvoiceFact): bigint {
    const { units, paidMs, owner, coin } = this.#of;
    const asked =
      invoice === owner
        ? [{ coin, units: 100_000_000n, sinceMs: owner.openedMs, isReleased: false }]
        : this.#own(invoice);
    const quotes = asked.map((each, n) => {
      const nextMs = (asked[n + 1]?.sinceMs ?? Number.POSITIVE_INFINITY) - 1;
      return { units: each.units, fromMs: each.sinceMs, endMs: Math.min(invoice.expiresMs, nextMs) };
    });
    const meant = quotes.filter(
      ({ fromMs, endMs }) => fromMs - QUOTE_SLACK_MS <= paidMs && paidMs <= endMs + QUOTE_SLACK_MS,
    );
    const inForce = quotes.findLast(({ fromMs, endMs }) => fromMs <= paidMs && paidMs <= endMs);
    const ended = quotes.findLast(({ endMs }) => endMs < paidMs);
    const [first] = quotes;
    const early = first !== undefined && paidMs < first.fromMs ? first : undefined;
    const late = ended !== undefined && meant.includes(ended) ? ended : undefined;
    const by = meant.find((quote) => quote.units === units) ?? inForce ?? early ?? late;
    return by === undefined ? units : (invoice.expectedMicros * units) / by.units;
  }

  #worth(invoice: InvoiceFact): bigint | null {
    return invoice.damage === "quotes" ? null : this.worthTo(invoice);
  }

  #isWithin(invoice: InvoiceFact, times: bigint): boolean {
    const worth = this.#worth(invoice);
    const { expectedMicros, toleranceMicros, overMicros } = invoice;
    return (
      worth !== null &&
      worth >= expectedMicros - times * toleranceMicros &&
      worth <= expectedMicros + times * overMicros
    );
  }

  #isOfItsSize(invoice: InvoiceFact): boolean {
    const worth = this.#worth(invoice);
    return worth !== null && worth * 10n >= invoice.expectedMicros && worth <= invoice.expectedMicros * 2n;
  }
}

interface Among {
  readonly candidates: readonly InvoiceFact[];
  readonly live: readonly InvoiceFact[];
  readonly exact: readonly InvoiceFact[];
  readonly isWhole: boolean;
}

function reasons({ candidates, live }: Among, meant: readonly InvoiceFact[]): readonly Refused[] {
  const of = (reason: Reason, isIt: (each: InvoiceFact) => boolean) =>
    byId(candidates.filter(isIt)).map(because(reason));
  const isMeant = (each: InvoiceFact) => meant.includes(each);
  return [
    ...of("AMBIGUOUS", isMeant),
    ...of("AMOUNT_DIFFERS", (each) => !isMeant(each) && live.includes(each)),
    ...of("OUTSIDE_WINDOW", (each) => !isMeant(each) && !live.includes(each)),
  ];
}

const byId = (invoices: readonly InvoiceFact[]) => invoices.toSorted((a, b) => (a.id < b.id ? -1 : 1));
