// What happens to requests for a merchant's object that refuses them: how many reach it, and how it recovers.
import { describe, expect, it } from "vitest";
import { ok } from "../../../../src/lib/result.ts";
import { noteAnswer, Throttle, throttled } from "../../../../src/platform/http/handed-over.ts";
import { randomFrom } from "../../../support/random.ts";

const REFUSED = { ok: false, error: { code: "STORAGE_UNAVAILABLE" } } as const;
const REFUSED_OTHERWISE = { ok: false, error: { code: "UNAUTHORIZED" } } as const;
const TAKEN = ok("made");
/** How many probe requests per second reach an object that accepts nothing. */
const PROBES_A_SECOND = 4;
const BEFORE_IT_CLOSES = 20;

interface Offered {
  readonly seed: number;
  readonly seconds: number;
  readonly requestsASecond: number;
  /** How many requests the object accepts per second; it refuses others. */
  readonly takesASecond: (second: number) => number;
}

/** Requests that reached the object, and requests that it accepted, by second. */
function offer({ seed, seconds, requestsASecond, takesASecond }: Offered) {
  const random = randomFrom(seed);
  const throttle = new Throttle();
  const rows: { readonly reached: number; readonly taken: number }[] = [];
  for (let second = 0; second < seconds; second++) {
    let [reached, taken] = [0, 0];
    const times = Array.from({ length: requestsASecond }, () => 1_000 * (second + random())).sort((a, b) => a - b);
    for (const [nth, nowMs] of times.entries()) {
      if (throttle.refusal(nowMs) !== undefined) continue;
      reached += 1;
      const isTaken = taken < (takesASecond(second) * (nth + 1)) / requestsASecond;
      if (isTaken) taken += 1;
      throttle.note(isTaken ? TAKEN : REFUSED, nowMs);
    }
    rows.push({ reached, taken });
  }
  return rows;
}

interface Line {
  /** How many requests may wait. Further ones are refused on arrival, while waiting ones are answered in order. */
  readonly places: number;
  readonly turnMs: number;
  readonly inATurn: number;
  /** How many requests arrive at the same moment, as if their callers had been given the same time to retry. */
  readonly burst: number;
  readonly burstEveryMs: number;
  readonly seconds: number;
}

/** How many requests an object with a queue answers after it has refused everything for a minute. */
function answeredOf({ places, turnMs, inATurn, burst, burstEveryMs, seconds }: Line): number {
  const throttle = new Throttle();
  let [waiting, answered] = [0, 0];
  const [backAtMs, endMs] = [60_000, 60_000 + seconds * 1_000];
  for (let nowMs = 0; nowMs < endMs; nowMs += 10) {
    if (nowMs % turnMs === 0) {
      const served = Math.min(waiting, inATurn);
      for (let nth = 0; nth < served; nth++) throttle.note(TAKEN, nowMs);
      waiting -= served;
      answered += served;
    }
    if (nowMs % burstEveryMs !== 0) continue;
    // All requests of a burst are pending before the first one is answered.
    const asked = Array.from({ length: burst }, () => throttle.refusal(nowMs)).filter(
      (refusal) => refusal === undefined,
    );
    const taken = nowMs < backAtMs ? 0 : Math.min(asked.length, places - waiting);
    waiting += taken;
    for (let nth = taken; nth < asked.length; nth++) throttle.note(REFUSED, nowMs);
  }
  return answered;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

describe("requests to an object", () => {
  it("all pass while it accepts them, or refuses them for reasons other than load", () => {
    const throttle = new Throttle();
    for (let nth = 0; nth < 1_000; nth++) {
      expect(throttle.refusal(nth)).toBeUndefined();
      throttle.note(nth % 2 === 0 ? TAKEN : REFUSED_OTHERWISE, nth);
    }
  });

  it("all pass in a burst after an hour without requests, even before the first is answered", () => {
    const throttle = new Throttle();
    throttle.note(TAKEN, 0);
    for (let nth = 0; nth < 500; nth++) expect(throttle.refusal(3_600_000)).toBeUndefined();
  });

  it("are limited to a few probes a second while it accepts nothing, and all pass within two seconds of its recovery", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const requestsASecond = 20 * seed;
      const rows = offer({
        seed,
        seconds: 70,
        requestsASecond,
        takesASecond: (second) => (second < 60 ? 0 : requestsASecond),
      });
      const stalled = rows.slice(0, 60).map(({ reached }) => reached);
      expect(sum(stalled)).toBeLessThan(BEFORE_IT_CLOSES + 60 * PROBES_A_SECOND);
      expect(Math.min(...stalled)).toBeGreaterThan(0);
      expect(rows.slice(62).map(({ taken }) => taken)).toEqual(Array.from({ length: 8 }, () => requestsASecond));
    }
  });

  it("reach the object at no more than about twice the rate at which it accepts them", () => {
    for (const [requestsASecond, takes] of [
      [250, 60],
      [400, 100],
      [1_000, 20],
      [90, 60],
    ] as const) {
      const rows = offer({ seed: takes, seconds: 60, requestsASecond, takesASecond: () => takes }).slice(10);
      const [reached, taken] = [sum(rows.map((row) => row.reached)), sum(rows.map((row) => row.taken))];
      expect(taken).toBeGreaterThan(0.6 * takes * rows.length);
      expect(reached).toBeLessThan(2 * taken + PROBES_A_SECOND * rows.length);
    }
  });

  it.each([
    { burst: 40, burstEveryMs: 500 },
    { burst: 75, burstEveryMs: 1_000 },
    { burst: 250, burstEveryMs: 1_000 },
    { burst: 20, burstEveryMs: 50 },
  ])(
    "keep the object busy if it answers in batches and refuses the rest immediately: $burst every $burstEveryMs ms",
    (bursts) => {
      const seconds = 60;
      const answered = answeredOf({ places: 100, turnMs: 500, inATurn: 30, seconds, ...bursts });
      expect(answered).toBeGreaterThan(0.7 * 60 * seconds);
    },
  );

  it("are refused with the time to retry", () => {
    const throttle = new Throttle();
    for (let nth = 0; nth < 50; nth++) throttle.note(REFUSED, 0);
    expect(throttle.refusal(0)).toEqual({ code: "STORAGE_UNAVAILABLE", retryAfterSeconds: 10 });
    expect(throttle.refusal(60_000)).toBeUndefined();
  });
});

it("an isolate tracks at most 1,024 objects that refuse requests, and lets requests pass to an object that it no longer tracks", () => {
  const refuseAt = (merchantId: string) => {
    for (let nth = 0; nth < 20; nth++) noteAnswer(merchantId, REFUSED);
  };
  const isThrottled = (nth: number) => throttled(`merchant ${nth}`) !== undefined;
  expect(isThrottled(0)).toBe(false);
  for (let nth = 0; nth < 1_030; nth++) refuseAt(`merchant ${nth}`);
  expect([0, 5, 6, 1_029].map(isThrottled)).toEqual([false, false, true, true]);
  expect(throttled(undefined)).toBeUndefined();
});
