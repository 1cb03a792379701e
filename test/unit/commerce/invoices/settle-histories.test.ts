// However often watchers observe an invoice's payments, the invoice must end in the same state as if they were observed once, at the end. A watcher
// here applies two rules in the service's order, and stores each outcome: `paymentAfter` to its observation, then `settle`. Only the earliest time at
// which a payment was seen, in a mempool or in a block that was orphaned later, depends on the watcher (decisions 4, "As of the payment's time"). So
// all times of a generated payment are in a range in which the exact time does not matter.
import { expect, it } from "vitest";
import {
  type ChainObservation,
  type ObservationContext,
  paymentAfter,
} from "../../../../src/commerce/payments/chain-observation.ts";
import type { Payment } from "../../../../src/commerce/payments/payment.ts";
import { type InvoiceFacts, settle } from "../../../../src/commerce/settlement/status.ts";
import type { PricedMethod } from "../../../../src/commerce/settlement/value.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";
import { Dice } from "../../../support/dice.ts";
import {
  asked,
  asking,
  BTC,
  cursorAt,
  E,
  EXPIRES,
  factsOf,
  MONITOR_UNTIL,
  OVER,
  stored,
  TOL,
  USDT,
} from "../../../support/invoice-facts.ts";
import { BITCOIN, ETHEREUM, firstSeen, PAID_INVOICE, transferOf } from "../../../support/payment-facts.ts";
import { triesOf } from "../../../support/property-runs.ts";

const HISTORIES = triesOf({ usual: 20_000, deep: 500_000 });
const END = 3_000_000;
const QUOTED_AGAIN = EXPIRES / 2;
const LOCKED_UNTIL = EXPIRES - 200_000;
const GRACE = EXPIRES + 300_000;
const SLACK = USDT.slackMs;
/** The same asset is first quoted at half the units. No third quote is requested when the second one ends. */
const REQUOTED = { ...USDT, quotes: [asked(E / 2n, 0, QUOTED_AGAIN), asked(E, QUOTED_AGAIN, LOCKED_UNTIL)] };
/** Within each of these ranges, the exact time of a payment does not change the result. */
const SIDES = [
  [0, QUOTED_AGAIN - 1 - SLACK],
  [QUOTED_AGAIN - SLACK, QUOTED_AGAIN - 1],
  [QUOTED_AGAIN, QUOTED_AGAIN - 1 + SLACK],
  [QUOTED_AGAIN + SLACK, LOCKED_UNTIL],
  [LOCKED_UNTIL + 1, LOCKED_UNTIL + SLACK],
  [LOCKED_UNTIL + SLACK + 1, EXPIRES],
  [EXPIRES + 1, GRACE],
  [GRACE + 1, MONITOR_UNTIL],
  [MONITOR_UNTIL + 1, END],
] as const;
/** The last two observations: one with all transactions mined, and one after missing payments count as dropped. */
const LAST_LOOKS = [END, END + 100 * HOUR_MS];

/** What the chain shows about a payment from `sinceMs` on. Before its first turn, the payment does not exist. */
interface Turn {
  readonly sinceMs: number;
  readonly observation: ChainObservation;
}

interface Story {
  readonly asset: typeof USDT;
  readonly amountUnits: bigint;
  readonly turns: readonly Turn[];
}

interface History {
  readonly stories: readonly Story[];
  readonly invoice: Partial<InvoiceFacts["invoice"]>;
  readonly cancelledAtMs: number | null;
  readonly acceptedAtMs: number | null;
  readonly lagMs: number;
}

const SHARES = [1n, E / 3n, E / 2n, E - TOL - 1n, E - TOL, E, E + OVER, E + OVER + 1n, 3n * E];

function historyOf(dice: Dice): History {
  const isAnyAmount = dice.chance(0.1);
  return {
    stories: Array.from({ length: dice.between(1, 4) }, () => storyOf(dice)),
    invoice: {
      latePaymentPolicy: dice.oneOf(["REVIEW", "ACCEPT"] as const),
      lateGraceUntilMs: dice.oneOf([null, GRACE]),
      ...(isAnyAmount && { amountMicros: 0n, underpaidToleranceMicros: 0n, overpaidToleranceMicros: 0n }),
    },
    cancelledAtMs: dice.chance(0.1) ? dice.below(EXPIRES) : null,
    acceptedAtMs: dice.chance(0.1) ? dice.below(END) : null,
    lagMs: dice.oneOf([0, 0, dice.below(500_000)]),
  };
}

