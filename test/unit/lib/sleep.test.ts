import fc from "fast-check";
import { expect, it } from "vitest";
import { Cancellation, requestSleep, type Sleep, type SleepClock } from "../../../src/lib/sleep.ts";
import { RUNS } from "../../support/property-runs.ts";

const LONGEST_MS = 60;

/** A simulation of real time, of timers that follow it, and of a wall clock that can be set. */
class TimeWorld implements SleepClock {
  realMs = 0;
  #wallMs = 1_000_000;
  readonly #timers = new Map<object, { readonly atMs: number; readonly ring: () => void }>();
  mostTimers = 0;
  /** How far the clock was moved since a timer last fired or was stopped. Each move counts as at most the longest sleep. */
  setMs = 0;

  nowMs(): number {
    return this.#wallMs + this.realMs;
  }

  startTimer(ring: () => void, ms: number): () => void {
    const timer = {};
    this.#timers.set(timer, { atMs: this.realMs + ms, ring });
    this.mostTimers = Math.max(this.mostTimers, this.timers);
    return () => {
      this.#timers.delete(timer);
      if (this.timers === 0) this.setMs = 0;
    };
  }

  get timers(): number {
    return this.#timers.size;
  }

  setClock(byMs: number): void {
    this.#wallMs += byMs;
    this.setMs += Math.min(Math.abs(byMs), LONGEST_MS);
  }

  /** Time passes while other code runs, so no timer fires. */
  block(ms: number): void {
    this.realMs += ms;
  }

  /** Time passes, and each timer fires when it is due, or at once if it is late. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.realMs + ms;
    for (let next = this.#next(); next !== undefined && next[1].atMs <= untilMs; next = this.#next()) {
      const [timer, { atMs, ring }] = next;
      this.#timers.delete(timer);
      this.realMs = Math.max(this.realMs, atMs);
      this.setMs = 0;
      ring();
      await settled();
    }
    this.realMs = Math.max(this.realMs, untilMs);
  }

  #next() {
    return [...this.#timers].toSorted(([, a], [, b]) => a.atMs - b.atMs)[0];
  }
}

async function settled(): Promise<void> {
  for (let step = 0; step < 5; step++) await undefined;
}

interface Slept {
  readonly fromMs: number;
  readonly ms: number;
  readonly cancellation: Cancellation;
  wokenAtMs: number | undefined;
  cancelledAtMs: number | undefined;
  /** How long timers were blocked during the sleep, and how far the clock was moved between the timer before the sleep and its end. */
  blockedMs: number;
  setMs: number;
}

const duration = fc.oneof(fc.constantFrom(0, 1, 50), fc.nat(LONGEST_MS));
const sleeping = fc.record({ kind: fc.constant("sleep" as const), ms: duration });
const cancelling = fc.record({ kind: fc.constant("cancel" as const), which: fc.nat() });
const passing = fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(40) });
const blocking = fc.record({ kind: fc.constant("block" as const), ms: fc.nat(100) });
const setting = fc.record({
  kind: fc.constant("set" as const),
  ms: fc.oneof(fc.integer({ min: -100, max: 100 }), fc.constantFrom(-3_600_000, 3_600_000)),
});
type Step =
  typeof sleeping extends fc.Arbitrary<infer S>
    ? S | { kind: "cancel"; which: number } | { kind: "pass" | "block" | "set"; ms: number }
    : never;

/** Runs the steps, then lets enough time pass for all sleepers to wake. */
async function play(steps: readonly Step[], expectTimers: (world: TimeWorld, asleep: number) => void) {
  const world = new TimeWorld();
  const rest = requestSleep(world);
  const all: Slept[] = [];
  const asleep = () => all.filter(({ wokenAtMs }) => wokenAtMs === undefined);
  for (const step of steps) {
    await playStep({ world, rest, all, asleep }, step);
    await settled();
    expectTimers(world, asleep().length);
  }
  await world.pass(1_000);
  expect(asleep()).toEqual([]);
  expect(world.timers).toBe(0);
  expect(world.mostTimers).toBeLessThanOrEqual(1);
  return all;
}

