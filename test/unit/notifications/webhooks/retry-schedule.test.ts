import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/lib/time.ts";
import {
  afterFailure,
  afterSuccess,
  type FailedAttempt,
  gapMs,
  HEALTHY,
  type Health,
  judge,
  nextAttemptMs,
  parseSchedule,
  retryAfterMs,
  SCHEDULE,
} from "../../../../src/notifications/webhooks/retry-schedule.ts";
import { RUNS } from "../../../support/property-runs.ts";

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const failed = (over: Partial<FailedAttempt> = {}): FailedAttempt => ({
  nowMs: NOW,
  step: 1,
  retryCount: 9,
  retryAfter: null,
  random: 0.5,
  schedule: SCHEDULE,
  ...over,
});

describe("the schedule", () => {
  it("has ten attempts in about 76 hours: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h", () => {
    const hour = 3_600;
    expect(SCHEDULE).toEqual([0, 5, 300, 1_800, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]);
    const hours = SCHEDULE.reduce((sum, gap) => sum + gap, 0) / hour;
    expect(hours).toBeGreaterThan(75);
    expect(hours).toBeLessThan(76);
  });

  it("makes the first attempt at once, and varies each gap randomly by up to 20 %", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), random, (attempt, random) => {
        const middleMs = (SCHEDULE[attempt - 1] ?? Number.NaN) * SECOND_MS;
        const gap = gapMs(SCHEDULE, attempt, random);
        expect(gap).toBeGreaterThanOrEqual(0.8 * middleMs);
        expect(gap).toBeLessThanOrEqual(1.2 * middleMs);
        expect(Number.isInteger(gap)).toBe(true);
      }),
      { numRuns: RUNS },
    );
    expect([0, 0.5, 0.999].map((random) => gapMs(SCHEDULE, 1, random))).toEqual([0, 0, 0]);
    expect([0, 0.5, 1 - Number.EPSILON].map((random) => gapMs(SCHEDULE, 2, random))).toEqual([4_000, 5_000, 6_000]);
  });

  it("repeats its last gap for every attempt after its end", () => {
    expect([1, 2, 3, 10].map((attempt) => gapMs([0, 1], attempt, 0.5))).toEqual([0, 1_000, 1_000, 1_000]);
  });

  it("throws for attempt 0, and if it is empty", () => {
    expect(() => gapMs(SCHEDULE, 0, 0.5)).toThrow("attempt 0");
    expect(() => gapMs([], 1, 0.5)).toThrow("of 0");
  });
});

describe("a delivery that failed", () => {
  it("is retried exactly retryCount times after the first attempt", () => {
    for (let retryCount = 0; retryCount <= 10; retryCount++) {
      let nowMs: number | null = NOW;
      let step = 0;
      while (nowMs !== null) nowMs = nextAttemptMs(failed({ nowMs, step: ++step, retryCount }));
      expect(step).toBe(1 + retryCount);
    }
  });

  it("is retried for about 76 hours in all, give or take 20 %", () => {
    fc.assert(
      fc.property(fc.array(random, { minLength: 9, maxLength: 9 }), (randoms) => {
        const end = randoms.reduce((nowMs, random, index) => {
          const next = nextAttemptMs(failed({ nowMs, step: index + 1, random }));
          expect(next).toBeGreaterThan(nowMs);
          return next ?? Number.NaN;
        }, NOW);
        expect(end - NOW).toBeGreaterThan(60 * HOUR_MS);
        expect(end - NOW).toBeLessThan(91 * HOUR_MS);
      }),
      { numRuns: RUNS },
    );
  });

  it("waits as long as Retry-After says, up to a day, but never less than the schedule says", () => {
    expect(nextAttemptMs(failed({ retryAfter: "60" }))).toBe(NOW + MINUTE_MS);
    expect(nextAttemptMs(failed({ retryAfter: "2" }))).toBe(NOW + 5 * SECOND_MS);
    expect(nextAttemptMs(failed({ retryAfter: "Fri, 20 Nov 2026 12:10:00 GMT" }))).toBe(NOW + 10 * MINUTE_MS);
    const anyHeader = fc.oneof(
      fc.nat().map(String),
      fc.integer({ min: -DAY_MS, max: 3 * DAY_MS }).map((ms) => new Date(NOW + ms).toUTCString()),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(anyHeader, fc.integer({ min: 1, max: 9 }), random, (retryAfter, step, random) => {
        const without = nextAttemptMs(failed({ step, random })) ?? Number.NaN;
        const next = nextAttemptMs(failed({ step, random, retryAfter }));
        expect(next).toBeGreaterThanOrEqual(without);
        expect(next).toBeLessThanOrEqual(Math.max(without, NOW + DAY_MS));
      }),
      { numRuns: RUNS },
    );
  });

  it("is retried a tenth time after the schedule's last gap if its endpoint has retryCount 10", () => {
    expect(nextAttemptMs(failed({ step: 10, retryCount: 10 }))).toBe(NOW + 24 * HOUR_MS);
    expect(nextAttemptMs(failed({ step: 11, retryCount: 10 }))).toBeNull();
  });

  it("gets no additional attempt from Retry-After", () => {
    expect(nextAttemptMs(failed({ step: 10, retryAfter: "60" }))).toBeNull();
    expect(nextAttemptMs(failed({ step: 1, retryCount: 0, retryAfter: "60" }))).toBeNull();
  });
});

