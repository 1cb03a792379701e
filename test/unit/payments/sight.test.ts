import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import type { Payment } from "../../../src/payments/payment.ts";
import {
  DROPPED_AFTER_MS,
  KNOWN_EVERY_MS,
  newsOf,
  type Placement,
  paymentAfter,
  type Sight,
  type SightContext,
  sightOf,
} from "../../../src/payments/sight.ts";
import {
  BITCOIN,
  blockAt,
  ETHEREUM,
  firstSeen,
  lookAt,
  PAID_INVOICE,
  transferOf,
} from "../../support/payment-facts.ts";
import { RUNS } from "../../support/property-runs.ts";

const PENDING: Sight = { kind: "pending" };
const UNKNOWN: Sight = { kind: "unknown" };
const REPLACED: Sight = { kind: "replaced" };
const mined = (height: number, fork = ""): Sight => ({ kind: "mined", block: blockAt(height, fork) });

/** The payment after each of the looks, and what was told of each. */
function story(looks: readonly (readonly [Sight, SightContext])[], placement?: Placement) {
  const [first, ...rest] = looks;
  if (first === undefined) throw new Error("no look");
  const block = first[0].kind === "mined" ? first[0].block : undefined;
  let payment = firstSeen(first[1], { ...(block && { block }), ...(placement && { placement }) });
  const told: (readonly string[])[] = [newsOf(undefined, payment)];
  const states: Payment[] = [payment];
  for (const [sight, context] of rest) {
    const after = paymentAfter(payment, sight, context);
    told.push(newsOf(payment, after));
    states.push(after);
    payment = after;
  }
  return { payment, states, told };
}

test("a transfer is pending until it has a block", () => {
  expect(sightOf(transferOf())).toEqual({ kind: "pending" });
  expect(sightOf(transferOf({ block: blockAt(7) }))).toEqual(mined(7));
});

describe("a payment that is seen for the first time", () => {
  it("has all that the transfer says, and its worth", () => {
    const context = lookAt(100);
    const payment = firstSeen(context, { block: blockAt(100), usdMicros: 5n });
    expect(payment).toMatchObject({
      invoiceId: PAID_INVOICE,
      network: "BTC",
      chainId: null,
      txHash: "tx",
      outputIndex: "0",
      amountUnits: 100_000_000n,
      usdMicros: 5n,
      status: "DETECTED",
      confirmations: 1,
      requiredConfirmations: 3,
      blockHeight: 100,
      blockHash: "block-100",
      blockTimeMs: blockAt(100).timeMs,
      receivedAtMs: blockAt(100).timeMs,
      matchedBy: "ADDRESS",
      isLate: false,
      confirmedAtMs: null,
      reorgedAtMs: null,
      finalAtMs: null,
      lastKnownAtMs: context.nowMs,
      createdAtMs: context.nowMs,
      updatedAtMs: context.nowMs,
    });
  });

  it("is received now while it is in no block", () => {
    expect(firstSeen(lookAt(100))).toMatchObject({
      status: "DETECTED",
      confirmations: 0,
      blockHeight: null,
      receivedAtMs: lookAt(100).nowMs,
    });
  });

  it.each(["UNMATCHED", "IGNORED"] as const)("is %s where nobody is credited, however deep it is", (kind) => {
    const payment = firstSeen(lookAt(100), { block: blockAt(50), placement: { kind } });
    expect(payment).toMatchObject({
      status: kind,
      invoiceId: null,
      matchedBy: null,
      fiatMicros: null,
      confirmedAtMs: null,
    });
    expect(newsOf(undefined, payment)).toEqual([]);
  });
});

