// The recommended decision about an invoice: a table of what can go wrong, and the guarantee that every recommendation can be followed.
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

/** The facts as they are stored after settlement. One unit of the coin is worth one micro-unit. */
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
  ["nothing was received yet", during, null],
  ["paid", { payments: [{}] }, null],
  ["a fee within the tolerance is missing", { payments: [{ amountUnits: E - TOL }] }, null],
  ["a part was received, and there is time left", { ...during, payments: [part] }, "WAIT", "REST_IS_ASKED"],
  ["in review while it is still open", { invoice: { needsReview: true }, ...during, payments: [] }, null],
  ["half was received, and expiresAt has passed", { payments: [half] }, "ASK_FOR_REST", "TOO_LITTLE_CAME"],
  ["half was received, and its page asks for the rest", acceptsLate({ payments: [half] }), "WAIT", "REST_IS_ASKED"],
  ["half was received, and monitoring has ended", { ...afterAll, payments: [half] }, "RETURN", "TOO_LITTLE_CAME"],
  [
    "half was received, and no wallet can take the rest",
    { payments: [half], more: { hasWay: false } },
    "RETURN",
    "TOO_LITTLE_CAME",
  ],
  ["the full amount was received late", { payments: [late] }, "ACCEPT", "LATE_BUT_ENOUGH"],
  ["half was received on time, and half late", { payments: [half, { ...half, ...late }] }, "ACCEPT", "LATE_BUT_ENOUGH"],
  [
    "the full amount was received late, and is unconfirmed",
    { payments: [{ ...late, status: "DETECTED" }] },
    "WAIT",
    "NOT_CONFIRMED",
  ],
  ["half was received late", { payments: [{ ...half, ...late }] }, "ASK_FOR_REST", "LATE_AND_TOO_LITTLE"],
  [
    "half was received late, and monitoring has ended",
    { ...afterAll, payments: [{ ...half, ...late }] },
    "RETURN",
    "LATE_AND_TOO_LITTLE",
  ],
  ["paid twice", { payments: [{}, {}] }, "RETURN", "MORE_THAN_ASKED"],
  ["paid twice, the second time late", { payments: [{}, late] }, "RETURN", "MORE_THAN_ASKED"],
  [
    "paid with slightly more than the tolerance",
    { payments: [{ amountUnits: E + OVER + 1n }] },
    "RETURN",
    "MORE_THAN_ASKED",
  ],
  ["paid, in review for another reason", { invoice: { needsReview: true }, payments: [{}] }, "DISMISS", "PAID_ANYWAY"],
  ["paid after it was cancelled", { invoice: { cancelledAtMs: 10 }, payments: [{}] }, "RETURN", "AFTER_CANCEL"],
  ["nothing was received, and a network was stuck", { invoice: { needsReview: true } }, "DISMISS", "NOTHING_CAME"],
  [
    "nothing was received, and a network is still stuck",
    { invoice: { needsReview: true }, more: { isReadToEnd: false } },
    "WAIT",
    "NETWORK_NOT_READ",
  ],
  ["in review because of a restore", { invoice: { needsReview: true }, more: { isRestored: true } }, null],
];

function acceptsLate(given: Given): Given {
  return { ...given, invoice: { ...given.invoice, latePaymentPolicy: "ACCEPT" } };
}

describe("the recommended decision about an invoice", () => {
  for (const [what, given, action, reason] of CASES) {
    it(`is ${action} when ${what}`, () => {
      const advice = recommendForInvoice(adviceFacts(given));
      expect(advice === null ? [null, undefined] : [advice.action, advice.reason]).toEqual([action, reason]);
    });
  }

  it("states the missing or excess amount, and until when the recommendation applies", () => {
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

  /** The resolution after money was sent back. If `then` is given, it is the later resolution, which is not about money. */
  const returned = (atMs: number, then?: ResolutionAction) => {
    const made = withResolution(null, parseJson(resolutionOf("RETURNED", atMs)));
    return then === undefined ? made : withResolution(made, parseJson(resolutionOf(then, atMs)));
  };
  const BACK = EXPIRES + 5_000;

  it.each([undefined, "DISMISS", "MARK"] as const)(
    "concerns only money that was received after money was sent back (later decision: %s)",
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

  it("is null after a decision, until more money arrives", () => {
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

  it("can be followed, for any facts: the API accepts it as the next decision", () => {
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

  it("returns at most what was received after money was last sent back, and does not accept the invoice or ask for the rest in that case", () => {
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

  it("returns at most what was received, and asks for at most the price", () => {
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