describe("Retry-After", () => {
  it.each([
    ["0", 0],
    ["120", 120_000],
    [" 120 ", 120_000],
    ["007", 7_000],
    ["86400", DAY_MS],
    ["86401", DAY_MS],
    ["9".repeat(400), DAY_MS],
    ["Fri, 20 Nov 2026 12:00:30 GMT", 30_000],
    ["Friday, 20-Nov-26 12:00:30 GMT", 30_000],
    ["Fri Nov 20 12:00:30 2026", 30_000],
    ["Sun Dec  6 08:49:37 2026", DAY_MS],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ["Wed, 01 Jan 2098 00:00:00 GMT", DAY_MS],
  ])("of %j asks for %i ms", (header, ms) => {
    expect(retryAfterMs(header, NOW)).toBe(ms);
  });

  it.each([
    null,
    "",
    " ",
    "soon",
    "-5",
    "+5",
    "1.5",
    "1e3",
    "0x10",
    "5, 10",
    "5s",
    "٣",
    "2026-11-20T12:00:30Z",
    "Fri, 20 Nov 2026 12:00:30",
    "Fri, 20 Nov 2026 12:00:30 +0100",
    "Fri, 99 Nov 2026 12:00:30 GMT",
    "Fri, 20 Foo 2026 12:00:30 GMT",
    "Fri, 20 Nov 2026 25:00:30 GMT",
    "\0",
  ])("of %j is ignored", (header) => {
    expect(retryAfterMs(header, NOW)).toBeUndefined();
  });
});

