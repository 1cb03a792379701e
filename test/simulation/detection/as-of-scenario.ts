// Generates a history from its seed: one to three invoices, one to four quotes each, and one to four transfers. It includes what makes them hard to
// value: moving prices, the same units requested again, payments under old quotes, partial payments, cancellations, orphaned blocks and late
// payments.
import { makeId } from "../../../src/lib/ids.ts";
import { Dice } from "../../support/dice.ts";
import {
  type Asked,
  type BlockFact,
  CHAINS,
  DAY,
  type History,
  HOUR,
  heldUntilMs,
  type InvoiceFact,
  MINUTE,
  mayMeetRest,
  monitorUntilMs,
  quoteSlackMs,
  SECOND,
  SHARED_ADDRESS,
  START_MS,
  type TransferFact,
} from "./as-of-facts.ts";
import { isKnowable } from "./as-of-knowable.ts";
import { expectedOf, type Quote, quotesOf } from "./as-of-oracle.ts";
import { withPossibleCancels, withReaders } from "./as-of-possible.ts";
import { Tally } from "./as-of-tally.ts";

/**
 * Rare situations, which a campaign would need thousands of drafts to cover often enough (as-of-tally.ts). The remainder of the seed decides whether
 * a history is the first draft, or the first of several drafts with a situation from one of these lists.
 */
const RARE: readonly (readonly string[])[] = [
  [],
  [
    "paid: with nothing to price it",
    "ended: PENDING_CONFIRMATION",
    "clock: a new address paid in a block older than its invoice",
  ],
  [
    "paid: an amount that two ranks hold, to nobody",
    "paid: by rank, within tolerance",
    "paid: an old amount while a new one stands",
    "clock: paid in time in a block that says late",
    "paid: by rank, exact",
  ],
];
const DRAFTS = 12;

/** The history of a seed. Drafts in which a payer or merchant did something impossible are skipped. */
export function historyOf(seed: number): History {
  const dice = new Dice(seed);
  const wanted = RARE[seed % RARE.length] ?? [];
  for (let others = wanted.length === 0 ? 0 : DRAFTS; ; others--) {
    const history = possibleHistory(dice, seed);
    if (others === 0 || holdsOneOf(wanted, history)) return history;
  }
}

function holdsOneOf(wanted: readonly string[], history: History): boolean {
  const tally = new Tally();
  tally.history(history, expectedOf(history));
  return wanted.some((name) => tally.hits.has(name));
}

function possibleHistory(dice: Dice, seed: number): History {
  for (;;) {
    const draft = new Draft(dice, seed).history();
    // A transfer without a rate may belong to another invoice, so that invoice cannot have been cancelled before.
    if (draft === undefined) continue;
    const unpriced = withPossibleCancels(withoutRate(draft));
    return unpriced.transfers.every((transfer) => isKnowable(unpriced, transfer)) ? unpriced : draft;
  }
}

type Kind = History["kind"];

/** Removes the market rate of the moment when a transfer is first seen. This is done only to a single transfer that no reader's rate could value. */
function withoutRate(history: History): History {
  const [only, ...others] = history.transfers;
  const isAlone = only !== undefined && others.length === 0 && !history.isAskedByReaders && only.readByMs === null;
  if (!isAlone || !new Dice(history.seed + 1_000_000_007).chance(0.8)) return history;
  return { ...history, transfers: [{ ...only, sightRate: null }] };
}

/** An invoice that asks for certain units, from `atMs` on. */
type Held = Pick<InvoiceFact, "id" | "rank" | "merchant"> & { readonly atMs: number };

/** The number of payments, and whether they come long after the quote. */
const WANTED = [
  { wanted: 1, isLate: true },
  { wanted: 1, isLate: false },
  { wanted: 1, isLate: false },
  { wanted: 3, isLate: false },
  { wanted: 4, isLate: false },
  { wanted: 5, isLate: false },
  { wanted: 5, isLate: false },
];

/** How far the clock of a Bitcoin miner may be behind: the median of the last eleven blocks is an hour old. */
const BEHIND = [21 * MINUTE, 40 * MINUTE, HOUR];

