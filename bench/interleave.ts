// Runs rounds in turn, A B A B, each for a short window, so that other load on the machine affects both (performance.md).
import type { Context } from "./context.ts";
import { COUNTER } from "./load/job.ts";
import { type RequestShape, requestText } from "./load/request.ts";
import type { Reachable } from "./serve.ts";
import { percentile } from "./statistics.ts";

export interface Target {
  readonly label: string;
  readonly served: Reachable;
  readonly templates: readonly string[];
  readonly expectStatus: number;
  /** A regular expression with one capturing group. Every answer must match it. */
  readonly pattern: string;
  /** Whether every answer must be about a different object, as for creates. */
  readonly isDistinct: boolean;
  /** The request numbers that a replay reuses; without them, each request gets a new number. */
  readonly numbers?: { readonly from: number; readonly count: number };
}

export interface Window {
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** One figure per round, in round order. */
export interface Measured {
  readonly perSecond: readonly number[];
  readonly p50Ms: readonly number[];
  readonly p90Ms: readonly number[];
  readonly p99Ms: readonly number[];
  /** CPU of the server's process per request; empty if it cannot be read. */
  readonly cpuMs: readonly number[];
}

const INVOICE_ID = '"id":"(inv_[0-9A-Z]{26})"';

/** A target that sends one shape of request; a POST gets a fresh idempotency key each time. */
export function target(label: string, served: Reachable, shape: RequestShape, expect: Partial<Target> = {}): Target {
  const isCreate = shape.method === "POST";
  const keyed = isCreate ? { ...shape.headers, "idempotency-key": `bench-${COUNTER}` } : (shape.headers ?? {});
  return {
    label,
    served,
    templates: [requestText({ ...shape, headers: keyed })],
    expectStatus: isCreate ? 201 : 200,
    pattern: INVOICE_ID,
    isDistinct: isCreate,
    ...expect,
  };
}

/** Measures all targets round by round; the result has one entry for each, in order. */
export async function interleave<const T extends readonly Target[]>(
  context: Context,
  targets: T,
  window: Window,
): Promise<{ readonly [K in keyof T]: Measured }>;
export async function interleave(context: Context, targets: readonly Target[], window: Window): Promise<Measured[]> {
  for (const each of targets) await measure(context, each, { ...window, seconds: Math.min(1, window.seconds) });
  const rounds: {
    readonly perSecond: number;
    readonly p50Ms: number;
    readonly p90Ms: number;
    readonly p99Ms: number;
    readonly cpuMs: number;
  }[][] = targets.map(() => []);
  for (let round = 1; round <= window.rounds; round++) {
    for (const [i, each] of targets.entries()) {
      context.progress(`${each.label}, c = ${window.connections}, round ${round} of ${window.rounds}`);
      rounds[i]?.push(await measure(context, each, window));
    }
  }
  return rounds.map((figures) => ({
    perSecond: figures.map((figure) => figure.perSecond),
    p50Ms: figures.map((figure) => figure.p50Ms),
    p90Ms: figures.map((figure) => figure.p90Ms),
    p99Ms: figures.map((figure) => figure.p99Ms),
    cpuMs: figures.map((figure) => figure.cpuMs).filter((cpuMs) => !Number.isNaN(cpuMs)),
  }));
}

/** Measures one round of one target, after a warm-up. For rounds with other work in between. */
export async function interleaveOnce(context: Context, of: Target, window: Window): Promise<Measured> {
  const [measured] = await interleave(context, [of] as const, { ...window, rounds: 1 });
  return measured;
}

/** Several rounds as one measurement, in order. */
export function together(rounds: readonly Measured[]): Measured {
  return {
    perSecond: rounds.flatMap(({ perSecond }) => perSecond),
    p50Ms: rounds.flatMap(({ p50Ms }) => p50Ms),
    p90Ms: rounds.flatMap(({ p90Ms }) => p90Ms),
    p99Ms: rounds.flatMap(({ p99Ms }) => p99Ms),
    cpuMs: rounds.flatMap(({ cpuMs }) => cpuMs),
  };
}

/** Calls `isOver` every `everyMs` until it is true. */
export async function pauseUntil(everyMs: number, isOver: () => Promise<boolean>): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, everyMs));
  while (!(await isOver()));
}

async function measure(context: Context, of: Target, window: Window) {
  const cpuBefore = of.served.cpuSeconds();
  const result = await context.load.run({
    host: of.served.host,
    port: of.served.port,
    connections: window.connections,
    maxSeconds: window.seconds,
    maxRequests: 200_000,
    templates: of.templates,
    numbers: of.numbers ?? context.freshNumbers(),
    expectStatus: of.expectStatus,
    pattern: of.pattern,
  });
  const cpuAfter = of.served.cpuSeconds();
  if (of.isDistinct && result.distinct !== result.requests) {
    throw new Error(`${of.label}: ${result.requests} answers about ${result.distinct} things`);
  }
  const cpuSeconds = cpuBefore === undefined || cpuAfter === undefined ? Number.NaN : cpuAfter - cpuBefore;
  return { ...result, cpuMs: (cpuSeconds * 1_000) / result.requests };
}

/** The median over rounds, as text with its unit. */
export function medianText(values: readonly number[], unit: string): string {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return "not measured";
  const value = percentile(sorted, 0.5);
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(2)} ${unit}`;
}
