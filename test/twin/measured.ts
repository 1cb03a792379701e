// Answers and their latency, overall and outside the periods in which the database did not answer.

/** Milliseconds since 1970. */
export interface Stall {
  readonly startMs: number;
  readonly endMs: number;
}

/** Adds a time span to a list ordered by end; spans that touch are merged. */
export function addSpan(spans: Stall[], { startMs, endMs }: Stall): void {
  const last = spans.at(-1);
  if (last === undefined || last.endMs < startMs) spans.push({ startMs, endMs });
  else spans[spans.length - 1] = { startMs: Math.min(last.startMs, startMs), endMs };
}

export interface Answer {
  readonly begunMs: number;
  readonly ms: number;
  /** An HTTP status; 599 if the connection broke. */
  readonly status: number;
}

/** A route's answers, retries included. */
export type Measured = readonly Answer[];

/** After a stall the database works through its backlog. Answers during this time still count as part of the stall. */
export const RECOVERY_MS = 10_000;

/** Answers to requests that started before a stall, or after its end and recovery. A request that was in flight when a stall began is included. */
export function outside(answers: Measured, stalls: readonly Stall[]): Measured {
  return answers.filter(({ begunMs }) =>
    stalls.every(({ startMs, endMs }) => begunMs < startMs || begunMs > endMs + RECOVERY_MS),
  );
}

/** Answers that were pending at some time during a stall. */
export function during(answers: Measured, stalls: readonly Stall[]): Measured {
  return answers.filter(({ begunMs, ms }) =>
    stalls.some(({ startMs, endMs }) => begunMs < endMs && begunMs + ms > startMs),
  );
}

export interface Figures {
  readonly answers: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Answers other than 2xx. */
  readonly errors: number;
}

export function figuresOf(answers: Measured): Figures {
  const errors = answers.filter(({ status }) => status >= 300).length;
  return { answers: answers.length, ...quantiles(answers.map(({ ms }) => ms)), errors };
}

export function quantiles(times: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99) };
}

/** Counts of each status other than 2xx, as "503 x 4". */
export function otherStatuses(answers: Measured): string {
  const counts = new Map<number, number>();
  for (const { status } of answers) if (status >= 300) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, times]) => `${status} x ${times}`).join(", ");
}
