// Isolates that restart at random times; and whether the jobs' reported faults are explained by what happened to the
// deployment.
import * as z from "zod";
import type { Twin } from "./deployment.ts";
import type { Stall } from "./measured.ts";
import type { Part } from "./runtime.ts";

/** Each machine's part is replaced alone, and sometimes all at once. */
const REPLACED: readonly (readonly Part[])[] = [["edge"], ["objects"], ["objects", "edge"]];

/** Isolates restart, at this average interval, until the returned function is called. */
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

/** A log line of a failed job. Milliseconds since 1970. */
export interface JobFault {
  readonly job: string;
  readonly fromMs: number;
  readonly toMs: number;
}

const JOB_LINE = z.object({ work: z.literal("job"), job: z.string(), ms: z.number().default(0) });

/** `atMs`: when the line was written. Undefined for all other lines. */
export function jobFaultIn(line: string, atMs: number): JobFault | undefined {
  if (!line.startsWith('{"level":"error"')) return undefined;
  const { success, data } = JOB_LINE.safeParse(JSON.parse(line));
  return success ? { job: data.job, fromMs: atMs - data.ms, toMs: atMs } : undefined;
}

/** A line takes a moment to arrive, and a cut is reported after its cause. */
const GRACE_MS = 1_000;

/** An isolate made careful by a stall refuses calls until it has refused none for this long (src/platform/db/unanswered.ts). */
const CAREFUL_MS = 30_000;

/** The stalls with their after-effects: while callers were refused, plus one careful period after the last. `refusedAt`: in order. */
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

/** Those during which nothing happened to the database, an object or an isolate. `times`: when things did happen. */
export function unexplained(
  faults: readonly JobFault[],
  times: readonly number[],
  stalls: readonly Stall[],
): readonly JobFault[] {
  const spans = [...times.map((atMs) => ({ startMs: atMs, endMs: atMs })), ...stalls];
  return faults.filter(({ fromMs, toMs }) =>
    spans.every(({ startMs, endMs }) => endMs < fromMs - GRACE_MS || startMs > toMs + GRACE_MS),
  );
}
