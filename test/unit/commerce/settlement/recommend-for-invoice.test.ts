// The decision that is advised about an invoice: a table of what goes wrong, and that every advice can be followed.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Invoice } from "../../../../src/commerce/invoice-records/invoice.ts";
import {
  type ResolutionAction,
  resolutionRefusal,
  withResolution,
} from "../../../../src/commerce/invoice-records/resolution.ts";
import { isSeen, PAYMENT_STATUSES } from "../../../../src/commerce/payments/payment.ts";
import {
  type InvoiceAdviceFacts,
  recommendForInvoice,
} from "../../../../src/commerce/settlement/recommend-for-invoice.ts";
import { settle } from "../../../../src/commerce/settlement/status.ts";
import { isoTime } from "../../../../src/lib/time.ts";
import { parseJson, printJson } from "../../../../src/lib/typed-json.ts";
import { E, EXPIRES, factsOf, MONITOR_UNTIL, OVER, paymentOf, stored, TOL } from "../../../support/invoice-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const LATE = EXPIRES + 10_000;
const resolutionOf = (action: ResolutionAction, atMs: number) =>
  printJson({ action, reason: "They called us", actor: "usr_1", at: isoTime(atMs), txHash: null });

interface Given {
  readonly invoice?: Partial<Invoice>;
  readonly payments?: readonly Parameters<typeof paymentOf>[0][];
  readonly nowMs?: number;
  readonly more?: Partial<InvoiceAdviceFacts>;
}

/** The facts as they are stored once they are settled: one unit of the coin is one micro-unit of the price. */
function adviceFacts({ invoice = {}, payments = [], nowMs = EXPIRES + 20_000, more = {} }: Given): InvoiceAdviceFacts {
  const facts = factsOf(invoice);
  const paid = payments.map((payment, n) => paymentOf({ n, ...payment }));
  const after = stored(facts, paid, settle(facts, paid, nowMs));
  return {
    invoice: { resolution: null, ...invoice, ...after.facts.invoice },
    payments: after.payments.map((payment) => ({ ...payment, fiatMicros: payment.amountUnits })),
    hasWay: true,
    isReadToEnd: true,
    isRestored: false,
    nowMs,
    ...more,
  };
}

const part = { amountUnits: (97n * E) / 100n };
const half = { amountUnits: E / 2n };
const late = { receivedAtMs: LATE };
const during = { nowMs: EXPIRES - 1 };
const afterAll = { nowMs: MONITOR_UNTIL + 1 };

const CASES: readonly (readonly [what: string, given: Given, action: string | null, reason?: string])[] = [
  ["nothing has come yet", during, null],
  ["paid", { payments: [{}] }, null],
  ["a fee within the tolerance is missing", { payments: [{ amountUnits: E - TOL }] }, null],
  ["a part came, and there is time", { ...during, payments: [part] }, "WAIT", "REST_IS_ASKED"],
  ["a part came, and the network is still read", { invoice: { needsReview: true }, ...during, payments: [] }, null],
  ["half came, and the time is over", { payments: [half] }, "ASK_FOR_REST", "TOO_LITTLE_CAME"],
  ["half came, its page asks for the rest", acceptsLate({ payments: [half] }), "WAIT", "REST_IS_ASKED"],
  ["half came, and nothing is watched any more", { ...afterAll, payments: [half] }, "RETURN", "TOO_LITTLE_CAME"],
  ["half came, and no wallet takes more", { payments: [half], more: { hasWay: false } }, "RETURN", "TOO_LITTLE_CAME"],
  ["all came late", { payments: [late] }, "ACCEPT", "LATE_BUT_ENOUGH"],
  ["a half in time, a half late", { payments: [half, { ...half, ...late }] }, "ACCEPT", "LATE_BUT_ENOUGH"],
  ["all came late, unconfirmed", { payments: [{ ...late, status: "DETECTED" }] }, "WAIT", "NOT_CONFIRMED"],
  ["half came late", { payments: [{ ...half, ...late }] }, "ASK_FOR_REST", "LATE_AND_TOO_LITTLE"],
  [
    "half came late, nothing is watched",
    { ...afterAll, payments: [{ ...half, ...late }] },
    "RETURN",
    "LATE_AND_TOO_LITTLE",
  ],
  ["paid twice", { payments: [{}, {}] }, "RETURN", "MORE_THAN_ASKED"],
  ["paid twice, the second time late", { payments: [{}, late] }, "RETURN", "MORE_THAN_ASKED"],
  ["a little more than the tolerance", { payments: [{ amountUnits: E + OVER + 1n }] }, "RETURN", "MORE_THAN_ASKED"],
  ["paid, in review for another reason", { invoice: { needsReview: true }, payments: [{}] }, "DISMISS", "PAID_ANYWAY"],
  ["paid after a cancel", { invoice: { cancelledAtMs: 10 }, payments: [{}] }, "RETURN", "AFTER_CANCEL"],
  ["nothing came, a network stood still", { invoice: { needsReview: true } }, "DISMISS", "NOTHING_CAME"],
  [
    "nothing came, a network still stands",
    { invoice: { needsReview: true }, more: { isReadToEnd: false } },
    "WAIT",
    "NETWORK_NOT_READ",
  ],
  ["brought back after a restore", { invoice: { needsReview: true }, more: { isRestored: true } }, null],
];

