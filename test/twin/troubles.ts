// Isolates that begin anew at moments that are drawn; and whether what its jobs said of faults is explained by what befell it.
import * as z from "zod";
import type { Twin } from "./deployment.ts";
import type { Stall } from "./measured.ts";
import type { Part } from "./runtime.ts";

/** What is on one machine is replaced by itself, and now and then all at once. */
const REPLACED: readonly (readonly Part[])[] = [["edge"], ["objects"], ["objects", "edge"]];

/** Isolates begin anew, so often on average, until the returned function is called. */
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

/** A line of the log of a job that failed. Milliseconds since 1970. */
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

/** A line takes a moment to come, and what was cut off is told later than what cut it. */
const GRACE_MS = 1_000;

/** An isolate that a stall made careful refuses calls until it has refused none for so long (src/platform/db/unanswered.ts). */
const CAREFUL_MS = 30_000;

/** The stalls with what came of them: as long as callers were refused, and a careful time behind the last of them. `refusedAt`: in order. */
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

/** Those during which nothing befell the database, an object or an isolate. `times`: of all that did. */
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
