// A seeded simulation. Every call of a client to storage or to an object is a step. The world runs one step at a time, in an order and with an
// outcome drawn from the seed, so the same seed gives the same history. A crash is a promise that never settles, not an exception: no `catch` and no
// `finally` of a crashed client runs, as when a Worker is gone. Calls that it has already sent may still take effect.

import { newUlid } from "../../../src/lib/ids.ts";
import type { Sleep } from "../../../src/lib/sleep.ts";
import { FAULT_MESSAGES } from "../../../src/platform/db/retry.ts";
import { LEASE_MS } from "../../../src/platform/idempotency/key-reservations.ts";
import { randomFrom } from "../../support/random.ts";
import type { Effect } from "./sqlite-d1.ts";

/** The outcomes of a step other than plain success. */
export const FATES = [
  "lost before",
  "answer lost",
  "stalls",
  "delivered twice",
  "client dies before",
  "client dies after",
  "overloaded",
] as const;

const flagged = (flags: object) => Object.assign(new Error("jsg.Error: something"), flags);
const saying = (parts: readonly string[]) =>
  parts.map((part) => ({ name: part, error: new Error(`D1_ERROR: ${part}.`) }));

/**
 * Every error that the product treats as a fault, by what it means for the work. After an `unknown` error the work may have been done or not; after a
 * `rejected` one it was not done. These are all messages in the product's own table, and those errors that the platform signals by flags alone.
 */
export const FAULTS = {
  unknown: [
    ...saying(FAULT_MESSAGES.transient),
    ...saying(FAULT_MESSAGES.reset),
    { name: "retryable", error: flagged({ retryable: true }) },
  ],
  rejected: [
    ...saying(FAULT_MESSAGES.overloaded),
    { name: "retryable and overloaded", error: flagged({ retryable: true, overloaded: true }) },
  ],
} as const;

/** The notes that a world records for faults that a client received. */
export const FAULT_NOTES: readonly string[] = [
  ...FAULTS.unknown.flatMap(({ name }) => [`lost before: ${name}`, `answer lost: ${name}`]),
  ...FAULTS.rejected.map(({ name }) => `overloaded: ${name}`),
];

type Fate = "happens" | (typeof FATES)[number];

export class Client {
  isDead = false;
  readonly number: number;
  readonly onDeath: () => void;
  constructor(number: number, onDeath: () => void) {
    this.number = number;
    this.onDeath = onDeath;
  }
}

interface Step {
  readonly client: Client;
  readonly point: string;
  readonly isTimer: boolean;
  readonly notBeforeMs: number;
  readonly mayStall: boolean;
  readonly go: (fate: Fate) => void;
}

/** A problem found by the schedule's checks, or undefined. */
export type Verdict = string | undefined;

export class World {
  readonly random: () => number;
  /** How often each point had each outcome, as `point: fate`. */
  readonly hits = new Map<string, number>();
  /** How often a scenario noted each of its situations. */
  readonly notes = new Map<string, number>();
  /** Every point that a step reached. */
  readonly points = new Set<string>();
  /** The history as text, kept only if `isTraced`. */
  readonly trace: string[] = [];
  nowMs = 1_800_000_000_000;
  steps = 0;
  readonly #pending: Step[] = [];
  readonly #faultChance: number;
  readonly #isTraced: boolean;
  readonly #onEviction: () => void;
  #clients = 0;
  #faults: number;
  #hashA = 0x811c9dc5;
  #hashB = 0x1b873593;

  constructor(options: { seed: number; faultChance: number; isTraced: boolean; onEviction: () => void }) {
    this.random = randomFrom(options.seed);
    this.#faults = options.seed;
    // Some schedules have few faults and some have many, because many problems appear only after a single fault at the right moment.
    this.#faultChance = options.faultChance * this.pick([0.15, 0.5, 1, 2]);
    this.#isTraced = options.isTraced;
    this.#onEviction = options.onEviction;
  }

  /** A number that identifies the interleaving: which client did what, in which order, and with which outcome. */
  get interleaving(): number {
    return (this.#hashA >>> 0) * 2 ** 21 + (this.#hashB & 0x1fffff);
  }

  note(name: string): void {
    this.notes.set(name, (this.notes.get(name) ?? 0) + 1);
  }

  client(onDeath: () => void): Client {
    this.#clients++;
    return new Client(this.#clients, onDeath);
  }

  newUlid(): string {
    const bytes = new Uint8Array(16);
    for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(this.random() * 256);
    return newUlid(this.nowMs, bytes);
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.random() * choices.length)] ?? choices[0];
  }

  effectOf(client: Client): Effect {
    return <T>(point: string, work: () => T) =>
      new Promise<T>((resolve, reject) => {
        if (!client.isDead) this.#send(client, point, work, { resolve, reject });
      });
  }

  sleepOf(client: Client): Sleep {
    return (ms, cancellation) =>
      new Promise((resolve) => {
        if (client.isDead) return;
        const step: Step = {
          client,
          point: "sleep",
          isTimer: true,
          notBeforeMs: this.nowMs + ms,
          mayStall: false,
          go: () => resolve(),
        };
        this.#pending.push(step);
        cancellation?.onCancel(() => {
          this.#drop(step);
          resolve();
        });
      });
  }

  /** Stops a client from outside: it receives and sends nothing more. */
  end(client: Client): void {
    this.#kill(client);
  }

