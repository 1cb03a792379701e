// Writes the log; every line is one JSON object. A line never contains text that a caller sent, or a bound value in a query.

type LogFacts = Readonly<Record<string, unknown>>;

type Level = "error" | "warn" | "info";

/** `facts`: ids, names and counts; for an error, the result of `safeMessage` or `safeError`. */
export function log(level: "error" | "warn", facts: LogFacts): void {
  const line = logLine(level, facts);
  if (level === "error") console.error(line);
  else console.warn(line);
}

/** Writes a line of `logLine` with `console.log`, whatever its level. */
export function writeLine(line: string): void {
  // biome-ignore lint/suspicious/noConsole: the log's own level
  console.log(line);
}

export function logLine(level: Level, facts: LogFacts): string {
  return JSON.stringify({ level, ...facts });
}

/** Logs a problem that an operator should investigate. Facts are ids and our own words, never text from outside. */
export type Report = (alert: string, facts: Readonly<Record<string, string | number>>) => void;

/** The `Report` used in production: an error line with the member `alert`. */
export function logAlert(alert: string, facts: LogFacts = {}): void {
  log("error", { alert, ...facts });
}

/** For work that nobody waits for: it may be lost, but its failure is logged. Does not reject. */
export function unattended(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: unknown) => log("warn", { work: "background", ...safeError(error) }));
}

/** The message of the innermost cause; for a failed query that is the database's own message. */
export function safeMessage(error: unknown): string {
  const root = rootOf(error);
  if (root === undefined) return "a thrown value that is not an Error";
  return isOfQuery(root) ? "a query failed" : root.message;
}

/** Like `safeMessage`, with the name and the stack of the cause. */
export function safeError(error: unknown): { readonly error: string; readonly stack?: string | undefined } {
  const root = rootOf(error);
  const message = safeMessage(error);
  return root === undefined || isOfQuery(root)
    ? { error: message }
    : { error: `${root.name}: ${message}`, stack: root.stack };
}

/** Whether the error has drizzle's message for a failed query ("Failed query: ... params: ..."), which holds every bound value. */
function isOfQuery({ message }: Error): boolean {
  return message.startsWith("Failed query");
}

/** The innermost cause; undefined if no Error was thrown. Follows a limited number of causes, because they may be circular. */
function rootOf(error: unknown): Error | undefined {
  let root: Error | undefined;
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) root = at;
  return root;
}