describe("confirmation", () => {
  const cases: [string, Partial<SightContext> & { tip: number; finalized?: number; required?: number }, string][] = [
    ["at its required confirmations", { tip: 102 }, "CONFIRMED"],
    ["one short of them", { tip: 101 }, "DETECTED"],
    ["in a block that the chain calls final", { tip: 100, finalized: 100 }, "CONFIRMED"],
    ["one above what the chain calls final", { tip: 101, finalized: 99 }, "DETECTED"],
    ["deep enough, though the chain calls it not yet final", { tip: 102, finalized: 50 }, "CONFIRMED"],
    ["above the tip of a provider that lags", { tip: 99, finalized: 100 }, "DETECTED"],
    ["with none required, at no confirmation", { tip: 99, required: 0 }, "DETECTED"],
    ["with none required, in a block", { tip: 100, required: 0 }, "CONFIRMED"],
    ["while a second provider has not agreed", { tip: 110, finalized: 105, mayConfirm: false }, "DETECTED"],
    ["once a second provider agreed", { tip: 102, mayConfirm: true }, "CONFIRMED"],
  ];
  it.each(cases)("%s", (_, { tip, required = 3, ...changes }, status) => {
    const payment = firstSeen(lookAt(tip, changes), { block: blockAt(100), requiredConfirmations: required });
    expect(payment.status).toBe(status);
    expect(payment.confirmedAtMs).toBe(status === "CONFIRMED" ? lookAt(tip).nowMs : null);
  });

  it("stands for as long as its block does, whatever a provider that lags says, or that one alone may not confirm", () => {
    const confirmed = firstSeen(lookAt(102), { block: blockAt(100) });
    for (const context of [lookAt(99), lookAt(100), lookAt(102, { mayConfirm: false })]) {
      expect(paymentAfter(confirmed, mined(100), context)).toBe(confirmed);
    }
  });

  it("begins anew in another block, and is told only where it is taken back", () => {
    const confirmed = firstSeen(lookAt(102), { block: blockAt(100) });
    const shallow = paymentAfter(confirmed, mined(102, "b"), lookAt(103));
    expect(shallow).toMatchObject({
      status: "DETECTED",
      blockHash: "block-102b",
      confirmations: 2,
      confirmedAtMs: null,
    });
    expect(newsOf(confirmed, shallow)).toEqual(["payment.reorged"]);
    const deep = paymentAfter(confirmed, mined(101, "b"), lookAt(103));
    expect(deep).toMatchObject({ status: "CONFIRMED", blockHeight: 101, receivedAtMs: blockAt(101).timeMs });
    expect(newsOf(confirmed, deep)).toEqual([]);
  });
});

describe("the way of a payment, and what is told of it", () => {
  const t = (tip: number, ms = 0) => lookAt(tip, { nowMs: tip * 600_000 + ms });
  const gone = DROPPED_AFTER_MS + KNOWN_EVERY_MS;
  const cases: [string, (readonly [Sight, SightContext])[], string, string[][]][] = [
    [
      "mempool, block, confirmed",
      [
        [PENDING, t(99)],
        [mined(100), t(100)],
        [mined(100), t(102)],
      ],
      "CONFIRMED",
      [["payment.detected"], [], ["payment.confirmed"]],
    ],
    ["first seen confirmed", [[mined(100), t(102)]], "CONFIRMED", [["payment.detected", "payment.confirmed"]]],
    [
      "replaced in the mempool",
      [
        [PENDING, t(99)],
        [REPLACED, t(100)],
      ],
      "DROPPED",
      [["payment.detected"], ["payment.dropped"]],
    ],
    [
      "replaced out of a block",
      [
        [mined(100), t(102)],
        [REPLACED, t(103)],
      ],
      "DROPPED",
      [
        ["payment.detected", "payment.confirmed"],
        ["payment.reorged", "payment.dropped"],
      ],
    ],
    [
      "back into the mempool, and mined again",
      [
        [mined(100), t(102)],
        [PENDING, t(103)],
        [mined(104, "b"), t(106)],
      ],
      "CONFIRMED",
      [["payment.detected", "payment.confirmed"], ["payment.reorged"], ["payment.confirmed"]],
    ],
    [
      "out of the chain, and mined again",
      [
        [mined(100), t(102)],
        [UNKNOWN, t(103)],
        [mined(104, "b"), t(106)],
      ],
      "CONFIRMED",
      [["payment.detected", "payment.confirmed"], ["payment.reorged"], ["payment.detected", "payment.confirmed"]],
    ],
    [
      "out of the chain, and back in the mempool",
      [
        [mined(100), t(100)],
        [UNKNOWN, t(103)],
        [PENDING, t(104)],
      ],
      "DETECTED",
      [["payment.detected"], ["payment.reorged"], ["payment.detected"]],
    ],
    [
      "out of the chain, and then replaced",
      [
        [mined(100), t(100)],
        [UNKNOWN, t(103)],
        [REPLACED, t(104)],
      ],
      "DROPPED",
      [["payment.detected"], ["payment.reorged"], ["payment.dropped"]],
    ],
    [
      "moved to another block before it was confirmed",
      [
        [mined(100), t(100)],
        [mined(101, "b"), t(101)],
      ],
      "DETECTED",
      [["payment.detected"], []],
    ],
    [
      "forgotten by a source for a while",
      [
        [PENDING, t(99)],
        [UNKNOWN, t(99, DROPPED_AFTER_MS - 1)],
      ],
      "DETECTED",
      [["payment.detected"], []],
    ],
    [
      "forgotten by all",
      [
        [PENDING, t(99)],
        [UNKNOWN, t(99, gone)],
      ],
      "DROPPED",
      [["payment.detected"], ["payment.dropped"]],
    ],
    [
      "forgotten by all, and there after all",
      [
        [PENDING, t(99)],
        [UNKNOWN, t(99, gone)],
        [PENDING, t(99, gone + 1)],
      ],
      "DETECTED",
      [["payment.detected"], ["payment.dropped"], ["payment.detected"]],
    ],
    [
      "replaced, and mined after all",
      [
        [PENDING, t(99)],
        [REPLACED, t(100)],
        [mined(101), t(103)],
      ],
      "CONFIRMED",
      [["payment.detected"], ["payment.dropped"], ["payment.detected", "payment.confirmed"]],
    ],
  ];
  it.each(cases)("%s", (_, looks, status, told) => {
    const { payment, told: news } = story(looks);
    expect(payment.status).toBe(status);
    expect(news).toEqual(told);
  });

  it("tells that what belongs to nobody left the chain, and of what is ignored nothing", () => {
    const looks = [
      [mined(100), t(100)],
      [UNKNOWN, t(101)],
      [REPLACED, t(102)],
      [mined(103), t(103)],
    ] as const;
    const unmatched = story(looks, { kind: "UNMATCHED" });
    expect(unmatched.states.map(({ status }) => status)).toEqual(["UNMATCHED", "REORGED", "DROPPED", "UNMATCHED"]);
    expect(unmatched.told).toEqual([[], ["payment.reorged"], ["payment.dropped"], []]);
    const ignored = story(looks, { kind: "IGNORED" });
    expect(ignored.states.map(({ status }) => status)).toEqual(["IGNORED", "REORGED", "DROPPED", "IGNORED"]);
    expect(ignored.told.flat()).toEqual([]);
  });

  it("is what the chain says once somebody gives it to an invoice", () => {
    const unmatched = firstSeen(t(110), { block: blockAt(100), placement: { kind: "UNMATCHED" } });
    const given = { ...unmatched, invoiceId: PAID_INVOICE, matchedBy: "MANUAL" as const };
    const after = paymentAfter(given, mined(100), t(110));
    expect(after).toMatchObject({ status: "CONFIRMED", confirmedAtMs: t(110).nowMs });
    expect(newsOf(unmatched, after)).toEqual(["payment.detected", "payment.confirmed"]);
  });
});

