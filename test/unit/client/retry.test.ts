import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRetryable, parseRetryAfter, retryDelayMs } from "../../../client/retry.ts";
import { RUNS } from "../../support/property-runs.ts";

describe("a status", () => {
  it("is retried if and only if Interface 8 lists it", () => {
    const all = Array.from({ length: 500 }, (_, n) => n + 100);
    expect(all.filter(isRetryable)).toEqual([429, 500, 502, 503, 504]);
  });
});

describe("a wait", () => {
  const backoff = { baseMs: 500, capMs: 8_000, retryAfterMs: undefined };

  it.each([
    [0, 499],
    [1, 999],
    [2, 1_999],
    [3, 3_999],
    [4, 7_999],
    [5, 7_999],
    [2_000, 7_999],
  ])("before retry %i is at most %i ms", (retry, most) => {
    expect(retryDelayMs({ ...backoff, retry, random: 1 - 2 ** -53 })).toBe(most);
    expect(retryDelayMs({ ...backoff, retry, random: 0 })).toBe(0);
  });

  it("is a random share of its ceiling, added to the Retry-After", () => {
    fc.assert(
      fc.property(
        fc.nat(40),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.option(fc.nat(100_000), { nil: undefined }),
        (retry, random, retryAfterMs) => {
          const wait = retryDelayMs({ ...backoff, retry, random, retryAfterMs });
          const ceiling = Math.min(8_000, 500 * 2 ** retry);
          expect(wait - (retryAfterMs ?? 0)).toBe(Math.floor(random * ceiling));
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe("Retry-After", () => {
  const nowMs = Date.UTC(2026, 10, 21, 12, 0, 0);

  it.each([
    ["0", 0],
    ["1", 1_000],
    ["120", 120_000],
    ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000],
    // A time in the past.
    ["Sat, 21 Nov 2026 11:59:00 GMT", 0],
    [null, undefined],
    ["", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["2026", 2_026_000],
    ["2026-11-21T12:00:30Z", undefined],
    ["Sat, 99 Nov 2026 12:00:30 GMT", undefined],
    ["99999999999999999999", undefined],
  ])("of %j is %j ms", (value, expected) => {
    expect(parseRetryAfter(value, nowMs)).toBe(expected);
  });

  it("is read to the second from any HTTP date", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(nowMs), max: new Date(nowMs + 1e10), noInvalidDate: true }), (date) => {
        const wait = parseRetryAfter(date.toUTCString(), nowMs);
        expect(wait).toBe(Math.floor(date.getTime() / 1_000) * 1_000 - nowMs);
      }),
      { numRuns: RUNS },
    );
  });
});