/** A transaction that is broadcast, mined, orphaned, mined in another block, replaced or forgotten, in any order. */
function storyOf(dice: Dice): Story {
  const [least, most] = dice.oneOf(SIDES);
  const asset = dice.oneOf([USDT, BTC]);
  const moments = Array.from({ length: dice.between(1, 6) }, () => dice.between(least, most)).toSorted((a, b) => a - b);
  const turns = moments.map((sinceMs, i): Turn => {
    const isLast = i === moments.length - 1;
    const kind = dice.oneOf(["mined", "mined", "mined", "pending", "unknown", "replaced"] as const);
    const isShown = kind !== "pending" || (asset === BTC && !isLast);
    if (kind !== "mined" && isShown) return { sinceMs, observation: { kind } };
    const block = { height: dice.between(90, 100), hash: `block-${i}`, timeMs: dice.between(least, sinceMs) };
    return { sinceMs, observation: { kind: "mined", block } };
  });
  // The last turn is never `pending`, because the watcher would then determine when the payment was first seen in a mempool.
  return { asset, amountUnits: asset === USDT ? dice.oneOf(SHARES) : BigInt(dice.between(1, 450_000)), turns };
}

/** One observation: which payments, when, and through which kind of source. */
interface Look {
  readonly atMs: number;
  readonly stories: readonly number[];
  /** Whether the source may report something false about a payment, or a tip that is too low. */
  readonly isLying?: boolean;
}

type Pattern = (history: History, dice: Dice) => readonly Look[];

const all = ({ stories }: History) => stories.map((_, n) => n);
const steps = ({ stories }: History) => stories.flatMap(({ turns }) => turns.map(({ sinceMs }) => sinceMs));
const moments = (dice: Dice) => Array.from({ length: dice.below(10) }, () => dice.below(END));

const PATTERNS: Readonly<Record<string, Pattern>> = {
  "at every change, and just before it": (history) =>
    steps(history).flatMap((atMs) => [atMs - 1, atMs].map((each) => ({ atMs: each, stories: all(history) }))),
  "at any moments": (history, dice) => moments(dice).map((atMs) => ({ atMs, stories: all(history) })),
  "at a steady pace, twice each time": (history) =>
    Array.from({ length: 24 }, (_, n) => ({ atMs: Math.floor(n / 2) * (END / 12), stories: all(history) })),
  "one payment at a time, in any order": (history, dice) =>
    [...moments(dice), ...steps(history)].map((atMs) => ({ atMs, stories: [dice.below(history.stories.length)] })),
  "through sources that forget, lag and lie": (history, dice) =>
    [...moments(dice), ...steps(history)].map((atMs) => ({ atMs, stories: all(history), isLying: true })),
  "only around the moments that decide, newest payment first": (history) =>
    [...SIDES.flat(), EXPIRES + 1, MONITOR_UNTIL + 2].map((atMs) => ({ atMs, stories: all(history).reverse() })),
};

/** What the chain shows about a payment at a time; undefined before it was broadcast. */
function truthAt({ turns }: Story, atMs: number): ChainObservation | undefined {
  return turns.findLast(({ sinceMs }) => sinceMs <= atMs)?.observation;
}

function lieOf(truth: ChainObservation, dice: Dice): ChainObservation {
  // Never `pending`: the time of that false observation would count as the time when the payment was first seen.
  const lies: readonly ChainObservation[] = [truth, { kind: "unknown" }, { kind: "replaced" }];
  return dice.oneOf(lies);
}

function replay(history: History, looks: readonly Look[], dice: Dice) {
  const { stories, lagMs } = history;
  const isAnyAmount = history.invoice.amountMicros === 0n;
  const lateGrace = history.invoice.lateGraceUntilMs === null ? undefined : { endMs: EXPIRES, untilMs: GRACE };
  const methods = (isAnyAmount ? [asking(USDT, null, 0n), asking(BTC, null, 0n)] : [REQUOTED, BTC]).map((method) => ({
    ...method,
    lateGrace,
  }));
  const payments: (Payment | undefined)[] = stories.map(() => undefined);
  let facts = factsOf(history.invoice, { methods });
  let isForReview = false;
  const lastLooks = LAST_LOOKS.map((atMs) => ({ atMs, stories: all(history), isLying: false }));
  for (const look of [...looks.toSorted((a, b) => a.atMs - b.atMs), ...lastLooks]) {
    const { atMs: nowMs } = look;
    for (const n of look.stories) payments[n] = seen(stories[n] as Story, payments[n], { look, n, dice });
    const cancelledAtMs =
      history.cancelledAtMs !== null && history.cancelledAtMs <= nowMs ? history.cancelledAtMs : null;
    const isAccepted = history.acceptedAtMs !== null && history.acceptedAtMs <= nowMs;
    facts = {
      ...facts,
      invoice: { ...facts.invoice, cancelledAtMs },
      methods: methods.map((method) => knownAt(method, nowMs)),
      resolution: isAccepted ? { action: "ACCEPT" } : null,
      watches: [cursorAt(nowMs - lagMs, nowMs)],
    };
    const credited = payments.flatMap((payment) => (payment === undefined ? [] : [payment]));
    const asFacts = credited.map((payment) => ({ ...payment, reorgWindowMs: 3_600_000 }));
    const after = stored(facts, asFacts, settle(facts, asFacts, nowMs));
    facts = after.facts;
    const marks = new Map(after.payments.map(({ id, isLate }) => [id, isLate]));
    for (const [n, payment] of payments.entries()) {
      const isLate = payment === undefined ? false : (marks.get(payment.id) ?? false);
      if (payment !== undefined && payment.isLate !== isLate) payments[n] = { ...payment, isLate };
    }
    isForReview ||= facts.invoice.needsReview;
  }
  const { status, receivedMicros, confirmedMicros, isLate } = facts.invoice;
  return {
    invoice: { status, receivedMicros, confirmedMicros, isLate },
    // A payment that disappeared before the first observation is never recorded, and counts like one that was recorded and then disappeared.
    payments: payments.map((payment) => (payment === undefined || isGone(payment) ? "gone" : shownOf(payment))),
    isForReview,
  };
}

