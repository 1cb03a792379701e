import { describe, expect, it } from "vitest";
import { ATTEMPT_LIMIT_MS, OverloadedError } from "../../../../src/platform/db/retry.ts";
import { MOST_UNANSWERED, PROBE_EVERY_MS, Unanswered } from "../../../../src/platform/db/unanswered.ts";
import { randomFrom } from "../../../support/random.ts";

const TICK_MS = 20;
/** Callers who are refused or have given up retry after this time, until they are served. */
const AGAIN_AFTER_MS = 500;
const QUIET_MS = 5_000;
/** The longest time that the database may need after a stall to answer all waiting calls. */
const RECOVERED_MS = 110_000;
/** D1 ends a call that has waited this long. */
const LIMIT_MS = 30_000;
const never = () => new Promise<never>(() => {});

/** A database that handles one call at a time, each in `takesMs`, and none before `stalledUntilMs`. A waiting call cannot be withdrawn. */
class Line {
  nowMs = 0;
  stalledUntilMs = 0;
  longest = 0;
  readonly #takesMs: number;
  readonly #calls: { readonly sinceMs: number; answer(): void; fail(error: Error): void }[] = [];
  #doneMs = 0;

  constructor(takesMs: number) {
    this.#takesMs = takesMs;
  }

  call(): Promise<void> {
    return new Promise((answer, fail) => {
      this.#calls.push({ sinceMs: this.nowMs, answer, fail });
      this.longest = Math.max(this.longest, this.#calls.length);
    });
  }

  /** Advances the clock by one tick, and answers or fails the calls that are due. */
  work(): void {
    this.nowMs += TICK_MS;
    while ((this.#calls[0]?.sinceMs ?? this.nowMs) <= this.nowMs - LIMIT_MS)
      this.#calls.shift()?.fail(new Error("late"));
    if (this.nowMs < this.stalledUntilMs || this.#calls.length === 0) this.#doneMs = this.nowMs;
    for (; this.#calls.length > 0 && this.#doneMs + this.#takesMs <= this.nowMs; this.#doneMs += this.#takesMs)
      this.#calls.shift()?.answer();
  }
}

interface Day {
  readonly seed: number;
  readonly takesMs: number;
  readonly callersASecond: number;
  readonly stallMs: number;
  readonly ask: (call: () => Promise<void>, nowMs: () => number) => Promise<void>;
}

/** Timers that become due in the order in which they were added. */
class Later<T> {
  readonly #due: { readonly atMs: number; readonly what: T }[] = [];
  add(atMs: number, what: T): void {
    this.#due.push({ atMs, what });
  }
  take(nowMs: number): readonly T[] {
    const at = this.#due.findIndex(({ atMs }) => atMs > nowMs);
    return this.#due.splice(0, at === -1 ? this.#due.length : at).map(({ what }) => what);
  }
}

/** Simulates callers who wait for an attempt as long as the Worker does. Returns the results for those who arrived in the last 20 s. */
async function play({ seed, takesMs, callersASecond, stallMs, ask }: Day) {
  const random = randomFrom(seed);
  const line = new Line(takesMs);
  const [again, givingUp] = [new Later<number>(), new Later<(isAnswered: boolean) => void>()];
  const lastMs = QUIET_MS + stallMs + RECOVERED_MS;
  const waits: number[] = [];
  let late = 0;
  const attempt = (beganMs: number) => {
    let isOver = false;
    const over = (isAnswered: boolean) => {
      if (isOver) return;
      isOver = true;
      if (!isAnswered) again.add(line.nowMs + AGAIN_AFTER_MS, beganMs);
      else if (beganMs > lastMs - 20_000) waits.push(line.nowMs - beganMs);
    };
    givingUp.add(line.nowMs + ATTEMPT_LIMIT_MS, over);
    ask(
      () => line.call(),
      () => line.nowMs,
    ).then(
      () => over(true),
      () => over(false),
    );
  };
  while (line.nowMs < lastMs) {
    if (line.nowMs >= QUIET_MS) line.stalledUntilMs = QUIET_MS + stallMs;
    line.work();
    for (let step = 0; step < 8; step++) await undefined;
    for (const over of givingUp.take(line.nowMs)) over(false);
    for (const beganMs of again.take(line.nowMs)) attempt(beganMs);
    if (random() >= (callersASecond * TICK_MS) / 1_000) continue;
    if (line.nowMs > lastMs - 20_000) late += 1;
    attempt(line.nowMs);
  }
  return { longest: line.longest, late, answered: waits.length, slowest: Math.max(0, ...waits) };
}

describe("calls without an answer", () => {
  it.each([
    { takesMs: 20, callersASecond: 30, stallMs: 25_000 },
    { takesMs: 20, callersASecond: 25, stallMs: 60_000 },
    { takesMs: 60, callersASecond: 8, stallMs: 80_000 },
    { takesMs: 4, callersASecond: 45, stallMs: 20_000 },
  ])("do not prevent a database from recovering from a stall of $stallMs ms if they are limited", async (given) => {
    for (let seed = 1; seed <= 3; seed++) {
      const unanswered = new Unanswered();
      const day = await play({ ...given, seed, ask: (call, nowMs) => unanswered.ask(call, nowMs) });
      // The calls that arrive before the first one is late, plus the bound, plus one probe per second.
      const most =
        given.callersASecond * 1.5 * (ATTEMPT_LIMIT_MS / 1_000) + MOST_UNANSWERED + LIMIT_MS / PROBE_EVERY_MS;
      expect(day.longest).toBeLessThan(most);
      expect(day.late).toBeGreaterThan(100);
      expect(day.answered).toBeGreaterThan(day.late - 10);
      expect(day.slowest).toBeLessThan(ATTEMPT_LIMIT_MS);
    }
  });

  it("prevent a database from recovering if they are not limited", async () => {
    const given = { takesMs: 20, callersASecond: 30, stallMs: 25_000, seed: 1 };
    const day = await play({ ...given, ask: (call) => call() });
    expect(day.longest).toBeGreaterThan(500);
    expect(day.answered).toBe(0);
  });

  it("cause no refusal once a later call was answered, however many there are", async () => {
    const unanswered = new Unanswered();
    let nowMs = 0;
    for (let call = 0; call < 10 * MOST_UNANSWERED; call++) void unanswered.ask(never, () => nowMs);
    nowMs += 2 * PROBE_EVERY_MS;
    await unanswered.ask(
      async () => undefined,
      () => nowMs,
    );
    nowMs += 2 * ATTEMPT_LIMIT_MS;
    for (let call = 0; call < 10; call++)
      expect(
        await unanswered.ask(
          async () => call,
          () => nowMs,
        ),
      ).toBe(call);
  });

  it("never cause a refusal of a caller whose calls come one at a time, so clients that disconnect block nobody", async () => {
    const unanswered = new Unanswered();
    let nowMs = 0;
    for (let call = 0; call < 10 * MOST_UNANSWERED; call++) void unanswered.ask(never, () => nowMs);
    nowMs += ATTEMPT_LIMIT_MS;
    expect(
      await unanswered.ask(
        async () => "answered",
        () => nowMs,
      ),
    ).toBe("answered");
    expect(
      await unanswered.ask(
        async () => "and again",
        () => nowMs,
      ),
    ).toBe("and again");
  });

  it("make later calls fail without being started, until the unanswered calls are too old to count", async () => {
    const unanswered = new Unanswered();
    let nowMs = 0;
    let begun = 0;
    const call = () => {
      begun += 1;
      return never();
    };
    for (let n = 0; n < MOST_UNANSWERED; n++) void unanswered.ask(call, () => nowMs);
    nowMs += ATTEMPT_LIMIT_MS;
    void unanswered.ask(call, () => nowMs);
    await expect(unanswered.ask(call, () => nowMs)).rejects.toThrow(OverloadedError);
    expect(begun).toBe(MOST_UNANSWERED + 1);
    nowMs += 30_000;
    void unanswered.ask(call, () => nowMs);
    void unanswered.ask(call, () => nowMs);
    expect(begun).toBe(MOST_UNANSWERED + 3);
  });

  it("do not include calls that ended with an error of the database", async () => {
    const unanswered = new Unanswered();
    let nowMs = 0;
    for (let call = 0; call < 10 * MOST_UNANSWERED; call++)
      await expect(
        unanswered.ask(
          () => Promise.reject(new Error("no such table")),
          () => nowMs,
        ),
      ).rejects.toThrow("no such table");
    nowMs += ATTEMPT_LIMIT_MS;
    expect(
      await unanswered.ask(
        async () => 1,
        () => nowMs,
      ),
    ).toBe(1);
  });
});
