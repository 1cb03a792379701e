// Properties of `settle` for any history of an invoice. Generated payments arrive, are confirmed, dropped, reorganized away and mined again at
// another time, while invoices are cancelled and resolved, and the network is read at any times.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CreditedPayment, PAYMENT_STATUSES } from "../../../../src/commerce/payments/payment.ts";
import {
  type InvoiceFacts,
  isActive,
  isDue,
  type Settlement,
  settle,
} from "../../../../src/commerce/settlement/status.ts";
import { MAX_VALUE_MICROS } from "../../../../src/commerce/settlement/value.ts";
import { INVOICE_STATUSES, type InvoiceStatus } from "../../../../src/platform/column-values.ts";
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
  paymentOf,
  stored,
  TOL,
  USDT,
} from "../../../support/invoice-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const END = 3_000_000;
const GRACE = EXPIRES + 300_000;
const time = fc.oneof(
  fc.nat({ max: END }),
  fc.constantFrom(EXPIRES - 1, EXPIRES, EXPIRES + 1, GRACE, GRACE + 1, MONITOR_UNTIL, MONITOR_UNTIL + 1),
);
const shares = fc.constantFrom(1n, E / 3n, E / 2n, E - TOL - 1n, E - TOL, E, E + OVER, E + OVER + 1n, 3n * E);
/** The method is first quoted at half the units, and not at all for a while before the expiry. */
const REQUOTED = {
  ...USDT,
  quotes: [asked(E / 2n, 0, EXPIRES / 4), asked(E, EXPIRES / 2, (3 * EXPIRES) / 4), asked(2n * E, EXPIRES, END)],
};
/** A value in one of `oneIn` runs, otherwise null. `fc.option` works the other way round: its `freq` makes null rare. */
function seldom<T>(of: fc.Arbitrary<T>, oneIn: number): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 1, arbitrary: of }, { weight: oneIn - 1, arbitrary: fc.constant(null) });
}
const anyStatus = fc.constantFrom(...INVOICE_STATUSES);

const anyPayment = fc
  .record({
    asset: fc.constantFrom(USDT, BTC, { network: "DOGE", cryptocurrency: "DOGE" }),
    amountUnits: fc.oneof(shares, fc.bigInt(1n, 10n ** 20n), fc.bigInt(1n, 200_000n)),
    status: fc.constantFrom(...PAYMENT_STATUSES),
    receivedAtMs: time,
    reorgedAtMs: fc.option(time),
    marketMicros: fc.option(shares),
    isLate: fc.boolean(),
  })
  .map(({ asset, ...rest }) => ({ ...rest, network: asset.network, cryptocurrency: asset.cryptocurrency }));

const anyPayments = fc
  .array(anyPayment, { maxLength: 6 })
  .map((list) => list.map((payment, n) => paymentOf({ n, ...payment })));

const anyFacts = fc
  .record({
    status: anyStatus,
    amountMicros: fc.constantFrom(0n, 1n, E),
    receivedMicros: fc.constantFrom(0n, 1n, E),
    confirmedMicros: fc.constantFrom(0n, E),
    isLate: fc.boolean(),
    needsReview: fc.boolean(),
    latePaymentPolicy: fc.constantFrom("REVIEW" as const, "ACCEPT" as const),
    lateGraceUntilMs: fc.constantFrom(null, GRACE),
    cancelledAtMs: seldom(time, 4),
    closedAtMs: seldom(fc.integer({ min: EXPIRES + 1, max: END }), 4),
    action: fc.constantFrom("ACCEPT" as const, "DISMISS" as const, "RETURNED" as const, null, null, null),
    cursor: time,
    lastMovedAtMs: time,
  })
  .map(({ action, cursor, lastMovedAtMs, ...invoice }): InvoiceFacts => {
    const lateGrace = invoice.lateGraceUntilMs === null ? undefined : { endMs: EXPIRES, untilMs: GRACE };
    const priced = invoice.amountMicros === 0n ? [asking(USDT, null, 0n)] : [REQUOTED, BTC];
    const methods = priced.map((method) => ({ ...method, lateGrace }));
    const watches = [cursorAt(cursor, lastMovedAtMs), { kind: "none" as const, network: "BTC" }];
    return factsOf(invoice, { resolution: action === null ? null : { action }, methods, watches });
  });

function columnsOf({ moves, events, lateness, hasChanged, ...columns }: Settlement) {
  return columns;
}