describe("when a payment was received", () => {
  const at = (minutes: number) => lookAt(100, { nowMs: blockAt(100).timeMs + minutes * MINUTE_MS });
  const receivedAfter = (looks: readonly (readonly [Sight, SightContext])[]) =>
    (story(looks).payment.receivedAtMs - blockAt(100).timeMs) / MINUTE_MS;
  const cases: [string, (readonly [Sight, SightContext])[], number][] = [
    ["the block's time", [[mined(100), at(3)]], 0],
    [
      "the first sight in a mempool, if that was earlier",
      [
        [PENDING, at(-5)],
        [mined(100), at(3)],
      ],
      -5,
    ],
    [
      "the block's time, if that was earlier than the first sight in a mempool",
      [
        [PENDING, at(5)],
        [mined(100), at(6)],
      ],
      0,
    ],
    [
      "the new block's time after a reorg",
      [
        [mined(100), at(3)],
        [mined(101, "b"), at(15)],
      ],
      10,
    ],
    [
      "the new block's time after it was out of the chain",
      [
        [mined(100), at(3)],
        [UNKNOWN, at(4)],
        [mined(101, "b"), at(15)],
      ],
      10,
    ],
    [
      "the first sight in a mempool, even where an earlier block took it for a while",
      [
        [PENDING, at(5)],
        [mined(100), at(6)],
        [mined(101, "b"), at(15)],
      ],
      5,
    ],
    [
      "the first sight of several in a mempool",
      [
        [PENDING, at(-5)],
        [mined(100), at(6)],
        [PENDING, at(7)],
        [mined(101, "b"), at(15)],
      ],
      -5,
    ],
    [
      "the last that was known, while it is nowhere",
      [
        [mined(100), at(3)],
        [UNKNOWN, at(4)],
      ],
      0,
    ],
  ];
  it.each(cases)("is %s", (_, looks, minutes) => {
    expect(receivedAfter(looks)).toBe(minutes);
  });
});