function acceptsLate(given: Given): Given {
  return { ...given, invoice: { ...given.invoice, latePaymentPolicy: "ACCEPT" } };
}

describe("the decision that is advised about an invoice", () => {
  for (const [what, given, action, reason] of CASES) {
    it(what, () => {
      const advice = recommendForInvoice(adviceFacts(given));
      expect(advice === null ? [null, undefined] : [advice.action, advice.reason]).toEqual([action, reason]);
    });
  }

  it("names what is missing, what is too much, and until when", () => {
    expect(recommendForInvoice(adviceFacts({ ...during, payments: [part] }))).toMatchObject({
      amountMicros: (3n * E) / 100n,
      untilMs: EXPIRES,
    });
    expect(recommendForInvoice(adviceFacts({ payments: [half] }))).toMatchObject({
      amountMicros: E / 2n,
      untilMs: MONITOR_UNTIL,
    });
    expect(recommendForInvoice(adviceFacts({ payments: [{}, late] }))).toMatchObject({ amountMicros: E });
  });

  /** What was sent back at that time is followed by another decision that is not about money, or by none. */
  const returned = (atMs: number, then?: ResolutionAction) => {
    const made = withResolution(null, parseJson(resolutionOf("RETURNED", atMs)));
    return then === undefined ? made : withResolution(made, parseJson(resolutionOf(then, atMs)));
  };
  const BACK = EXPIRES + 5_000;

  it.each([undefined, "DISMISS", "MARK"] as const)(
    "is only about new money once money has been sent back, then %s",
    (then) => {
      const resolution = returned(BACK, then);
      const adviceOf = (payments: Given["payments"] = [], more: Partial<Invoice> = {}) =>
        recommendForInvoice(adviceFacts({ invoice: { resolution, ...more }, payments }));
      const rest = { amountUnits: (6n * E) / 10n, receivedAtMs: LATE };
      expect(adviceOf([half, rest])).toEqual({
        action: "RETURN",
        reason: "LATE_AND_TOO_LITTLE",
        amountMicros: (6n * E) / 10n,
      });
      expect(adviceOf([half, late])).toBeNull();
      expect(adviceOf([half])).toBeNull();
      expect(adviceOf([{ amountUnits: (3n * E) / 2n }, { amountUnits: E / 100n, ...late }])).toEqual({
        action: "RETURN",
        reason: "MORE_THAN_ASKED",
        amountMicros: E / 100n,
      });
      expect(
        adviceOf(
          [
            { ...half, receivedAtMs: EXPIRES + 1 },
            { ...half, ...late },
          ],
          { cancelledAtMs: 10 },
        ),
      ).toEqual({
        action: "RETURN",
        reason: "AFTER_CANCEL",
        amountMicros: E / 2n,
      });
    },
  );

  it("ends with a decision, until more money comes", () => {
    const decided = (atMs: number, needsReview = false) => ({
      resolution: resolutionOf("DISMISS", atMs),
      needsReview,
    });
    const facts = adviceFacts({ payments: [half] });
    expect(recommendForInvoice({ ...facts, invoice: { ...facts.invoice, ...decided(LATE) } })).toBeNull();
    expect(recommendForInvoice({ ...facts, invoice: { ...facts.invoice, ...decided(500) } })).not.toBeNull();
    const again = adviceFacts({ payments: [half, { ...half, ...late }] });
    expect(recommendForInvoice({ ...again, invoice: { ...again.invoice, ...decided(LATE, true) } })).not.toBeNull();
  });

  const anyPayment = fc.record({
    amountUnits: fc.constantFrom(1n, E / 10n, E / 2n, E - TOL - 1n, E - TOL, E, E + OVER, 2n * E),
    status: fc.constantFrom(...PAYMENT_STATUSES),
    receivedAtMs: fc.constantFrom(1_000, EXPIRES, EXPIRES + 1, LATE, MONITOR_UNTIL, MONITOR_UNTIL + 1),
  });
  const anyGiven = fc.record({
    invoice: fc.record({
      needsReview: fc.boolean(),
      latePaymentPolicy: fc.constantFrom("REVIEW" as const, "ACCEPT" as const),
      cancelledAtMs: fc.option(fc.constantFrom(500, EXPIRES), { freq: 4 }),
      resolution: fc.option(
        fc
          .tuple(
            fc.constantFrom<ResolutionAction>("DISMISS", "RETURNED", "MARK", "ASK_FOR_REST"),
            fc.nat({ max: 3_000_000 }),
          )
          .map(([action, atMs]) => resolutionOf(action, atMs)),
        { freq: 2 },
      ),
    }),
    payments: fc.array(anyPayment, { maxLength: 4 }),
    nowMs: fc.constantFrom(2_000, EXPIRES, EXPIRES + 1, LATE, MONITOR_UNTIL, MONITOR_UNTIL + 1),
    more: fc.record({ hasWay: fc.boolean(), isReadToEnd: fc.boolean() }),
  });

  it("can be followed, whatever the facts: the API accepts it as the next decision", () => {
    const followed = {
      ACCEPT: "ACCEPT",
      ASK_FOR_REST: "ASK_FOR_REST",
      RETURN: "RETURNED",
      DISMISS: "DISMISS",
    } as const;
    fc.assert(
      fc.property(anyGiven, (given) => {
        const facts = adviceFacts(given);
        const advice = recommendForInvoice(facts);
        if (advice === null || advice.action === "WAIT" || advice.action === "ASSIGN") return;
        const at = { hasUnpriced: false, nowMs: facts.nowMs };
        const isLate = facts.payments.some((payment) => payment.isLate && isSeen(payment));
        expect(resolutionRefusal({ ...facts.invoice, isLate }, followed[advice.action], at)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });

  it("returns no more than has arrived since money was last sent back, and then neither accepts nor asks", () => {
    fc.assert(
      fc.property(anyGiven, fc.nat({ max: 3_000_000 }), (given, atMs) => {
        const made = withResolution(null, parseJson(resolutionOf("RETURNED", atMs)));
        const then = given.invoice.resolution;
        const resolution = then === null ? made : withResolution(made, parseJson(then));
        const returnedAtMs = Date.parse(parseJson(resolution).returnedAt ?? parseJson(resolution).at);
        const facts = adviceFacts({ ...given, invoice: { ...given.invoice, resolution } });
        const advice = recommendForInvoice(facts);
        if (advice === null) return;
        expect(["RETURN", "WAIT"]).toContain(advice.action);
        const since = facts.payments.filter((payment) => payment.receivedAtMs > returnedAtMs && isSeen(payment));
        const came = since.reduce((sum, { fiatMicros }) => sum + (fiatMicros ?? 0n), 0n);
        if (advice.action === "RETURN") expect((advice.amountMicros ?? 0n) <= came).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("returns no more than has arrived, and asks for no more than the price", () => {
    fc.assert(
      fc.property(anyGiven, (given) => {
        const facts = adviceFacts(given);
        const advice = recommendForInvoice(facts);
        if (advice?.amountMicros === undefined) return;
        const came = facts.payments.reduce((sum, { fiatMicros }) => sum + (fiatMicros ?? 0n), 0n);
        expect(advice.amountMicros).toBeGreaterThan(0n);
        expect(advice.amountMicros <= (advice.action === "RETURN" ? came : E)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
