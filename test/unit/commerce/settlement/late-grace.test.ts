// A payment within the grace period after an invoice's end counts like a payment that is on time, at the price that applied at the end.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { lateTerms, withResolution } from "../../../../src/commerce/invoice-records/resolution.ts";
import type { CreditedPayment } from "../../../../src/commerce/payments/payment.ts";
import type { Quote } from "../../../../src/commerce/quotes/quotes.ts";
import { lateCountedUntilMs } from "../../../../src/commerce/settlement/counting.ts";
import { type InvoiceState, settle } from "../../../../src/commerce/settlement/status.ts";
import { type PricedMethod, weighingOf } from "../../../../src/commerce/settlement/value.ts";
import {
  asked,
  BTC,
  cursorAt,
  E,
  EXPIRES,
  factsOf,
  MONITOR_UNTIL,
  paymentOf,
  quoteOf,
  REORG_WINDOW,
  stored,
  USDT,
} from "../../../support/invoice-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const GRACE = EXPIRES + 600_000;
const CLOSED = EXPIRES + 1;
const SLACK = USDT.slackMs;
const LATE_GRACE = { endMs: EXPIRES, untilMs: GRACE };
/** A method whose quote is for E until the invoice's end, and not afterwards. */
const LOCKED: PricedMethod = { ...USDT, quotes: [asked(E, 0, EXPIRES)], lateGrace: LATE_GRACE };

const settled = (invoice: Partial<InvoiceState>, payments: readonly CreditedPayment[], nowMs = GRACE) =>
  settle(factsOf({ lateGraceUntilMs: GRACE, ...invoice }, { methods: [LOCKED, BTC] }), payments, nowMs);
const at = (receivedAtMs: number, changes: Partial<Omit<CreditedPayment, "id">> = {}) =>
  paymentOf({ receivedAtMs, ...changes });

describe("money within the grace period", () => {
  test.each([
    ["at the end", EXPIRES, "PAID"],
    ["a millisecond later", EXPIRES + 1, "PAID"],
    ["at the end of the grace", GRACE, "PAID"],
    ["a millisecond after the grace", GRACE + 1, "EXPIRED"],
  ] as const)(
    "counts until the grace period ends: received %s, it makes the invoice %s",
    (_when, receivedAtMs, status) => {
      const isLate = status === "EXPIRED";
      const settlement = settled({}, [at(receivedAtMs)], GRACE + 2);
      expect(settlement).toMatchObject({ status, isLate, needsReview: isLate });
      expect(settlement.events.some(({ type }) => type === "invoice.payment_late")).toBe(isLate);
    },
  );

  it("pays an invoice that has expired, as under ACCEPT", () => {
    const expired = settled({}, [], CLOSED);
    expect(expired).toMatchObject({ status: "EXPIRED", closedAtMs: CLOSED });
    const { facts } = stored(factsOf({ lateGraceUntilMs: GRACE }, { methods: [LOCKED] }), [], expired);
    const seen = settle(facts, [at(GRACE, { status: "DETECTED" })], GRACE);
    expect(seen).toMatchObject({ status: "PENDING_CONFIRMATION", receivedMicros: E, needsReview: false });
    expect(settle(facts, [at(GRACE)], GRACE)).toMatchObject({ status: "PAID", confirmedMicros: E });
  });

  it("is not waited for: an expired invoice closes before the grace period ends", () => {
    const watches = [cursorAt(EXPIRES + 1)];
    const facts = factsOf({ lateGraceUntilMs: GRACE }, { watches });
    expect(settle(facts, [], CLOSED)).toMatchObject({ status: "EXPIRED", closedAtMs: CLOSED });
  });

  it("is added to money that came earlier", () => {
    const halves = [at(1_000, { amountUnits: E / 2n }), paymentOf({ n: 1, amountUnits: E / 2n, receivedAtMs: GRACE })];
    expect(settled({}, halves)).toMatchObject({ status: "PAID", receivedMicros: E });
  });

  it("is waited for during the reorg window after it leaves the chain, and does not count if it is mined again after the grace period", () => {
    const gone = at(GRACE, { status: "REORGED", reorgedAtMs: GRACE });
    expect(settled({}, [gone], GRACE + REORG_WINDOW - 1).status).toBe("PENDING_CONFIRMATION");
    expect(settled({}, [gone], GRACE + REORG_WINDOW).status).toBe("EXPIRED");
    const again = settled({ status: "PAID", receivedMicros: E, confirmedMicros: E }, [at(GRACE + 1)], GRACE + 2);
    expect(again).toMatchObject({ status: "EXPIRED", isLate: true, needsReview: true });
  });

  it("does not count on a cancelled invoice", () => {
    expect(settled({ cancelledAtMs: 5_000 }, [at(GRACE)])).toMatchObject({
      status: "CANCELLED",
      receivedMicros: 0n,
      isLate: true,
      needsReview: true,
    });
  });
});