describe("the end of watching", () => {
  it("comes with a final block, or the reorg window where nothing is called final, and not before it is confirmed", () => {
    const finalAt = (context: SightContext, requiredConfirmations = 1) =>
      firstSeen(context, { block: blockAt(100), requiredConfirmations }).finalAtMs;
    expect(finalAt(lookAt(104))).toBeNull();
    expect(finalAt(lookAt(105))).toBe(lookAt(105).nowMs);
    expect(finalAt(lookAt(105), 10)).toBeNull();
    expect(finalAt(lookAt(109), 10)).not.toBeNull();
    expect(finalAt(lookAt(500, { finalized: 99, network: ETHEREUM }))).toBeNull();
    expect(finalAt(lookAt(101, { finalized: 100, network: ETHEREUM }))).not.toBeNull();
    expect(finalAt(lookAt(500, { mayConfirm: false }))).toBeNull();
  });

  it("stands while a provider lags, and is taken back when the block is another after all", () => {
    const final = firstSeen(lookAt(110), { block: blockAt(100) });
    expect(paymentAfter(final, mined(100), lookAt(100))).toBe(final);
    expect(paymentAfter(final, mined(109, "b"), lookAt(110))).toMatchObject({ status: "DETECTED", finalAtMs: null });
    expect(paymentAfter(final, UNKNOWN, lookAt(110))).toMatchObject({ status: "REORGED", finalAtMs: null });
  });

  it("comes 72 hours after it left the chain, or later where the reorg window is longer", () => {
    const reorged = paymentAfter(firstSeen(lookAt(100), { block: blockAt(100) }), UNKNOWN, lookAt(101, { nowMs: 0 }));
    const slow = { ...BITCOIN, reorgWindowBlocks: 6 * 24 * 4 };
    expect(paymentAfter(reorged, UNKNOWN, lookAt(101, { nowMs: 72 * HOUR_MS }))).toBe(reorged);
    expect(paymentAfter(reorged, UNKNOWN, lookAt(101, { nowMs: 72 * HOUR_MS + 1 }))).toMatchObject({
      status: "REORGED",
      finalAtMs: 72 * HOUR_MS + 1,
    });
    expect(paymentAfter(reorged, UNKNOWN, lookAt(101, { network: slow, nowMs: 4 * DAY_MS }))).toBe(reorged);
  });

  it("is never less than 72 hours after an unconfirmed payment was last known, and few looks are written", () => {
    let payment = firstSeen(lookAt(100, { nowMs: 0 }));
    let writes = 0;
    let nowMs = 0;
    for (; nowMs < 10 * DAY_MS; nowMs += 30_000) {
      const after = paymentAfter(payment, PENDING, lookAt(100, { nowMs }));
      if (after !== payment) writes++;
      payment = after;
    }
    expect(writes).toBeLessThanOrEqual(40);
    const lastKnownMs = nowMs - 30_000;
    expect(paymentAfter(payment, UNKNOWN, lookAt(100, { nowMs: lastKnownMs + 72 * HOUR_MS - 1 }))).toBe(payment);
    expect(paymentAfter(payment, UNKNOWN, lookAt(100, { nowMs: lastKnownMs + 78 * HOUR_MS })).status).toBe("DROPPED");
  });
});

