// One line for each piece of work: a request, a job, a watcher's pass, a round of deliveries. It says what was done and what it cost, in ids, our own names and
// counts; never a body, a header, a query text, or a path that a caller wrote.
import { logLine, writeLine } from "./log.ts";
import { err, ok, type Result } from "./result.ts";

/** What a piece of work cost in D1. */
export interface Cost {
  readonly calls: number;
  /** As reported by D1, index entries included. A share, for a call that several pieces of work made together. */
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

export const NO_COST: Cost = { calls: 0, rowsRead: 0, rowsWritten: 0 };

export interface Work {
  readonly work: "request" | "job" | "pass" | "deliveries";
  readonly ms: number;
  readonly cost: Cost;
  /** Whether it failed because of us: such lines are never left out. */
  readonly isFault: boolean;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
}

/** LOG_SAMPLE: the share of lines that are written. The error is a sentence. */
export function parseLogSample(text: string | undefined): Result<number, string> {
  const trimmed = (text ?? "").trim();
  if (trimmed === "") return ok(1);
  const share = /^[01](\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : 2;
  return share <= 1 ? ok(share) : err("LOG_SAMPLE must be a number from 0 to 1");
}

/** Writes the line, or leaves it out. `random`: in [0, 1). A wrong setting counts as 1. */
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