const anyPayments = fc
  .array(
    fc.record({
      asset: fc.constantFrom(LOCKED, BTC),
      amountUnits: fc.constantFrom(1n, E / 2n, E, 3n * E),
      status: fc.constantFrom("DETECTED" as const, "CONFIRMED" as const, "DROPPED" as const),
      receivedAtMs: fc.oneof(
        fc.nat({ max: MONITOR_UNTIL + 10 }),
        fc.constantFrom(EXPIRES, EXPIRES + 1, GRACE, GRACE + 1),
      ),
      marketMicros: fc.constantFrom(null, 1n, E),
    }),
    { maxLength: 5 },
  )
  .map((list) =>
    list.map(({ asset: { network, cryptocurrency }, ...rest }, n) =>
      paymentOf({ n, network, cryptocurrency, ...rest }),
    ),
  );
const anyTerms = fc.record({
  latePaymentPolicy: fc.constantFrom("REVIEW" as const, "ACCEPT" as const),
  cancelledAtMs: fc.constantFrom(null, null, null, 5_000),
});

describe("any payments", () => {
  it("settle the same without a grace period as with one that ends at expiry", () => {
    fc.assert(
      fc.property(anyTerms, anyPayments, fc.nat({ max: MONITOR_UNTIL }), (terms, payments, nowMs) => {
        const none = settle(factsOf(terms, { methods: [{ ...LOCKED, lateGrace: undefined }, BTC] }), payments, nowMs);
        const lateGrace = { endMs: EXPIRES, untilMs: EXPIRES };
        const methods = [{ ...LOCKED, lateGrace }, BTC];
        expect(settle(factsOf({ ...terms, lateGraceUntilMs: EXPIRES }, { methods }), payments, nowMs)).toEqual(none);
      }),
      { numRuns: RUNS },
    );
  });

  it("received within the grace period settle as if they had been received at expiry", () => {
    fc.assert(
      fc.property(anyTerms, anyPayments, (terms, payments) => {
        const moved = payments.map((each) => {
          const isWithin = each.receivedAtMs > EXPIRES && each.receivedAtMs <= GRACE;
          return isWithin ? { ...each, receivedAtMs: EXPIRES } : each;
        });
        const methods = [LOCKED, { ...BTC, lateGrace: LATE_GRACE }];
        const facts = factsOf({ ...terms, lateGraceUntilMs: GRACE }, { methods });
        const [within, onTime] = [payments, moved].map((each) => settle(facts, each, MONITOR_UNTIL));
        const { lateness: _, events: __, ...columns } = within ?? {};
        expect(onTime).toMatchObject(columns);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the price within the grace period", () => {
  const market = { marketMicros: 7n };
  const quotes = (...all: readonly Quote[]): PricedMethod => ({ ...LOCKED, quotes: all });
  const weighedBy = (method: PricedMethod, amountUnits: bigint, receivedAtMs: number) => {
    const { by, micros } = weighingOf(at(receivedAtMs, { amountUnits, ...market }), {
      expectedMicros: E,
      methods: [method],
    });
    return by === null ? micros : `${by.rule} #${method.quotes.indexOf(by.quote) + 1}`;
  };
  const OTHER = E / 3n;
  const HELD = quotes(asked(E, 0, EXPIRES));
  const SHORT = quotes(asked(E, 0, 1_000));
  const NEWER = quotes(asked(E, 0, EXPIRES), asked(2n * E, EXPIRES + 300_000, EXPIRES + 400_000));
  const REST = quotes(asked(E, 0, EXPIRES), { ...asked(OTHER, 500, EXPIRES), isRemainder: true });

  test.each([
    ["the locked amount, at the end of the grace", "EXACT_UNITS #1", HELD, E, GRACE],
    ["the locked amount, after the grace", 7n, HELD, E, GRACE + 1],
    ["another amount, at the end of the grace", "IN_FORCE #1", HELD, OTHER, GRACE],
    ["another amount, at the end of the slack, within the grace", "IN_FORCE #1", HELD, OTHER, EXPIRES + SLACK],
    ["another amount, after the grace", 7n, HELD, OTHER, GRACE + 1],
    ["the rest after a partial payment", "EXACT_UNITS #2", REST, OTHER, GRACE],
    ["any amount, if no price was locked at expiry", 7n, SHORT, E, GRACE],
    ["another amount, before a newer quote is requested", "IN_FORCE #1", NEWER, OTHER, EXPIRES + 299_999],
    ["another amount, once a newer quote is requested", "IN_FORCE #2", NEWER, OTHER, EXPIRES + 300_000],
    ["the newer amount", "EXACT_UNITS #2", NEWER, 2n * E, GRACE - 100_000],
    ["the locked amount, although a newer one was quoted", "EXACT_UNITS #1", NEWER, E, GRACE],
  ] as const)("of %s: %s", (_what, expected, method, amountUnits, receivedAtMs) => {
    expect(weighedBy(method, amountUnits, receivedAtMs)).toBe(expected);
  });

  it("is the price at expiry on an any-amount invoice too", () => {
    const any = quotes(quoteOf({ amountUnits: null, forMicros: 0n, rate: "2", lockedUntilMs: EXPIRES }));
    const of = { expectedMicros: 0n, methods: [any] };
    expect(weighingOf(at(GRACE, { amountUnits: 10n, ...market }), of).micros).toBe(20n);
    expect(weighingOf(at(GRACE + 1, { amountUnits: 10n, ...market }), of).micros).toBe(7n);
  });
});

describe("after money was sent back,", () => {
  const decided = (action: "RETURNED" | "DISMISS", secondsLater = 0) =>
    ({
      action,
      reason: "",
      actor: "",
      at: new Date(GRACE + secondsLater * 1_000).toISOString(),
      txHash: null,
    }) as const;
  const terms = { cancelledAtMs: null, lateGraceUntilMs: GRACE, resolution: null };
  const counting = { ...factsOf().invoice, ...terms };

  it("late payments count up to the last one that had been received by then, and later ones do not", () => {
    const early = at(EXPIRES + 5, { amountUnits: E / 2n });
    const untilMs = lateCountedUntilMs({ ...counting, ...lateTerms(terms) }, [early]);
    const resolution = withResolution(null, decided("RETURNED"), untilMs);
    const after = lateTerms({ ...terms, resolution });
    expect(after).toEqual({ lateCountsUntilMs: EXPIRES + 5, lateGraceUntilMs: null });
    const later = paymentOf({ n: 2, receivedAtMs: GRACE, amountUnits: E / 2n });
    expect(settled(after, [early, later])).toMatchObject({
      status: "UNDERPAID",
      receivedMicros: E / 2n,
      isLate: true,
      needsReview: true,
    });
  });

  it("a later payment never counts, whatever decisions follow", () => {
    const [early, later] = [at(EXPIRES + 5), at(GRACE)];
    let resolution = withResolution(null, decided("RETURNED"), EXPIRES + 5);
    for (const [n, action] of (["DISMISS", "RETURNED", "RETURNED"] as const).entries()) {
      const current = lateTerms({ ...terms, resolution });
      const untilMs = lateCountedUntilMs({ ...counting, ...current }, n === 2 ? [later] : [early, later]);
      resolution = withResolution(resolution, decided(action, n), untilMs);
      expect(lateTerms({ ...terms, resolution })).toEqual({ lateCountsUntilMs: EXPIRES + 5, lateGraceUntilMs: null });
    }
  });

  it("no late payment counts if none had been received by that time", () => {
    const resolution = withResolution(null, decided("RETURNED"), lateCountedUntilMs(counting, [at(1_000)]));
    expect(lateTerms({ ...terms, resolution })).toEqual({ lateCountsUntilMs: undefined, lateGraceUntilMs: null });
  });

  it("the grace period is over, unlike after a dismissal; a cancelled invoice has no grace period", () => {
    const resolution = withResolution(null, decided("DISMISS"));
    expect(lateTerms({ ...terms, resolution }).lateGraceUntilMs).toBe(GRACE);
    expect(lateTerms({ ...terms, cancelledAtMs: 1 }).lateGraceUntilMs).toBeNull();
  });
});