describe("any history of looks", () => {
  const height = fc.integer({ min: 100, max: 104 });
  const anySight: fc.Arbitrary<Sight> = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(height, fc.constantFrom("", "b")).map(([h, fork]) => mined(h, fork)) },
    { weight: 1, arbitrary: fc.constantFrom(PENDING, UNKNOWN, REPLACED) },
  );
  const anyLook = fc.record({
    sight: anySight,
    tip: fc.integer({ min: 99, max: 112 }),
    finalized: fc.option(fc.integer({ min: 95, max: 108 }), { nil: undefined, freq: 3 }),
    mayConfirm: fc.option(fc.boolean(), { nil: undefined, freq: 4 }),
    afterMs: fc.oneof(fc.nat({ max: 600_000 }), fc.nat({ max: 100 * HOUR_MS })),
  });
  const anyPlacement: fc.Arbitrary<Placement> = fc.constantFrom(
    { kind: "CREDITED", invoiceId: PAID_INVOICE, matchedBy: "ADDRESS", fiatMicros: null },
    { kind: "CREDITED", invoiceId: PAID_INVOICE, matchedBy: "EXACT_AMOUNT", fiatMicros: null },
    { kind: "UNMATCHED" },
    { kind: "IGNORED" },
  );
  const anyHistory = fc.record({
    placement: anyPlacement,
    first: anySight.filter(({ kind }) => kind === "mined" || kind === "pending"),
    looks: fc.array(anyLook, { minLength: 1, maxLength: 12 }),
  });

  type History = typeof anyHistory extends fc.Arbitrary<infer H> ? H : never;

  function looksOf({ first, looks }: History): (readonly [Sight, SightContext])[] {
    let nowMs = 0;
    return looks.map(({ sight, tip, finalized, mayConfirm, afterMs }, i) => {
      nowMs += afterMs;
      const changes = {
        nowMs,
        ...(finalized !== undefined && { finalized }),
        ...(mayConfirm !== undefined && { mayConfirm }),
      };
      return [i === 0 ? first : sight, lookAt(tip, changes)] as const;
    });
  }

  it("looks twice as well as once", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const looks = looksOf(history);
        const { states } = story(looks, history.placement);
        for (const [i, [sight, context]] of looks.entries()) {
          const state = states[i];
          if (state !== undefined) expect(paymentAfter(state, sight, context)).toBe(state);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("keeps what must be true of every row", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const looks = looksOf(history);
        const { states } = story(looks, history.placement);
        for (const [i, state] of states.entries()) {
          const { status } = state;
          const isInBlock = state.blockHeight !== null;
          expect([state.blockHash !== null, state.blockTimeMs !== null]).toEqual([isInBlock, isInBlock]);
          if (status === "CONFIRMED") expect(state.confirmations).toBeGreaterThan(0);
          expect(state.confirmedAtMs !== null).toBe(status === "CONFIRMED");
          if (status === "REORGED" || status === "DROPPED") expect(isInBlock).toBe(false);
          if (status === "DROPPED") expect(state.finalAtMs).not.toBeNull();
          if (status === "DETECTED") expect(state.finalAtMs).toBeNull();
          if (state.invoiceId === null) expect(["DETECTED", "CONFIRMED"]).not.toContain(status);
          else expect(["UNMATCHED", "IGNORED"]).not.toContain(status);
          const before = states[i - 1];
          const look = looks[i];
          const isSameBlock = isInBlock && before?.blockHash === state.blockHash;
          if (isSameBlock && before?.status === "CONFIRMED") expect(status).toBe("CONFIRMED");
          if (isSameBlock && before?.finalAtMs !== null) expect(state.finalAtMs).toBe(before?.finalAtMs);
          if (look?.[0].kind === "mined") expect(state.blockHash).toBe(look[0].block.hash);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("ends where the last look says, whatever came before: only the first sight in a mempool is remembered", () => {
    fc.assert(
      fc.property(anyHistory, height, (history, at) => {
        const looks = looksOf(history);
        const nowMs = (looks.at(-1)?.[1].nowMs ?? 0) + 1;
        const last = [mined(at, "c"), lookAt(at + 8, { nowMs })] as const;
        const { payment } = story([...looks, last], history.placement);
        const pendingAtMs = looks.find(([{ kind }]) => kind === "pending")?.[1].nowMs;
        const fresh = story([last], history.placement).payment;
        const { createdAtMs, reorgedAtMs, evidence, receivedAtMs, confirmedAtMs, ...columns } = payment;
        expect(fresh).toMatchObject(columns);
        expect(receivedAtMs).toBe(Math.min(pendingAtMs ?? blockAt(at).timeMs, blockAt(at).timeMs));
      }),
      { numRuns: RUNS },
    );
  });

  it("tells a story whose end is the row", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { states, told } = story(looksOf(history), history.placement);
        let heard: string | undefined;
        for (const [i, state] of states.entries()) {
          for (const news of told[i] ?? []) heard = news;
          const isOver = heard === "payment.reorged" || heard === "payment.dropped";
          if (history.placement.kind === "IGNORED") expect(heard).toBeUndefined();
          else if (state.invoiceId === null) expect(["payment.detected", "payment.confirmed"]).not.toContain(heard);
          else expect(heard === "payment.confirmed").toBe(state.status === "CONFIRMED");
          if (state.status === "DROPPED" && heard !== undefined) expect(heard).toBe("payment.dropped");
          if (state.status === "REORGED" && heard !== undefined) expect(isOver).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("is written at most twice more while its block only grows old", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.boolean(), (requiredConfirmations, isFinalizing) => {
        let payment = firstSeen(lookAt(100), { block: blockAt(100), requiredConfirmations });
        let writes = 0;
        for (let tip = 101; tip < 160; tip++) {
          const after = paymentAfter(payment, mined(100), lookAt(tip, isFinalizing ? { finalized: tip - 20 } : {}));
          if (after !== payment) writes++;
          payment = after;
        }
        expect(payment.finalAtMs).not.toBeNull();
        expect(writes).toBeLessThanOrEqual(2);
      }),
      { numRuns: Math.min(RUNS, 10_000) },
    );
  });
});
