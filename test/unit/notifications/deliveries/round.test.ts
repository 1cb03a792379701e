import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WebhookId } from "../../../../src/lib/ids.ts";
import { DAY_MS, MINUTE_MS } from "../../../../src/lib/time.ts";
import {
  type Attempt,
  type Claimed,
  endsRound,
  fairShare,
  leaseMs,
  mayBegin,
  outcomeOf,
  type Round,
  verdictOn,
  wakesAfter,
} from "../../../../src/notifications/deliveries/round.ts";
import { HEALTHY, SCHEDULE } from "../../../../src/notifications/webhooks/retry-schedule.ts";
import { RUNS } from "../../../support/property-runs.ts";

const NOW = 1_800_000_000_000;
const delivery: Claimed = {
  id: "dlv_1",
  claim: "t:1",
  attempts: 4,
  step: 1,
  event: { id: "evt_1", merchantId: "mer_1", type: "ping", sequence: null, data: "{}", createdAtMs: 1 },
};

function attempt(statusCode: number | null, of: Partial<Attempt> & { readonly retryAfter?: string } = {}): Attempt {
  const { retryAfter = null, ...more } = of;
  const error = statusCode === null ? "TIMEOUT" : null;
  const answer = { statusCode, error, latencyMs: 1, response: null, retryAfter } as const;
  return { delivery, atMs: NOW - 1, endedMs: NOW, requestHeaders: {}, answer, ...more };
}

function round(timeoutMs: number, leasedAtMs = NOW): Round {
  return { webhook: { timeoutMs } as Round["webhook"], deliveries: [], leasedAtMs };
}

describe("a POST may begin", () => {
  it.each([
    ["at once", { leasedAtMs: NOW, beganMs: NOW, nowMs: NOW }, true],
    ["within the endpoint's time limit", { leasedAtMs: NOW, beganMs: NOW, nowMs: NOW + 999 }, true],
    ["not after the endpoint's time limit", { leasedAtMs: NOW, beganMs: NOW, nowMs: NOW + 1_000 }, false],
    [
      "while the claim and the resolver left enough of the lease",
      { leasedAtMs: NOW, beganMs: NOW + 8_000, nowMs: NOW + 8_000 },
      true,
    ],
    [
      "not once the claim and the resolver have used up the lease",
      { leasedAtMs: NOW, beganMs: NOW + 8_001, nowMs: NOW + 8_001 },
      false,
    ],
  ] as const)("%s", (_, { leasedAtMs, ...at }, may) => {
    expect(mayBegin(round(1_000, leasedAtMs), at)).toBe(may);
  });

  it("only when it can end and be recorded before the lease ends", () => {
    const ms = fc.nat(100_000);
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 30_000 }), ms, ms, (timeoutMs, prepared, passed) => {
        const beganMs = NOW + prepared;
        const nowMs = beganMs + passed;
        if (!mayBegin(round(timeoutMs), { beganMs, nowMs })) return;
        expect(nowMs + timeoutMs).toBeLessThanOrEqual(NOW + leaseMs(timeoutMs) - 8_000);
      }),
      { numRuns: RUNS },
    );
  });
});

it.each([
  [null, true],
  [410, true],
  [200, false],
  [429, false],
  [503, false],
])("a response of %s (null for none) ends the round: %s", (statusCode, isOver) => {
  expect(endsRound(attempt(statusCode))).toBe(isOver);
});

describe("a delivery", () => {
  const chance = { schedule: SCHEDULE, random: 0.5 };

  it.each([200, 204, 299])("succeeds with %i", (statusCode) => {
    expect(outcomeOf(attempt(statusCode), { retryCount: 9 }, chance)).toMatchObject({ kind: "SUCCESS" });
  });

  it.each([
    ["that failed is retried after the gap of its next attempt", 500, undefined, 9, NOW + 5 * MINUTE_MS],
    ["that got no response is retried in the same way", null, undefined, 9, NOW + 5 * MINUTE_MS],
    ["is retried later when the receiver asks for that", 429, "3600", 9, NOW + 60 * MINUTE_MS],
    ["is not retried after its last attempt", 500, undefined, 1, null],
  ] as const)("%s", (_, statusCode, retryAfter, retryCount, nextMs) => {
    const failed = attempt(statusCode, retryAfter === undefined ? {} : { retryAfter });
    expect(outcomeOf(failed, { retryCount }, chance)).toMatchObject({ kind: "FAILURE", nextMs });
  });
});