  /** The error that a crashed client's callers receive. */
  newOutage(): Error {
    return this.#fault("answer lost");
  }

  /** Runs steps until none is left. */
  async run(maxSteps: number): Promise<Verdict> {
    // The test runner's own timers and messages are processed once per schedule.
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      if (this.#pending.length === 0) return undefined;
      if (++this.steps > maxSteps) return "the world does not come to rest";
      this.#takeStep(this.steps < maxSteps / 2);
      // Every continuation of a step is a microtask, so by node's next tick all clients have requested their next steps.
      await new Promise((resolve) => void process.nextTick(resolve));
    }
  }

  #takeStep(mayFail: boolean): void {
    if (mayFail && this.random() < this.#faultChance / 10) {
      this.#hit("clock: jumps past a lease");
      this.nowMs += LEASE_MS + 1_000;
    }
    if (mayFail && this.random() < this.#faultChance / 10) {
      this.#hit("objects: evicted");
      this.#onEviction();
    }
    const step = this.#takeDue();
    const fate = !step.isTimer && mayFail && this.random() < this.#faultChance ? this.pick(FATES) : "happens";
    const lived: Fate = fate === "stalls" && !step.mayStall ? "happens" : fate;
    this.#record(step, lived);
    step.go(lived);
  }

  /** Takes any of the steps that are due; if none is, the clock advances to the next one. */
  #takeDue(): Step {
    const isDue = (step: Step) => step.notBeforeMs <= this.nowMs;
    if (!this.#pending.some(isDue))
      this.nowMs = this.#pending.reduce((first, { notBeforeMs }) => Math.min(first, notBeforeMs), Infinity);
    let due = 0;
    for (const step of this.#pending) if (isDue(step)) due++;
    let nth = Math.floor(this.random() * due);
    const at = this.#pending.findIndex((step) => isDue(step) && nth-- === 0);
    const [step] = this.#pending.splice(at, 1);
    if (step === undefined) throw new Error("nothing is due");
    return step;
  }

  #send<T>(
    client: Client,
    point: string,
    work: () => T,
    promise: { resolve: (value: T) => void; reject: (error: unknown) => void },
    sent: { notBeforeMs: number; mayStall: boolean } = { notBeforeMs: 0, mayStall: true },
  ): void {
    const answer = (settle: () => void) => {
      if (!client.isDead) settle();
    };
    const deliver = (isHeard: boolean) => {
      try {
        const value = work();
        if (isHeard) answer(() => promise.resolve(value));
      } catch (error) {
        if (isHeard) answer(() => promise.reject(error));
      }
    };
    const go = (fate: Fate): void => {
      switch (fate) {
        case "happens":
          deliver(true);
          return;
        case "lost before":
          answer(() => promise.reject(this.#fault(fate)));
          return;
        case "answer lost":
          deliver(false);
          answer(() => promise.reject(this.#fault(fate)));
          return;
        case "overloaded":
          answer(() => promise.reject(this.#fault(fate)));
          return;
        case "stalls":
          this.#send(client, point, work, promise, { notBeforeMs: this.#later(), mayStall: false });
          return;
        case "delivered twice":
          deliver(true);
          this.#send(client, point, work, nobody, { notBeforeMs: this.#later(), mayStall: false });
          return;
        case "client dies before":
          this.#kill(client);
          return;
        case "client dies after":
          deliver(false);
          this.#kill(client);
          return;
      }
    };
    this.#pending.push({ client, point, isTimer: false, ...sent, go });
  }

  /** Picks errors in rotation, from a different start in each schedule. It draws no random number, so the other draws do not depend on it. */
  #fault(fate: "lost before" | "answer lost" | "overloaded"): Error {
    const faults = FAULTS[fate === "overloaded" ? "rejected" : "unknown"];
    this.#faults += 1;
    const fault = faults[this.#faults % faults.length];
    if (fault === undefined) throw new Error("no fault");
    this.note(`${fate}: ${fault.name}`);
    return fault.error;
  }

  /** A random later time: soon, or up to after the time limit of an attempt or after a lease. */
  #later(): number {
    return this.nowMs + this.random() * this.pick([100, 8_000, 90_000]);
  }

  #kill(client: Client): void {
    if (client.isDead) return;
    client.isDead = true;
    for (const step of this.#pending.filter((each) => each.client === client)) {
      if (step.isTimer || this.random() < 0.5) this.#drop(step);
    }
    client.onDeath();
  }

  #drop(step: Step): void {
    const at = this.#pending.indexOf(step);
    if (at >= 0) this.#pending.splice(at, 1);
  }

  #record(step: Step, fate: Fate): void {
    if (!step.isTimer) this.points.add(step.point);
    if (fate !== "happens") this.#hit(`${step.point}: ${fate}`);
    const text = `${step.client.number} ${step.point} ${fate}`;
    for (let i = 0; i < text.length; i++) {
      this.#hashA = Math.imul(this.#hashA ^ text.charCodeAt(i), 0x01000193);
      this.#hashB = Math.imul(this.#hashB ^ text.charCodeAt(i), 0x5bd1e995);
    }
    if (this.#isTraced) this.trace.push(`${this.nowMs} ${text}`);
  }

  #hit(name: string): void {
    this.hits.set(name, (this.hits.get(name) ?? 0) + 1);
    if (this.#isTraced) this.trace.push(`${this.nowMs} ${name}`);
  }
}

const nobody = { resolve: () => {}, reject: () => {} };