describe("WEBHOOK_SCHEDULE_SECONDS", () => {
  it.each([
    [undefined, SCHEDULE],
    ["", SCHEDULE],
    ["  ", SCHEDULE],
    ["0", [0]],
    ["0,1,1,1", [0, 1, 1, 1]],
    [" 0 , 0.25 ", [0, 0.25]],
    ["0,86400", [0, 86_400]],
    ["1,2,3,4,5,6,7,8,9,10", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ])("of %j sets the gaps %j", (setting, schedule) => {
    expect(parseSchedule(setting, true)).toEqual({ ok: true, value: schedule });
  });

  it.each([
    ",",
    "0,",
    "0,,1",
    "a",
    "-1",
    "1e3",
    "0x1",
    "1;2",
    "0 1",
    "86400.1",
    "100000",
    ".5",
    "1.",
    "NaN",
    "Infinity",
    "1,2,3,4,5,6,7,8,9,10,11",
  ])("of %j is refused with a readable message", (setting) => {
    expect(parseSchedule(setting, true)).toEqual({
      ok: false,
      error: "WEBHOOK_SCHEDULE_SECONDS must be 1 to 10 numbers of seconds from 0 to 86400, comma-separated",
    });
  });

  it("is for development only", () => {
    expect(parseSchedule("0,1", false)).toMatchObject({
      ok: false,
      error: expect.stringContaining("development only"),
    });
    expect(parseSchedule("", false)).toEqual({ ok: true, value: SCHEDULE });
  });

  it("changes the times of attempts, but not their number", () => {
    const schedule = [0, 0.1];
    expect(nextAttemptMs(failed({ step: 9, schedule }))).toBe(NOW + 100);
    expect(nextAttemptMs(failed({ step: 10, schedule }))).toBeNull();
  });
});

describe("an attempt", () => {
  it("is a success only if the status is 2xx", () => {
    for (let status = 0; status < 1_000; status++) {
      expect(judge({ statusCode: status })).toBe(status >= 200 && status < 300 ? "SUCCESS" : "FAILURE");
    }
    expect(judge({ statusCode: null })).toBe("FAILURE");
  });
});

describe("an endpoint that fails", () => {
  const failing = (times: number, gap: number, statusCode: number | null = 500) => {
    let verdict = afterSuccess();
    let nowMs = NOW;
    for (let i = 0; i < times; i++) {
      nowMs = NOW + i * gap;
      verdict = afterFailure(verdict.health, { nowMs, statusCode });
    }
    return { ...verdict, nowMs };
  };

  it("is probed every 15 minutes from the 20th failure in a row", () => {
    expect(failing(19, SECOND_MS).health).toEqual({ failuresInRow: 19, failingSinceMs: NOW, probeAtMs: null });
    for (const times of [20, 21, 500]) {
      const { health, disable, nowMs } = failing(times, SECOND_MS);
      expect(health).toEqual({ failuresInRow: times, failingSinceMs: NOW, probeAtMs: nowMs + 15 * MINUTE_MS });
      expect(disable).toBeNull();
    }
  });

  it("is switched off by 410 at once, but by no other status", () => {
    expect(failing(1, 0, 410).disable).toBe("GONE");
    for (const statusCode of [null, 301, 400, 404, 409, 411, 429, 500])
      expect(failing(1, 0, statusCode).disable).toBeNull();
  });

  it("is switched off after 5 days of only failures, and not a millisecond before", () => {
    const before: Health = { failuresInRow: 400, failingSinceMs: NOW, probeAtMs: NOW };
    const at = (nowMs: number) => afterFailure(before, { nowMs, statusCode: null }).disable;
    expect(at(NOW + 5 * DAY_MS - 1)).toBeNull();
    expect(at(NOW + 5 * DAY_MS)).toBe("FAILING");
    expect(at(NOW + 9 * DAY_MS)).toBe("FAILING");
  });

  it("is not switched off after only a few failures, even if the first was long ago", () => {
    expect(failing(2, 7 * DAY_MS).disable).toBeNull();
    expect(failing(19, DAY_MS).disable).toBeNull();
    expect(failing(20, DAY_MS).disable).toBe("FAILING");
  });

  it("is healthy again after one success", () => {
    expect(afterSuccess()).toEqual({
      health: { failuresInRow: 0, failingSinceMs: null, probeAtMs: null },
      disable: null,
    });
    expect(afterSuccess().health).toEqual(HEALTHY);
  });

  const outcome = fc.record({
    afterMs: fc.oneof(fc.integer({ min: 0, max: MINUTE_MS }), fc.integer({ min: 0, max: DAY_MS })),
    isSuccess: fc.integer({ min: 0, max: 30 }).map((die) => die === 0),
  });

  it("is judged only by its failures since its last success, for any sequence of results and pauses", () => {
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 60 }), (outcomes) => {
        let health: Health = HEALTHY;
        let nowMs = NOW;
        let row: number[] = [];
        for (const { afterMs, isSuccess } of outcomes) {
          nowMs += afterMs;
          row = isSuccess ? [] : [...row, nowMs];
          const verdict = isSuccess ? afterSuccess() : afterFailure(health, { nowMs, statusCode: 503 });
          health = verdict.health;
          const isLong = nowMs - (row[0] ?? nowMs) >= 5 * DAY_MS;
          expect(verdict).toEqual({
            health: {
              failuresInRow: row.length,
              failingSinceMs: row[0] ?? null,
              probeAtMs: row.length >= 20 ? nowMs + 15 * MINUTE_MS : null,
            },
            disable: row.length >= 20 && isLong ? "FAILING" : null,
          });
        }
      }),
      { numRuns: RUNS },
    );
  });
});