interface Playing {
  readonly world: TimeWorld;
  readonly rest: Sleep;
  readonly all: Slept[];
  readonly asleep: () => readonly Slept[];
}

async function playStep({ world, rest, all, asleep }: Playing, step: Step): Promise<void> {
  if (step.kind === "pass") await world.pass(step.ms);
  else if (step.kind === "cancel") {
    const sleeper = asleep()[step.which % Math.max(1, asleep().length)];
    if (sleeper === undefined) return;
    sleeper.cancelledAtMs = world.realMs;
    sleeper.cancellation.cancel();
  } else if (step.kind === "sleep") {
    const slept: Slept = {
      fromMs: world.realMs,
      ms: step.ms,
      cancellation: new Cancellation(),
      wokenAtMs: undefined,
      cancelledAtMs: undefined,
      blockedMs: 0,
      setMs: world.setMs,
    };
    all.push(slept);
    rest(step.ms, slept.cancellation).then(() => {
      slept.wokenAtMs = world.realMs;
    });
  } else {
    for (const each of asleep()) {
      if (step.kind === "block") each.blockedMs += step.ms;
      else each.setMs += Math.min(Math.abs(step.ms), LONGEST_MS);
    }
    if (step.kind === "block") world.block(step.ms);
    else world.setClock(step.ms);
  }
}

const schedule = (...kinds: fc.Arbitrary<Step>[]) =>
  fc.array(fc.oneof(sleeping, sleeping, passing, cancelling, ...kinds), { maxLength: 60 });

const oneTimer = (world: TimeWorld, asleep: number) => expect(world.timers).toBe(asleep > 0 ? 1 : 0);

it("all sleepers share one timer, which is stopped when nobody sleeps; each wakes on time, or at once when cancelled", async () => {
  await fc.assert(
    fc.asyncProperty(schedule(), async (steps) => {
      for (const { fromMs, ms, wokenAtMs, cancelledAtMs } of await play(steps, oneTimer))
        expect(wokenAtMs).toBe(cancelledAtMs ?? fromMs + ms);
    }),
    { numRuns: RUNS },
  );
});

it("when timers fire late, no sleeper wakes early, and none is late by more than the timers", async () => {
  await fc.assert(
    fc.asyncProperty(schedule(blocking), async (steps) => {
      for (const { fromMs, ms, wokenAtMs = -1, cancelledAtMs, blockedMs } of await play(steps, oneTimer)) {
        if (cancelledAtMs !== undefined) expect(wokenAtMs).toBe(cancelledAtMs);
        else expect(wokenAtMs).toBeGreaterThanOrEqual(fromMs + ms);
        expect(wokenAtMs).toBeLessThanOrEqual(fromMs + ms + blockedMs);
      }
    }),
    { numRuns: RUNS },
  );
});

it("when the clock is set, nobody wakes early or late by more than the clock was moved", async () => {
  await fc.assert(
    fc.asyncProperty(schedule(setting, blocking), async (steps) => {
      for (const { fromMs, ms, wokenAtMs = -1, cancelledAtMs, blockedMs, setMs } of await play(steps, oneTimer)) {
        if (cancelledAtMs !== undefined) expect(wokenAtMs).toBe(cancelledAtMs);
        else expect(wokenAtMs).toBeGreaterThanOrEqual(fromMs + ms - setMs);
        expect(wokenAtMs).toBeLessThanOrEqual(fromMs + ms + blockedMs + setMs);
      }
    }),
    { numRuns: RUNS },
  );
});

it("setting the clock forward by an hour makes nobody sleep longer", async () => {
  const hourOn = fc.constant({ kind: "set" as const, ms: 3_600_000 });
  await fc.assert(
    fc.asyncProperty(schedule(hourOn), async (steps) => {
      for (const { fromMs, ms, wokenAtMs } of await play(steps, oneTimer))
        expect(wokenAtMs).toBeLessThanOrEqual(fromMs + ms);
    }),
    { numRuns: RUNS },
  );
});