/** The method with the quotes that were requested by `nowMs`. A later quote may price a payment that was read before the quote was requested. */
function knownAt(method: PricedMethod, nowMs: number): PricedMethod {
  return { ...method, quotes: method.quotes.filter(({ askedFromMs }) => askedFromMs <= nowMs) };
}

function isGone({ status }: Payment): boolean {
  return status === "REORGED" || status === "DROPPED";
}

function shownOf({ status, blockHash, blockTimeMs, isLate, finalAtMs }: Payment) {
  return { status, blockHash, blockTimeMs, isLate, isFinal: finalAtMs !== null };
}

function seen(
  story: Story,
  payment: Payment | undefined,
  { look, n, dice }: { readonly look: Look; readonly n: number; readonly dice: Dice },
): Payment | undefined {
  const truth = truthAt(story, look.atMs);
  if (truth === undefined) return payment;
  const observation = look.isLying === true ? lieOf(truth, dice) : truth;
  const tipHeight = look.isLying === true ? dice.between(85, 110) : 110;
  const context: ObservationContext = {
    network: story.asset === BTC ? BITCOIN : ETHEREUM,
    heights: { tipHeight, finalizedHeight: story.asset === BTC ? null : tipHeight - 8 },
    nowMs: look.atMs,
    mayConfirm: look.isLying !== true || dice.chance(0.5),
  };
  if (payment !== undefined) return paymentAfter(payment, observation, context);
  if (observation.kind === "unknown" || observation.kind === "replaced") return undefined;
  const { cryptocurrency } = story.asset;
  return firstSeen(context, {
    id: makeId("pay", String(n).padStart(26, "0")),
    transfer: transferOf({
      cryptocurrency,
      txHash: `tx-${n}`,
      amountUnits: story.amountUnits,
      block: observation.kind === "mined" ? observation.block : null,
    }),
    // The market rate at the first observation would also depend on the watcher, so it is constant, and differs from every quote's rate.
    placement: {
      kind: "CREDITED",
      invoiceId: PAID_INVOICE,
      matchedBy: "ADDRESS",
      marketMicros: 3n * story.amountUnits,
    },
  });
}

const patterns = Object.entries(PATTERNS);

it(`an invoice ends in the same state however often it is observed, in ${HISTORIES} random histories and ${patterns.length} patterns of observation`, () => {
  const ends = new Map<string, number>();
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const history = historyOf(new Dice(seed));
    const once = replay(history, [], new Dice(seed));
    ends.set(once.invoice.status, (ends.get(once.invoice.status) ?? 0) + 1);
    for (const [i, [name, pattern]] of patterns.entries()) {
      const dice = new Dice(seed * 10 + i);
      const often = replay(history, pattern(history, dice), dice);
      const isSame = text(often.invoice) === text(once.invoice) && text(often.payments) === text(once.payments);
      // Several observations may request a review where a single one does not, but not vice versa.
      if (isSame && (often.isForReview || !once.isForReview)) continue;
      expect(often, `seed ${seed}, looked at ${name}`).toEqual(once);
      throw new Error(`seed ${seed}, looked at ${name}: needsReview was lost`);
    }
  }
  // Every final status must be reached; an open invoice would mean that its history has not ended.
  expect([...ends.keys()].toSorted()).toEqual(["CANCELLED", "EXPIRED", "OVERPAID", "PAID", "UNDERPAID"]);
  for (const [status, times] of ends) expect(times, status).toBeGreaterThan(HISTORIES / 50);
}, 14_400_000);

function text(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}` : each));
}