describe("settle", () => {
  it("does not depend on the order of payments", () => {
    const shuffled = anyPayments.chain((payments) =>
      fc.tuple(fc.constant(payments), fc.shuffledSubarray(payments, { minLength: payments.length })),
    );
    fc.assert(
      fc.property(anyFacts, shuffled, time, (facts, [payments, others], nowMs) => {
        expect(settle(facts, others, nowMs)).toEqual(settle(facts, payments, nowMs));
      }),
      { numRuns: RUNS },
    );
  });

  it("changes nothing and emits no event when it runs again", () => {
    fc.assert(
      fc.property(anyFacts, anyPayments, time, (facts, payments, nowMs) => {
        const first = settle(facts, payments, nowMs);
        const after = stored(facts, payments, first);
        const second = settle(after.facts, after.payments, nowMs);
        expect(second).toEqual({ ...columnsOf(first), moves: [], events: [], lateness: [], hasChanged: false });
      }),
      { numRuns: RUNS },
    );
  });

  it("does not depend on the stored status or the stored sums", () => {
    fc.assert(
      fc.property(anyFacts, anyPayments, time, anyStatus, shares, (facts, payments, nowMs, status, receivedMicros) => {
        const other = {
          ...facts,
          invoice: { ...facts.invoice, status, receivedMicros, isLate: !facts.invoice.isLate },
        };
        expect(columnsOf(settle(other, payments, nowMs))).toEqual(columnsOf(settle(facts, payments, nowMs)));
      }),
      { numRuns: RUNS },
    );
  });

  it("moves from the stored status to the new one, and emits an event for every change", () => {
    fc.assert(
      fc.property(anyFacts, anyPayments, time, (facts, payments, nowMs) => {
        const { status, moves, events, hasChanged } = settle(facts, payments, nowMs);
        const way = [facts.invoice.status, ...moves.map(({ to }) => to)];
        expect(way.at(-1)).toBe(status);
        expect(moves.map(({ from }) => from)).toEqual(way.slice(0, -1));
        expect(new Set(way).size).toBe(way.length);
        expect(events.length > 0).toBe(hasChanged);
      }),
      { numRuns: RUNS },
    );
  });

  it("never confirms more than was received, and keeps both sums within the range that the tables store", () => {
    fc.assert(
      fc.property(anyFacts, anyPayments, time, (facts, payments, nowMs) => {
        const { receivedMicros, confirmedMicros } = settle(facts, payments, nowMs);
        expect(0n <= confirmedMicros && confirmedMicros <= receivedMicros && receivedMicros <= MAX_VALUE_MICROS).toBe(
          true,
        );
      }),
      { numRuns: RUNS },
    );
  });

  it("does not change an invoice just because time passes, unless the invoice is due", () => {
    fc.assert(
      fc.property(anyFacts, anyPayments, time, time, (facts, payments, a, b) => {
        const [beforeMs, nowMs] = [Math.min(a, b), Math.max(a, b)];
        // An invoice must not be closed before its time.
        fc.pre(facts.invoice.closedAtMs === null || facts.invoice.closedAtMs <= beforeMs);
        const after = stored(facts, payments, settle(facts, payments, beforeMs));
        const { hasChanged } = settle(after.facts, after.payments, nowMs);
        if (hasChanged) expect(isDue(after.facts.invoice, nowMs)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("matches an independent implementation of the table in decisions 4", () => {
    const units = fc.oneof(shares, fc.bigInt(0n, 2n * E));
    const input = fc.record({
      confirmed: fc.oneof(fc.constant(0n), units),
      detected: fc.oneof(fc.constant(0n), units),
      isReorged: fc.boolean(),
      isAccepted: fc.boolean(),
      isCancelled: fc.boolean(),
      isClosed: fc.boolean(),
    });
    fc.assert(
      fc.property(input, ({ confirmed, detected, isReorged, isAccepted, isCancelled, isClosed }) => {
        const nowMs = isClosed ? EXPIRES + 1 : EXPIRES;
        const payments: CreditedPayment[] = [];
        if (confirmed > 0n) payments.push(paymentOf({ n: 1, amountUnits: confirmed }));
        if (detected > 0n) payments.push(paymentOf({ n: 2, amountUnits: detected, status: "DETECTED" }));
        if (isReorged) payments.push(paymentOf({ n: 3, status: "REORGED", reorgedAtMs: nowMs - 1 }));
        const facts = factsOf(
          { cancelledAtMs: isCancelled ? 5 : null },
          { resolution: isAccepted ? { action: "ACCEPT" } : null },
        );
        const R = confirmed + detected;
        const lines: [boolean, InvoiceStatus][] = [
          [isAccepted, "PAID"],
          [isCancelled, "CANCELLED"],
          [confirmed > E + OVER, "OVERPAID"],
          [confirmed > 0n && confirmed >= E - TOL, "PAID"],
          [R > 0n && R >= E - TOL, "PENDING_CONFIRMATION"],
          [!isClosed, "AWAITING_PAYMENT"],
          [detected > 0n || isReorged, "PENDING_CONFIRMATION"],
          [confirmed > 0n, "UNDERPAID"],
          [true, "EXPIRED"],
        ];
        expect(settle(facts, payments, nowMs).status).toBe(lines.find(([holds]) => holds)?.[1]);
      }),
      { numRuns: RUNS },
    );
  });
});

/** What happened on the chain, whether observed or not. At each time a payment has one state, or does not exist yet. */
interface Sighting {
  readonly atMs: number;
  readonly state: Pick<CreditedPayment, "status" | "receivedAtMs" | "reorgedAtMs">;
}

const sighting = fc
  .record({
    atMs: time,
    status: fc.constantFrom("DETECTED", "CONFIRMED", "DROPPED", "REORGED"),
    delayMs: fc.nat({ max: 600_000 }),
  })
  .map(({ atMs, status, delayMs }): Sighting => {
    const receivedAtMs = Math.max(0, atMs - delayMs);
    return { atMs, state: { status, receivedAtMs, reorgedAtMs: status === "REORGED" ? atMs : null } } as Sighting;
  });

const history = fc.record({
  payments: fc.array(
    fc.record({
      asset: fc.constantFrom(USDT, BTC),
      amountUnits: shares,
      sightings: fc.array(sighting, { minLength: 1, maxLength: 5 }),
    }),
    { maxLength: 4 },
  ),
  latePaymentPolicy: fc.constantFrom("REVIEW" as const, "ACCEPT" as const),
  lateGraceUntilMs: fc.constantFrom(null, GRACE),
  cancelledAtMs: seldom(time, 5),
  acceptedAtMs: seldom(time, 5),
  lagMs: fc.nat({ max: 500_000 }),
  polls: fc.array(time, { maxLength: 12 }),
});
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

/** The payments on the chain at a time, as a watcher that reads everything would see them. */
function paymentsAt({ payments }: History, nowMs: number): CreditedPayment[] {
  return payments.flatMap(({ asset, amountUnits, sightings }, n) => {
    const latest = sightings
      .filter(({ atMs }) => atMs <= nowMs)
      .toSorted((a, b) => a.atMs - b.atMs)
      .at(-1);
    const { network, cryptocurrency } = asset;
    return latest === undefined ? [] : [paymentOf({ n, network, cryptocurrency, amountUnits, ...latest.state })];
  });
}

function factsAt(h: History, row: InvoiceFacts, nowMs: number): InvoiceFacts {
  const cancelledAtMs = h.cancelledAtMs !== null && h.cancelledAtMs <= nowMs ? h.cancelledAtMs : null;
  const isAccepted = h.acceptedAtMs !== null && h.acceptedAtMs <= nowMs;
  return {
    ...row,
    invoice: {
      ...row.invoice,
      cancelledAtMs,
      latePaymentPolicy: h.latePaymentPolicy,
      lateGraceUntilMs: h.lateGraceUntilMs,
    },
    resolution: isAccepted ? { action: "ACCEPT" } : null,
    watches: [cursorAt(nowMs - h.lagMs, nowMs)],
  };
}

/** Settles at each of the times and stores every outcome, as the service does. */
function replay(h: History, moments: readonly number[]) {
  let row = factsOf();
  const marks = new Map<string, boolean>();
  const lateEvents: string[] = [];
  const settlements = moments.map((nowMs) => {
    const payments = paymentsAt(h, nowMs).map((payment) => ({ ...payment, isLate: marks.get(payment.id) ?? false }));
    const facts = factsAt(h, row, nowMs);
    const settlement = settle(facts, payments, nowMs);
    const after = stored(facts, payments, settlement);
    row = after.facts;
    for (const { id, isLate } of after.payments) marks.set(id, isLate);
    lateEvents.push(
      ...settlement.events.flatMap(({ type, paymentId }) => (type === "invoice.payment_late" ? [`${paymentId}`] : [])),
    );
    return settlement;
  });
  return { last: settlements.at(-1), settlements, lateEvents, row };
}

/** `settle-histories.test.ts` tests that the final state does not depend on when the payments were observed. */
describe("settling a history again and again", () => {
  it("announces every payment that ends up late, and announces it again only if the payment counted in the meantime", () => {
    fc.assert(
      fc.property(history, (h) => {
        const { last, lateEvents, settlements, row } = replay(h, [...h.polls.toSorted((a, b) => a - b), END]);
        const unmarked = settlements.flatMap(({ lateness }) =>
          lateness.filter(({ isLate }) => !isLate).map(({ id }) => id),
        );
        for (const id of new Set(lateEvents)) {
          const times = lateEvents.filter((other) => other === id).length;
          expect(times).toBeLessThanOrEqual(1 + unmarked.filter((other) => other === id).length);
        }
        if (last?.isLate) expect(lateEvents.length).toBeGreaterThan(0);
        expect(row.invoice.isLate).toBe(last?.isLate);
      }),
      { numRuns: RUNS },
    );
  });

  it("announces a reversal whenever an invoice loses the status PAID or OVERPAID, and in no other case", () => {
    fc.assert(
      fc.property(history, (h) => {
        const { settlements } = replay(h, [...h.polls.toSorted((a, b) => a - b), END]);
        let status: InvoiceStatus = "AWAITING_PAYMENT";
        for (const settlement of settlements) {
          const rank = (s: InvoiceStatus) =>
            ["OVERPAID", "PAID"].indexOf(s) + 3 * Number(!["OVERPAID", "PAID"].includes(s));
          const isLoss = rank(settlement.status) > rank(status) && rank(status) < 2;
          expect(settlement.events.some(({ type }) => type === "invoice.reversed")).toBe(isLoss);
          status = settlement.status;
        }
        expect(isActive(status)).toBe(status === "AWAITING_PAYMENT" || status === "PENDING_CONFIRMATION");
      }),
      { numRuns: RUNS },
    );
  });
});