class Draft {
  readonly #dice: Dice;
  readonly #seed: number;
  readonly #kind: Kind;
  readonly #invoices: InvoiceFact[] = [];
  readonly #transfers: TransferFact[] = [];
  /**
   * Which invoices ask for which units at the shared address. Two invoices of one rank or one merchant never ask for the same units, none asks for
   * units that a higher rank already has, and a requote does not touch reserved amounts. Invoices are drawn one after another, so a higher rank also
   * avoids units that a lower one will ask for.
   */
  readonly #held = new Map<bigint, Held[]>();
  /** A separate source of randomness, so that drawing ranks does not change other draws. */
  readonly #rankDice: Dice;
  readonly #clockDice: Dice;
  readonly #ownDice: Dice;
  readonly #ranks: readonly [2 | 3, 2 | 3];
  #isSalted = false;

  constructor(dice: Dice, seed: number) {
    this.#dice = dice;
    this.#seed = seed;
    this.#kind = dice.chance(0.5) ? "own" : "shared";
    this.#rankDice = new Dice(seed + 2_000_000_011);
    this.#clockDice = new Dice(seed + 4_000_000_007);
    this.#ownDice = new Dice(seed + 6_000_000_011);
    this.#ranks = this.#rankDice.oneOf([
      [3, 3],
      [2, 3],
      [3, 2],
      [3, 2],
      [3, 2],
    ] as const);
  }

  history(): History | undefined {
    const dice = this.#dice;
    const invoices = this.#kind === "own" ? dice.oneOf([1, 1, 1, 2]) : dice.oneOf([1, 2, 2, 2, 3]);
    for (let n = 0; n < invoices; n++) this.#open(n);
    // A lone payment may have no rate. This is drawn more often if it has no quote either.
    const { wanted, isLate } = dice.oneOf(WANTED);
    while (this.#transfers.length < wanted) this.#transfers.push(this.#pay(dice.oneOf(this.#invoices), isLate));
    const ends = this.#invoices.map(monitorUntilMs);
    const seen = this.#transfers.flatMap(({ pendingMs, blocks }) => [
      pendingMs ?? 0,
      ...blocks.flatMap(({ visibleMs, goneMs }) => [visibleMs, goneMs ?? 0]),
    ]);
    const history: History = {
      seed: this.#seed,
      kind: this.#kind,
      invoices: this.#invoices,
      transfers: this.#transfers,
      isAskedByReaders: false,
      endMs: Math.max(...ends, ...seen) + 10 * DAY,
    };
    const cancelled = withPossibleCancels(history);
    // With readers, the service itself chooses which free amount to use.
    const possible = !this.#isSalted && dice.chance(0.5) ? withReaders(cancelled) : cancelled;
    return !mayMeetRest(history) && possible.transfers.every((transfer) => isKnowable(possible, transfer))
      ? possible
      : undefined;
  }

  #open(n: number): void {
    const dice = this.#dice;
    const isShared = this.#kind === "shared";
    const openedMs = START_MS + (n === 0 ? 0 : dice.oneOf([1, 1, 19_001, 31_001, 10 * MINUTE, HOUR + 7, 3 * HOUR]));
    const lockSeconds = dice.oneOf([300, 900, 3_600]);
    const expiresAtMs = openedMs + dice.oneOf([lockSeconds * SECOND, 2 * HOUR, 6 * HOUR, DAY]);
    const drawnMicros = this.#expectedMicros();
    const merchant = isShared && n % 2 === 1 ? 1 : 0;
    // Both merchants have the same price, so that the one with proof may get an amount that is reserved for the other.
    const first = isShared && n === 1 && this.#rankDice.chance(0.9) ? this.#invoices[0] : undefined;
    const expectedMicros = first?.expectedMicros ?? drawnMicros;
    const isExacting = dice.chance(0.1);
    const blank: InvoiceFact = {
      id: makeId("inv", String(n).padStart(26, "0")),
      merchant,
      rank: this.#ranks[merchant],
      address: isShared ? SHARED_ADDRESS : `bc1qasof${n}`,
      expectedMicros,
      openedMs,
      expiresAtMs,
      lockSeconds,
      underpaidToleranceMicros: isExacting ? 0n : expectedMicros / 100n,
      overpaidToleranceMicros: isExacting ? 0n : expectedMicros / 20n,
      latePaymentPolicy: dice.oneOf(["REVIEW", "ACCEPT"] as const),
      monitorSeconds: dice.oneOf([3_600, 86_400]),
      cancelledAtMs: null,
      asked: [],
    };
    const drawnRate = String(isShared ? dice.between(1_500, 3_000) : dice.between(40_000, 70_000));
    const rate = first?.asked[0]?.rate ?? drawnRate;
    let invoice = this.#asking(blank, { atMs: openedMs, rate, forMicros: expectedMicros });
    for (let more = dice.oneOf([0, 1, 1, 2, 3]); more > 0; more--) invoice = this.#askedAgain(invoice);
    const fate = dice.oneOf(["rest", "cancelled", "plain"] as const);
    if (fate === "rest") invoice = this.#withRest(invoice);
    if (fate === "cancelled") invoice = this.#cancelled(invoice);
    this.#invoices.push(invoice);
  }

  /** At a shared address amounts are often close to another invoice's amount. */
  #expectedMicros(): bigint {
    const dice = this.#dice;
    const [first] = this.#invoices;
    const near =
      first === undefined || !dice.chance(0.7) ? undefined : dice.oneOf([9_960n, 9_900n, 5_000n, 10_200n, 10_005n]);
    if (first !== undefined && near !== undefined) return (first.expectedMicros * near) / 10_000n;
    return BigInt(dice.between(20, 400)) * 1_000_000n + BigInt(dice.below(100)) * 10_000n;
  }

  #asking(invoice: InvoiceFact, of: Omit<Asked, "units">): InvoiceFact {
    const { decimals, grainUnits } = CHAINS[this.#kind];
    const wanted = ceilDiv(of.forMicros * 10n ** BigInt(decimals), BigInt(of.rate) * 1_000_000n);
    let units = ceilDiv(wanted, grainUnits) * grainUnits;
    const isTaken = () =>
      (this.#held.get(units) ?? []).some(
        ({ id, rank, merchant, atMs }) =>
          id !== invoice.id &&
          (rank <= invoice.rank || merchant === invoice.merchant || atMs >= of.atMs || invoice.asked.length > 0),
      );
    while (this.#kind === "shared" && isTaken()) {
      units -= grainUnits;
      this.#isSalted = true;
    }
    if (this.#kind === "shared")
      this.#held.set(units, [...(this.#held.get(units) ?? []), { ...invoice, atMs: of.atMs }]);
    return { ...invoice, asked: [...invoice.asked, { ...of, units }] };
  }

  /** Draws a reading after the lock: soon enough to extend the same units, or too late, or long after. */
  #askedAgain(invoice: InvoiceFact): InvoiceFact {
    const dice = this.#dice;
    const last = invoice.asked.at(-1);
    if (last === undefined) throw new Error("nothing was asked");
    const gaps = [1, 30 * SECOND, 119_999, 120_000, 120_001, 5 * MINUTE, 20 * MINUTE, 20 * MINUTE + 1, HOUR, 3 * HOUR];
    const atMs = last.atMs + invoice.lockSeconds * SECOND + dice.oneOf(gaps);
    if (atMs > invoice.expiresAtMs) return invoice;
    return this.#asking(invoice, { atMs, rate: this.#nextRate(last.rate), forMicros: last.forMicros });
  }

  /** Pays part of the invoice while its last quote is in force. The remaining amount is requested only after that quote has ended. */
  #withRest(invoice: InvoiceFact): InvoiceFact {
    const dice = this.#dice;
    const quote = quotesOf(invoice).at(-1);
    const last = invoice.asked.at(-1);
    if (quote === undefined || last === undefined) throw new Error("nothing was asked");
    const units = grains(this.#kind, (quote.units * BigInt(dice.between(300, 700))) / 1_000n);
    // The payment comes after the last reading, which would otherwise have asked for the rest.
    const timeMs = last.atMs + dice.between(1, Math.max(1, (quote.endMs - last.atMs) / 2));
    const readByMs = timeMs + MINUTE;
    const atMs = Math.max(readByMs, quote.endMs) + dice.oneOf([1, MINUTE, 3 * MINUTE, HOUR]);
    if (atMs > invoice.expiresAtMs) return invoice;
    const block = { height: this.#height(), hash: this.#hash("p"), timeMs, visibleMs: timeMs, goneMs: null };
    const { address } = invoice;
    const seen = { pendingMs: null, sightRate: this.#nextRate(last.rate), readFromMs: 0, readByMs };
    this.#transfers.push({ txHash: this.#txHash(), address, units, isOwnMoney: false, blocks: [block], ...seen });
    const forMicros = invoice.expectedMicros - (quote.forMicros * units) / quote.units;
    return this.#asking(invoice, { atMs, rate: this.#nextRate(last.rate), forMicros });
  }

  #cancelled(invoice: InvoiceFact): InvoiceFact {
    const dice = this.#dice;
    const ends = quotesOf(invoice).map(({ endMs }) => endMs);
    const spanMs = invoice.expiresAtMs - invoice.openedMs;
    const around =
      dice.oneOf([...ends, invoice.openedMs + dice.below(spanMs)]) + dice.oneOf([-61_003, 3, 61_003, 1_800_003]);
    const cancelledAtMs = Math.min(Math.max(around, invoice.openedMs + 3), invoice.expiresAtMs - 3);
    return { ...invoice, cancelledAtMs, asked: invoice.asked.filter(({ atMs }) => atMs < cancelledAtMs) };
  }

  #pay(invoice: InvoiceFact, isLate: boolean): TransferFact {
    const dice = this.#dice;
    const quotes = quotesOf(invoice);
    const quote = dice.chance(0.35) ? quotes.at(-1) : dice.oneOf(quotes);
    if (quote === undefined) throw new Error("nothing was asked");
    const isExact = !isLate && dice.chance(this.#kind === "own" ? 0.6 : 0.45);
    const [drawnMs, aheadMs] = this.#momentAndClock(invoice, quote, isExact);
    const timeMs = isLate ? Math.max(drawnMs, quote.endMs + dice.between(HOUR, 4 * HOUR)) : drawnMs;
    const units = isExact ? quote.units : this.#unitsNear(quote.units);
    const isPending = this.#kind === "own" && dice.chance(0.35);
    const pendingMs = isPending ? Math.max(timeMs, quote.askedFromMs) : null;
    const shownMs = Math.max(timeMs, quote.askedFromMs) + (isPending ? 1 : 0);
    const isMined = pendingMs === null || dice.chance(0.65);
    const sightRate = this.#nextRate(invoice.asked.find(({ atMs }) => atMs === quote.askedFromMs)?.rate ?? "1");
    return {
      txHash: this.#txHash(),
      address: invoice.address,
      units,
      isOwnMoney: this.#ownDice.chance(0.06),
      pendingMs,
      sightRate,
      readFromMs: 0,
      readByMs: null,
      blocks: isMined
        ? this.#blocks({ madeMs: timeMs + (isPending ? dice.oneOf([-30_000, 600_000, HOUR]) : 0), shownMs, aheadMs })
        : [],
    };
  }

  /** The time of the payment, and how far the miner's clock was ahead of it. At a new address the block's time is sometimes before the invoice. */
  #momentAndClock(invoice: InvoiceFact, quote: Quote, isExact: boolean): readonly [timeMs: number, aheadMs: number] {
    const dice = this.#clockDice;
    const paidMs = this.#momentAround(invoice, quote, isExact);
    const isOwn = this.#kind === "own";
    if (isOwn && dice.chance(0.06)) return [invoice.openedMs + dice.below(20 * MINUTE), -dice.oneOf(BEHIND)];
    if (!dice.chance(0.25)) return [paidMs, 0];
    return [
      paidMs,
      isOwn
        ? dice.oneOf([16 * MINUTE, HOUR, 2 * HOUR, ...BEHIND.map((ms) => -ms)])
        : dice.oneOf([1, 4 * SECOND, 15 * SECOND]),
    ];
  }

  /**
   * Draws the time: usually while the quote is in force, otherwise at and around the edges, long after, or late. A block's time is at most slightly
   * before the invoice that it pays.
   */
  #momentAround(invoice: InvoiceFact, { askedFromMs, endMs }: Quote, isExact: boolean): number {
    const dice = this.#dice;
    const slackMs = quoteSlackMs(this.#kind);
    const earliest = this.#kind === "own" ? slackMs : 24 * SECOND;
    const next = quotesOf(invoice).find((other) => other.askedFromMs >= endMs && endMs > askedFromMs);
    const within = () => askedFromMs + dice.below(Math.max(1, endMs - askedFromMs));
    if (isExact && dice.chance(0.12)) return askedFromMs - dice.oneOf([1, 12 * SECOND, earliest]);
    const isNextNear = next !== undefined && next.askedFromMs - endMs < slackMs;
    if (isNextNear && dice.chance(0.85)) return next.askedFromMs + dice.below(90 * SECOND);
    return dice.oneOf([
      within,
      within,
      within,
      within,
      () => endMs + dice.oneOf([-1, 0, 1, 30 * SECOND, 119 * SECOND]),
      () => endMs + dice.oneOf([slackMs - 1, slackMs, slackMs + 1]),
      () => endMs + dice.between(slackMs, 4 * HOUR),
      () => invoice.expiresAtMs + dice.oneOf([-1, 0, 1, 90 * SECOND, HOUR]),
      () => (this.#kind === "own" ? monitorUntilMs(invoice) : heldUntilMs(invoice)) + dice.oneOf([-1, 0, 1]),
      () => Math.max(invoice.openedMs, (invoice.cancelledAtMs ?? endMs) + dice.oneOf([-600_000, -1, 1, 600_000])),
    ])();
  }

  #unitsNear(units: bigint): bigint {
    const dice = this.#dice;
    const permille = dice.oneOf([998, 996, 993, 985, 500, 300 + dice.below(400), 1_003, 1_030, 1_060, 1_200, 1_900]);
    return grains(this.#kind, (units * BigInt(permille)) / 1_000n);
  }

  #blocks(of: { readonly madeMs: number; readonly shownMs: number; readonly aheadMs: number }): readonly BlockFact[] {
    const dice = this.#dice;
    const delayMs = dice.oneOf([0, 0, 20 * SECOND, 5 * MINUTE]);
    // A block with a future time is seen as soon as it exists.
    const visibleMs = Math.max(of.madeMs, of.shownMs) + (of.aheadMs > 0 ? 0 : delayMs);
    const timeMs = of.aheadMs > 0 ? visibleMs + of.aheadMs : of.madeMs + of.aheadMs;
    const height = this.#height();
    const first = { height, hash: this.#hash("a"), timeMs, visibleMs, goneMs: null };
    if (!dice.chance(0.22)) return [first];
    const goneMs = visibleMs + dice.between(MINUTE, HOUR);
    const orphan = { ...first, goneMs };
    if (dice.chance(0.35)) return [orphan];
    const blockMs = CHAINS[this.#kind].blockMs;
    const againMs = timeMs + dice.oneOf([-blockMs, blockMs, 10 * MINUTE, HOUR, 5 * HOUR]);
    const again = {
      height: height + 1,
      hash: this.#hash("b"),
      timeMs: againMs,
      visibleMs: Math.max(goneMs, againMs) + 1,
    };
    return [orphan, { ...again, goneMs: null }];
  }

  #nextRate(rate: string): string {
    const dice = this.#dice;
    if (dice.chance(0.4)) return rate;
    return String(Math.round(Number(rate) * dice.oneOf([0.8, 1.25, 0.9, 1.1, 0.996, 1.004, 0.5, 2])));
  }

  #height(): number {
    return 1_000 + 10 * this.#transfers.length;
  }

  #txHash(): string {
    return `tx-${this.#transfers.length}`;
  }

  #hash(fork: string): string {
    return `${this.#height()}${fork}`;
  }
}

function ceilDiv(of: bigint, by: bigint): bigint {
  return (of + by - 1n) / by;
}

function grains(kind: Kind, units: bigint): bigint {
  const { grainUnits } = CHAINS[kind];
  return (units / grainUnits) * grainUnits;
}
