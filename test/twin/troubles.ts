// Restarts isolates at random times, and checks whether the faults that jobs reported are explained by what happened to the deployment.
import * as z from "zod";
import type { Twin } from "./deployment.ts";
import type { Stall } from "./measured.ts";
import type { Part } from "./runtime.ts";

/** The parts that are replaced together: each machine alone, and sometimes both at once. */
const REPLACED: readonly (readonly Part[])[] = [["edge"], ["objects"], ["objects", "edge"]];

/** Restarts isolates at this average interval, until the returned function is called. */
export function recycling(twin: Pick<Twin, "recycle">, everyMs: number, random: () => number): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout;
  const next = () => {
    timer = setTimeout(
      async () => {
        await twin.recycle(REPLACED[Math.floor(random() * REPLACED.length)] ?? []);
        if (!isOver) next();
      },
      everyMs * 2 * random(),
    );
  };
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** A failed job, from its log line. Times in milliseconds since 1970. */
export interface JobFault {
  readonly job: string;
  readonly fromMs: number;
  readonly toMs: number;
}

const JOB_LINE = z.object({ work: z.literal("job"), job: z.string(), ms: z.number().default(0) });

/** `atMs`: when the line was written. Returns undefined if the line does not report a failed job. */
export function jobFaultIn(line: string, atMs: number): JobFault | undefined {
  if (!line.startsWith('{"level":"error"')) return undefined;
  const { success, data } = JOB_LINE.safeParse(JSON.parse(line));
  return success ? { job: data.job, fromMs: atMs - data.ms, toMs: atMs } : undefined;
}

/** A log line takes a moment to arrive, and a lost connection is reported after its cause. */
const GRACE_MS = 1_000;

/** After a stall an isolate may refuse calls until it has refused none for this long (src/platform/db/unanswered.ts). */
const CAREFUL_MS = 30_000;

/**
 * The stalls with their after-effects: the time in which callers were refused, plus one careful period after the last refusal. `refusedAt` is sorted.
 */
export function withAftermath(stalls: readonly Stall[], refusedAt: readonly number[]): readonly Stall[] {
  return stalls.map(({ startMs, endMs }) => {
    let lastMs = endMs;
    for (const atMs of refusedAt) if (atMs > lastMs && atMs <= lastMs + CAREFUL_MS) lastMs = atMs;
    return {
      startMs,
      endMs: refusedAt.some((atMs) => atMs >= startMs && atMs <= lastMs) ? lastMs + CAREFUL_MS : endMs,
    };
  });
}

/** The injected faults, and anything else that may make a job fail. Times in milliseconds since 1970. */
interface Played {
  /** When a single call to the database or to an object failed. Such a call belongs to at most one job, so it excuses only one. */
  readonly calls: readonly number[];
  /** When everything pending in an object or isolate was lost. */
  readonly moments: readonly number[];
  /** Stalls with their after-effects. */
  readonly spans: readonly Stall[];
}

/** The failed jobs that no injected fault explains. */
export function unexplained(faults: readonly JobFault[], { calls, moments, spans }: Played): readonly JobFault[] {
  const long = [...moments.map((atMs) => ({ startMs: atMs, endMs: atMs })), ...spans];
  const left = faults.filter((fault) => long.every((span) => !overlaps(fault, span)));
  // Each call goes to the fault that ends first, so that as many as possible are excused.
  for (const atMs of calls.toSorted((a, b) => a - b)) {
    const met = left.filter((fault) => overlaps(fault, { startMs: atMs, endMs: atMs }));
    const [first] = met.toSorted((one, other) => one.toMs - other.toMs);
    if (first !== undefined) left.splice(left.indexOf(first), 1);
  }
  return left;
}

const overlaps = ({ fromMs, toMs }: JobFault, { startMs, endMs }: Stall) =>
  endMs >= fromMs - GRACE_MS && startMs <= toMs + GRACE_MS;

/** Kinds of faults that affect a single call. */
const OF_ONE_CALL = ["refused", "lost"];

interface Observed {
  readonly gate: {
    readonly counts: { readonly failedAt: readonly number[] };
    readonly stalls: readonly Stall[];
    readonly late: readonly Stall[];
  };
  readonly troubles: ReadonlyMap<string, readonly number[]>;
  readonly refusedAt: readonly number[];
  readonly jobFaults: readonly JobFault[];
}

/** The failed jobs that no injected fault explains. `overloaded` are those during which this machine was too slow, so they prove nothing. */
export function unexcused({ gate, troubles, refusedAt, jobFaults }: Observed): {
  readonly uncaused: readonly JobFault[];
  readonly overloaded: readonly JobFault[];
} {
  const of = (isOfOneCall: boolean) =>
    [...troubles].filter(([kind]) => OF_ONE_CALL.includes(kind) === isOfOneCall).flatMap(([, times]) => times);
  const left = unexplained(jobFaults, {
    calls: [...gate.counts.failedAt, ...of(true)],
    moments: of(false),
    spans: withAftermath(gate.stalls, refusedAt),
  });
  const slow = withAftermath(gate.late, refusedAt);
  const isOverloaded = (fault: JobFault) => slow.some((span) => overlaps(fault, span));
  return { uncaused: left.filter((fault) => !isOverloaded(fault)), overloaded: left.filter(isOverloaded) };
}