describe("a round of deliveries", () => {
  const failing = { failuresInRow: 19, failingSinceMs: NOW - 5 * DAY_MS, probeAtMs: null };

  it("changes nothing about its endpoint if nothing was sent", () => {
    expect(verdictOn(failing, [])).toEqual({ health: failing, disable: null, hasSuccess: false });
  });

  it("makes its endpoint healthy if the last delivery succeeded, whatever happened before", () => {
    expect(verdictOn(failing, [attempt(500), attempt(200)])).toEqual({
      health: HEALTHY,
      disable: null,
      hasSuccess: true,
    });
  });

  it("counts only the failures since the last success", () => {
    const later = { endedMs: NOW + 2 };
    const { health } = verdictOn(failing, [attempt(200), attempt(500, { endedMs: NOW + 1 }), attempt(null, later)]);
    expect(health).toEqual({ failuresInRow: 1, failingSinceMs: NOW + 1, probeAtMs: null });
  });

  it("counts one failure for deliveries that failed at the same time", () => {
    const calm = { failuresInRow: 18, failingSinceMs: NOW - 5 * DAY_MS, probeAtMs: null };
    const many = Array.from({ length: 20 }, () => attempt(503));
    expect(verdictOn(calm, many)).toEqual({ health: { ...calm, failuresInRow: 19 }, disable: null, hasSuccess: false });
    expect(verdictOn(HEALTHY, many).health).toEqual({ failuresInRow: 1, failingSinceMs: NOW, probeAtMs: null });
  });

  it("switches the endpoint off as FAILING after days with nothing but failures", () => {
    expect(verdictOn(failing, [attempt(500)])).toMatchObject({ disable: "FAILING", health: { failuresInRow: 20 } });
  });

  it("switches the endpoint off as GONE after a single 410", () => {
    expect(verdictOn(HEALTHY, [attempt(200), attempt(410), attempt(200)])).toMatchObject({ disable: "GONE" });
  });
});

describe("an endpoint is woken", () => {
  const failed = (nextMs: number | null) => ({ kind: "FAILURE", attempt: attempt(500), nextMs }) as const;

  it.each([
    ["for the first and the last retry that is due soon", [4_000, 5_500, 6_000], [4, 6]],
    ["once for a single retry", [4_100], [5]],
    ["not before the retry is due", [1], [1]],
    ["not for a retry that is left to the cron", [15 * MINUTE_MS + 1], []],
    ["for a retry in a quarter of an hour", [15 * MINUTE_MS], [900]],
    ["at once for a retry that is already due", [-10], [0]],
    ["not for a delivery without another attempt", [null], []],
  ])("%s", (_, waits, seconds) => {
    const outcomes = waits.map((wait) => failed(wait === null ? null : NOW + wait));
    const done = { kind: "SUCCESS", attempt: attempt(200) } as const;
    expect(wakesAfter([done, { kind: "UNTRIED", delivery }, ...outcomes], NOW)).toEqual(seconds);
  });
});

describe("among endpoints with deliveries that are due,", () => {
  const due = (merchantId: string, dueMs: number) => {
    const webhookId: WebhookId = `whk_${merchantId}${dueMs}`;
    return { webhookId, merchantId, dueMs };
  };

  it("the longest-waiting endpoint of each merchant comes before any merchant's second endpoint", () => {
    const all = [due("a", 1), due("a", 2), due("a", 3), due("b", 9), due("c", 5)];
    expect(fairShare(all, 4)).toEqual(["whk_a1", "whk_c5", "whk_b9", "whk_a2"]);
  });

  it("as many endpoints as the limit permits are woken, each once, and at least one of every merchant if possible", () => {
    const endpoint = fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.nat(1_000)).map(([who, ms]) => due(who, ms));
    const endpoints = fc.uniqueArray(endpoint, { selector: ({ webhookId }) => webhookId, maxLength: 40 });
    fc.assert(
      fc.property(endpoints, fc.nat(20), (all, limit) => {
        const woken = fairShare(all, limit);
        expect(woken).toHaveLength(Math.min(limit, all.length));
        expect(new Set(woken).size).toBe(woken.length);
        const merchants = new Set(all.map(({ merchantId }) => merchantId));
        const served = new Set(woken.map((id) => id.charAt(4)));
        expect(served.size).toBe(Math.min(merchants.size, limit));
      }),
      { numRuns: RUNS },
    );
  });
});
