// Properties of any history of observations of a payment, with any behaviour of the chain and its sources. chain-observation.test.ts has single
// cases.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ChainObservation,
  type Placement,
  paymentAfter,
} from "../../../../src/commerce/payments/chain-observation.ts";
import type { Payment } from "../../../../src/commerce/payments/payment.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";
import { blockAt, firstSeen, lookAt, PAID_INVOICE } from "../../../support/payment-facts.ts";
import { type Look, mined, PENDING, REPLACED, story, UNKNOWN } from "../../../support/payment-story.ts";
import { RUNS } from "../../../support/property-runs.ts";

describe("any history of observations of a payment", () => {
  const height = fc.integer({ min: 100, max: 104 });
  const anyObservation: fc.Arbitrary<ChainObservation> = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(height, fc.constantFrom("", "b")).map(([h, fork]) => mined(h, fork)) },
    { weight: 1, arbitrary: fc.constantFrom(PENDING, UNKNOWN, REPLACED) },
  );
  const anyLook = fc.record({
    observation: anyObservation,
    tip: fc.integer({ min: 99, max: 112 }),
    finalized: fc.option(fc.integer({ min: 95, max: 108 }), { nil: undefined, freq: 3 }),
    mayConfirm: fc.option(fc.boolean(), { nil: undefined, freq: 4 }),
    afterMs: fc.oneof(fc.nat({ max: 600_000 }), fc.nat({ max: 100 * HOUR_MS })),
  });
  const anyPlacement: fc.Arbitrary<Placement> = fc.constantFrom(
    { kind: "CREDITED", invoiceId: PAID_INVOICE, matchedBy: "ADDRESS", marketMicros: null },
    { kind: "CREDITED", invoiceId: PAID_INVOICE, matchedBy: "EXACT_AMOUNT", marketMicros: null },
    { kind: "UNMATCHED" },
    { kind: "IGNORED" },
  );
  const anyHistory = fc.record({
    placement: anyPlacement,
    first: anyObservation.filter(({ kind }) => kind === "mined" || kind === "pending"),
    looks: fc.array(anyLook, { minLength: 1, maxLength: 12 }),
    // A miner's clock may be behind or ahead of ours, and a block may be read late.
    fromMs: fc.integer({ min: -2 * HOUR_MS, max: 3 * HOUR_MS }),
  });

  type History = typeof anyHistory extends fc.Arbitrary<infer H> ? H : never;

  function looksOf({ first, looks, fromMs }: History): Look[] {
    let nowMs = blockAt(100).timeMs + fromMs;
    return looks.map(({ observation, tip, finalized, mayConfirm, afterMs }, i) => {
      nowMs += afterMs;
      const changes = {
        nowMs,
        ...(finalized !== undefined && { finalized }),
        ...(mayConfirm !== undefined && { mayConfirm }),
      };
      return [i === 0 ? first : observation, lookAt(tip, changes)] as const;
    });
  }

  /** The payment's earliest time after each observation, from blocks and observations. It is determined again after a drop. */
  function timesOf(looks: readonly Look[], states: readonly Payment[]): readonly number[] {
    const times: number[] = [];
    for (const [i, [observation, { nowMs }]] of looks.entries()) {
      const before = times[i - 1] ?? Number.POSITIVE_INFINITY;
      const blockMs = observation.kind === "mined" ? observation.block.timeMs : Number.POSITIVE_INFINITY;
      const isSeen = observation.kind === "mined" || observation.kind === "pending";
      const seenMs = isSeen ? Math.min(blockMs, nowMs) : before;
      times.push(isSeen && states[i - 1]?.status === "DROPPED" ? seenMs : Math.min(before, seenMs));
    }
    return times;
  }

  it("only ever moves the received time earlier, to the earliest block or observation since the payment was last dropped", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const looks = looksOf(history);
        const { states } = story(looks, history.placement);
        expect(states.map(({ receivedAtMs }) => receivedAtMs)).toEqual(timesOf(looks, states));
      }),
      { numRuns: RUNS },
    );
  });

  it("changes nothing when an observation is repeated", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const looks = looksOf(history);
        const { states } = story(looks, history.placement);
        for (const [i, [observation, context]] of looks.entries()) {
          const state = states[i];
          if (state !== undefined) expect(paymentAfter(state, observation, context)).toBe(state);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("never violates the invariants of a payment's row", () => {
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

  it("ends in the state of the last observation, which alone determines everything except the received time", () => {
    fc.assert(
      fc.property(anyHistory, height, (history, at) => {
        const looks = looksOf(history);
        const nowMs = (looks.at(-1)?.[1].nowMs ?? 0) + 1;
        const last = [mined(at, "c"), lookAt(at + 8, { nowMs })] as const;
        const { payment, states } = story([...looks, last], history.placement);
        const fresh = story([last], history.placement).payment;
        const { createdAtMs, reorgedAtMs, wasIgnored, receivedAtMs, confirmedAtMs, ...columns } = payment;
        expect(fresh).toMatchObject(columns);
        expect(receivedAtMs).toBe(timesOf([...looks, last], states).at(-1));
      }),
      { numRuns: RUNS },
    );
  });

  it("always has a last event that agrees with the row", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { states, events } = story(looksOf(history), history.placement);
        let lastEvent: string | undefined;
        for (const [i, state] of states.entries()) {
          for (const event of events[i] ?? []) lastEvent = event;
          const isOver = lastEvent === "payment.reorged" || lastEvent === "payment.dropped";
          if (history.placement.kind === "IGNORED") expect(lastEvent).toBeUndefined();
          else if (state.invoiceId === null) expect(["payment.detected", "payment.confirmed"]).not.toContain(lastEvent);
          else expect(lastEvent === "payment.confirmed").toBe(state.status === "CONFIRMED");
          if (state.status === "DROPPED" && lastEvent !== undefined) expect(lastEvent).toBe("payment.dropped");
          if (state.status === "REORGED" && lastEvent !== undefined) expect(isOver).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("writes a payment at most twice more if only the depth of its block changes", () => {
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
