import { describe, expect, it, test } from "vitest";
import {
  DROPPED_AFTER_MS,
  KNOWN_EVERY_MS,
  type ObservationContext,
  observationOf,
  paymentAfter,
  paymentEvents,
} from "../../../../src/commerce/payments/chain-observation.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/lib/time.ts";
import {
  BITCOIN,
  blockAt,
  ETHEREUM,
  firstSeen,
  lookAt,
  PAID_INVOICE,
  transferOf,
} from "../../../support/payment-facts.ts";
import { type Look, mined, PENDING, REPLACED, story, UNKNOWN } from "../../../support/payment-story.ts";

test("a transfer is pending until it has a block", () => {
  expect(observationOf(transferOf())).toEqual({ kind: "pending" });
  expect(observationOf(transferOf({ block: blockAt(7) }))).toEqual(mined(7));
});

describe("a payment that is seen for the first time", () => {
  it("has every fact of the transfer, and its value", () => {
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

  it("has the current time as its received time while it is not in a block", () => {
    expect(firstSeen(lookAt(100))).toMatchObject({
      status: "DETECTED",
      confirmations: 0,
      blockHeight: null,
      receivedAtMs: lookAt(100).nowMs,
    });
  });

  it.each(["UNMATCHED", "IGNORED"] as const)(
    "is %s when no invoice is credited, regardless of its block's depth",
    (kind) => {
      const payment = firstSeen(lookAt(100), { block: blockAt(50), placement: { kind } });
      expect(payment).toMatchObject({
        status: kind,
        invoiceId: null,
        matchedBy: null,
        fiatMicros: null,
        marketMicros: null,
        confirmedAtMs: null,
      });
      expect(paymentEvents(undefined, payment)).toEqual([]);
    },
  );
});

describe("a payment to be confirmed", () => {
  const cases: [
    string,
    Partial<ObservationContext> & { tip: number; finalized?: number; required?: number },
    string,
  ][] = [
    ["is CONFIRMED with its required confirmations", { tip: 102 }, "CONFIRMED"],
    ["is DETECTED one short of its required confirmations", { tip: 101 }, "DETECTED"],
    ["is CONFIRMED in a block that the chain calls final", { tip: 100, finalized: 100 }, "CONFIRMED"],
    ["is DETECTED in a block above the final one", { tip: 101, finalized: 99 }, "DETECTED"],
    ["is CONFIRMED when deep enough, though its block is not final yet", { tip: 102, finalized: 50 }, "CONFIRMED"],
    ["is DETECTED above the tip of a provider that lags", { tip: 99, finalized: 100 }, "DETECTED"],
    ["is DETECTED above the tip, even when no confirmation is required", { tip: 99, required: 0 }, "DETECTED"],
    ["is CONFIRMED in a block when no confirmation is required", { tip: 100, required: 0 }, "CONFIRMED"],
    ["is DETECTED while a second provider has not agreed", { tip: 110, finalized: 105, mayConfirm: false }, "DETECTED"],
    ["is CONFIRMED once a second provider has agreed", { tip: 102, mayConfirm: true }, "CONFIRMED"],
  ];
  it.each(cases)("%s", (_, { tip, required = 3, ...changes }, status) => {
    const payment = firstSeen(lookAt(tip, changes), { block: blockAt(100), requiredConfirmations: required });
    expect(payment.status).toBe(status);
    expect(payment.confirmedAtMs).toBe(status === "CONFIRMED" ? lookAt(tip).nowMs : null);
  });

  it("stays confirmed in the same block, even when a source lags or a second source no longer agrees", () => {
    const confirmed = firstSeen(lookAt(102), { block: blockAt(100) });
    for (const context of [lookAt(99), lookAt(100), lookAt(102, { mayConfirm: false })]) {
      expect(paymentAfter(confirmed, mined(100), context)).toBe(confirmed);
    }
  });

  it("has its confirmations counted again in a different block, and announces a reorg only if it is no longer confirmed", () => {
    const confirmed = firstSeen(lookAt(102), { block: blockAt(100) });
    const shallow = paymentAfter(confirmed, mined(102, "b"), lookAt(103));
    expect(shallow).toMatchObject({
      status: "DETECTED",
      blockHash: "block-102b",
      confirmations: 2,
      confirmedAtMs: null,
    });
    expect(paymentEvents(confirmed, shallow)).toEqual(["payment.reorged"]);
    const deep = paymentAfter(confirmed, mined(101, "b"), lookAt(103));
    expect(deep).toMatchObject({ status: "CONFIRMED", blockHeight: 101, receivedAtMs: blockAt(100).timeMs });
    expect(paymentEvents(confirmed, deep)).toEqual([]);
  });
});

describe("a payment that cannot be spent yet", () => {
  const mined = (tip: number, requiredConfirmations: number) =>
    firstSeen(lookAt(tip), {
      transfer: transferOf({ block: blockAt(10), leastConfirmations: 100 }),
      requiredConfirmations,
    });

  it.each([
    [1, 108, "DETECTED"],
    [1, 109, "CONFIRMED"],
    [120, 128, "DETECTED"],
    [120, 129, "CONFIRMED"],
  ])(
    "is confirmed once it can be spent and has the confirmations that its wallet requires (%i, tip %i: %s)",
    (required, tip, status) => {
      expect(mined(tip, required)).toMatchObject({ status, requiredConfirmations: Math.max(100, required) });
      const later = paymentAfter(mined(20, required), { kind: "mined", block: blockAt(10) }, lookAt(tip));
      expect([later.status, later.finalAtMs === null]).toEqual([status, status === "DETECTED"]);
    },
  );
});

describe("the states and events of a payment", () => {
  const t = (tip: number, ms = 0) => lookAt(tip, { nowMs: tip * 600_000 + ms });
  const gone = DROPPED_AFTER_MS + KNOWN_EVERY_MS;
  const cases: [string, Look[], string, string[][]][] = [
    [
      "first in the mempool, then mined, then confirmed",
      [
        [PENDING, t(99)],
        [mined(100), t(100)],
        [mined(100), t(102)],
      ],
      "CONFIRMED",
      [["payment.detected"], [], ["payment.confirmed"]],
    ],
    [
      "already confirmed when first seen",
      [[mined(100), t(102)]],
      "CONFIRMED",
      [["payment.detected", "payment.confirmed"]],
    ],
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
      "replaced after it was mined",
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
      "back in the mempool, then mined again",
      [
        [mined(100), t(102)],
        [PENDING, t(103)],
        [mined(104, "b"), t(106)],
      ],
      "CONFIRMED",
      [["payment.detected", "payment.confirmed"], ["payment.reorged"], ["payment.confirmed"]],
    ],
    [
      "out of the chain, then mined again",
      [
        [mined(100), t(102)],
        [UNKNOWN, t(103)],
        [mined(104, "b"), t(106)],
      ],
      "CONFIRMED",
      [["payment.detected", "payment.confirmed"], ["payment.reorged"], ["payment.detected", "payment.confirmed"]],
    ],
    [
      "out of the chain, then back in the mempool",
      [
        [mined(100), t(100)],
        [UNKNOWN, t(103)],
        [PENDING, t(104)],
      ],
      "DETECTED",
      [["payment.detected"], ["payment.reorged"], ["payment.detected"]],
    ],
    [
      "out of the chain, then replaced",
      [
        [mined(100), t(100)],
        [UNKNOWN, t(103)],
        [REPLACED, t(104)],
      ],
      "DROPPED",
      [["payment.detected"], ["payment.reorged"], ["payment.dropped"]],
    ],
    [
      "mined in another block before it was confirmed",
      [
        [mined(100), t(100)],
        [mined(101, "b"), t(101)],
      ],
      "DETECTED",
      [["payment.detected"], []],
    ],
    [
      "unknown to its source for less than 72 hours",
      [
        [PENDING, t(99)],
        [UNKNOWN, t(99, DROPPED_AFTER_MS - 1)],
      ],
      "DETECTED",
      [["payment.detected"], []],
    ],
    [
      "unknown to its source for longer than 72 hours",
      [
        [PENDING, t(99)],
        [UNKNOWN, t(99, gone)],
      ],
      "DROPPED",
      [["payment.detected"], ["payment.dropped"]],
    ],
    [
      "dropped as unknown, then back in the mempool",
      [
        [PENDING, t(99)],
        [UNKNOWN, t(99, gone)],
        [PENDING, t(99, gone + 1)],
      ],
      "DETECTED",
      [["payment.detected"], ["payment.dropped"], ["payment.detected"]],
    ],
    [
      "replaced, then mined anyway",
      [
        [PENDING, t(99)],
        [REPLACED, t(100)],
        [mined(101), t(103)],
      ],
      "CONFIRMED",
      [["payment.detected"], ["payment.dropped"], ["payment.detected", "payment.confirmed"]],
    ],
  ];
  it.each(cases)("%s", (_, looks, status, expected) => {
    const { payment, events } = story(looks);
    expect(payment.status).toBe(status);
    expect(events).toEqual(expected);
  });

  it("announce that an unmatched payment left the chain, and announce nothing about an ignored one", () => {
    const looks = [
      [mined(100), t(100)],
      [UNKNOWN, t(101)],
      [REPLACED, t(102)],
      [mined(103), t(103)],
    ] as const;
    const unmatched = story(looks, { kind: "UNMATCHED" });
    expect(unmatched.states.map(({ status }) => status)).toEqual(["UNMATCHED", "REORGED", "DROPPED", "UNMATCHED"]);
    expect(unmatched.events).toEqual([[], ["payment.reorged"], ["payment.dropped"], []]);
    const ignored = story(looks, { kind: "IGNORED" });
    expect(ignored.states.map(({ status }) => status)).toEqual(["IGNORED", "REORGED", "DROPPED", "IGNORED"]);
    expect(ignored.events.flat()).toEqual([]);
  });

  it("follow the chain once a user assigns an unmatched payment to an invoice", () => {
    const unmatched = firstSeen(t(110), { block: blockAt(100), placement: { kind: "UNMATCHED" } });
    const given = { ...unmatched, invoiceId: PAID_INVOICE, matchedBy: "MANUAL" as const };
    const after = paymentAfter(given, mined(100), t(110));
    expect(after).toMatchObject({ status: "CONFIRMED", confirmedAtMs: t(110).nowMs });
    expect(paymentEvents(unmatched, after)).toEqual(["payment.detected", "payment.confirmed"]);
  });
});

describe("the end of watching a payment", () => {
  it("comes with a final block, or after the reorg window if blocks are never final, and only if the payment is confirmed", () => {
    const finalAt = (context: ObservationContext, requiredConfirmations = 1) =>
      firstSeen(context, { block: blockAt(100), requiredConfirmations }).finalAtMs;
    expect(finalAt(lookAt(104))).toBeNull();
    expect(finalAt(lookAt(105))).toBe(lookAt(105).nowMs);
    expect(finalAt(lookAt(105), 10)).toBeNull();
    expect(finalAt(lookAt(109), 10)).not.toBeNull();
    expect(finalAt(lookAt(500, { finalized: 99, network: ETHEREUM }))).toBeNull();
    expect(finalAt(lookAt(101, { finalized: 100, network: ETHEREUM }))).not.toBeNull();
    expect(finalAt(lookAt(500, { mayConfirm: false }))).toBeNull();
  });

  it("is not undone because a source lags, but only if the block was replaced or left the chain", () => {
    const final = firstSeen(lookAt(110), { block: blockAt(100) });
    expect(paymentAfter(final, mined(100), lookAt(100))).toBe(final);
    expect(paymentAfter(final, mined(109, "b"), lookAt(110))).toMatchObject({ status: "DETECTED", finalAtMs: null });
    expect(paymentAfter(final, UNKNOWN, lookAt(110))).toMatchObject({ status: "REORGED", finalAtMs: null });
  });

  it("comes 72 hours after the payment left the chain, or later if the reorg window is longer", () => {
    const reorged = paymentAfter(firstSeen(lookAt(100), { block: blockAt(100) }), UNKNOWN, lookAt(101, { nowMs: 0 }));
    const slow = { ...BITCOIN, reorgWindowBlocks: 6 * 24 * 4 };
    expect(paymentAfter(reorged, UNKNOWN, lookAt(101, { nowMs: 72 * HOUR_MS }))).toBe(reorged);
    expect(paymentAfter(reorged, UNKNOWN, lookAt(101, { nowMs: 72 * HOUR_MS + 1 }))).toMatchObject({
      status: "REORGED",
      finalAtMs: 72 * HOUR_MS + 1,
    });
    expect(paymentAfter(reorged, UNKNOWN, lookAt(101, { network: slow, nowMs: 4 * DAY_MS }))).toBe(reorged);
  });

  it("comes at least 72 hours after an unconfirmed payment was last seen, and few observations are written", () => {
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
