// One log line for each unit of work: a request, a job, a watcher's pass, a round of deliveries. It records what was done and what it cost, in ids,
// our own names and counts; never a body, a header, a query text, or a path that a caller sent.
import { logLine, writeLine } from "./log.ts";
import { err, ok, type Result } from "./result.ts";

/** The cost of a unit of work in D1. */
export interface Cost {
  readonly calls: number;
  /** As reported by D1, including index entries. If several units of work share a call, each counts only its own share. */
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

export const NO_COST: Cost = { calls: 0, rowsRead: 0, rowsWritten: 0 };

export interface Work {
  readonly work: "request" | "job" | "pass" | "deliveries";
  readonly ms: number;
  readonly cost: Cost;
  /** Whether the work failed because of our own fault: such lines are always written. */
  readonly isFault: boolean;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
}

/** Parses LOG_SAMPLE, the share of lines that are written. The error is a sentence for the operator. */
export function parseLogSample(text: string | undefined): Result<number, string> {
  const trimmed = (text ?? "").trim();
  if (trimmed === "") return ok(1);
  const share = /^[01](\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : 2;
  return share <= 1 ? ok(share) : err("LOG_SAMPLE must be a number from 0 to 1");
}

/**
 * Writes the line if `random` is below LOG_SAMPLE, or if the work failed because of our own fault. `random`: in [0, 1). An invalid setting counts as
 * 1.
 */
export function logWork(of: Work, settings: { readonly LOG_SAMPLE?: string | undefined }, random: number): void {
  const share = parseLogSample(settings.LOG_SAMPLE);
  if (of.isFault || random < (share.ok ? share.value : 1)) writeLine(workLine(of));
}

export function workLine({ work, ms, cost, isFault, facts }: Work): string {
  const { calls: d1Calls, rowsRead, rowsWritten } = cost;
  const rows = { rowsRead: rounded(rowsRead), rowsWritten: rounded(rowsWritten) };
  return logLine(isFault ? "error" : "info", { work, ...facts, ms, d1Calls, ...rows });
}

function rounded(rows: number): number {
  return Math.round(rows * 10) / 10;
}
