// How long a request waits for a database that does not answer, and for one that is only slow.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { err, ok, type Result } from "../../../../src/lib/result.ts";
import { requestSleep } from "../../../../src/lib/sleep.ts";
import { askD1, inTime } from "../../../../src/platform/db/unanswered.ts";
import type { Failure } from "../../../../src/platform/failures.ts";
import { randomFrom } from "../../../support/random.ts";

/** During a stall, a request must be refused by this time. */
const AT_MOST_MS = 2_900;

let d1: D1Database;
beforeEach(() => {
  vi.useFakeTimers();
  // The tests use only the identity of this object.
  d1 = JSON.parse("{}");
});
afterEach(() => {
  vi.useRealTimers();
});

const later = <T>(ms: number, value: T) => new Promise<T>((answer) => setTimeout(() => answer(value), ms));
const never = () => new Promise<never>(() => {});

/** Runs `work` as a request that arrived `agoMs` ago. */
function request(work: Promise<Result<string, Failure>>, agoMs = 0) {
  const beganMs = Date.now();
  const left: Promise<unknown>[] = [];
  const waiting = { d1, sleep: requestSleep(), sinceMs: beganMs - agoMs, background: left.push.bind(left) };
  const answer = inTime(waiting, work, err).then((result) => ({ result, ms: Date.now() - beganMs }));
  return { answer, left };
}

describe("a request to a database that does not answer", () => {
  it("is refused within three seconds, with the time to retry", async () => {
    const { answer } = request(askD1(d1, never));
    await vi.advanceTimersByTimeAsync(AT_MOST_MS);
    expect((await answer).result).toEqual(err({ code: "STORAGE_UNAVAILABLE", retryAfterSeconds: 10 }));
    expect((await answer).ms).toBeLessThan(AT_MOST_MS);
  });

  it("leaves its work running, because it may still commit", async () => {
    const { answer, left } = request(askD1(d1, () => later(20_000, ok("made"))));
    await vi.advanceTimersByTimeAsync(AT_MOST_MS);
    await answer;
    expect(left).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await left[0]).toEqual(ok("made"));
  });

  it("is refused within the same three seconds if the database stalls after the first read", async () => {
    const reads = async () => {
      await askD1(d1, () => later(1_500, "read"));
      return askD1(d1, never);
    };
    const { answer } = request(reads());
    await vi.advanceTimersByTimeAsync(AT_MOST_MS);
    expect((await answer).ms).toBeLessThan(AT_MOST_MS);
  });

  it("is refused earlier by the time that it has already waited", async () => {
    const { answer } = request(askD1(d1, never), 2_000);
    await vi.advanceTimersByTimeAsync(AT_MOST_MS);
    expect((await answer).ms).toBeLessThan(AT_MOST_MS - 1_700);
  });
});

describe("a request to a database that answers", () => {
  it("gets its result, however slow it is, while the database answers other requests", async () => {
    const others = setInterval(() => void askD1(d1, () => later(30, "other")), 400);
    const { answer, left } = request(askD1(d1, () => later(8_000, ok("counted"))));
    await vi.advanceTimersByTimeAsync(9_000);
    clearInterval(others);
    expect(await answer).toEqual({ result: ok("counted"), ms: 8_000 });
    expect(left).toEqual([]);
  });

  it("is not refused because of slow work outside the database", async () => {
    const { answer } = request(later(10_000, ok("delivered")));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answer).result).toEqual(ok("delivered"));
  });

  it("gets the database's refusals and errors", async () => {
    const refusal = err({ code: "STORAGE_UNAVAILABLE" } as const);
    expect((await request(askD1(d1, async () => refusal)).answer).result).toEqual(refusal);
    await expect(request(askD1(d1, () => Promise.reject(new Error("a bug")))).answer).rejects.toThrow("a bug");
  });

  it("is not refused when the process was suspended, so that timers fire before answers arrive", async () => {
    const random = randomFrom(20_261_128);
    for (let turn = 0; turn < 200; turn++) {
      const frozenMs = 3_000 + random() * 60_000;
      let arrive = (_: Result<string, Failure>) => {};
      const { answer } = request(
        askD1(d1, () => new Promise<Result<string, Failure>>((answered) => (arrive = answered))),
      );
      // No code runs for `frozenMs`. Then all timers that are due fire, and only after them the answer is read.
      vi.setSystemTime(Date.now() + frozenMs);
      await vi.advanceTimersByTimeAsync(2_601 + random() * 60);
      arrive(ok("made"));
      expect((await answer).result).toEqual(ok("made"));
    }
  });

  it("leaves no timer behind", async () => {
    await request(askD1(d1, async () => ok("made"))).answer;
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
