// Every line of the log is one JSON object. No line holds what a caller sent, or a value that a query was bound to.

export type LogFacts = Readonly<Record<string, unknown>>;

type Level = "error" | "warn";

/** `facts`: ids, names and counts; of an error, what `safeMessage` or `safeError` returns. */
export function log(level: Level, facts: LogFacts): void {
  const line = logLine(level, facts);
  if (level === "error") console.error(line);
  else console.warn(line);
}

export function logLine(level: Level, facts: LogFacts): string {
  return JSON.stringify({ level, ...facts });
}

/** Logs something that an operator should look into. Facts are ids and words of our own, never text from outside. */
export type Report = (alert: string, facts: Readonly<Record<string, string | number>>) => void;

/** The `Report` of the product. */
export function logAlert(alert: string, facts: LogFacts = {}): void {
  log("error", { alert, ...facts });
}

/** The message of the innermost cause, which is the database's own where a query failed. */
export function safeMessage(error: unknown): string {
  const root = rootOf(error);
  if (root === undefined) return "a thrown value that is no Error";
  return isOfQuery(root) ? "a query failed" : root.message;
}

/** The same with the name and the stack of the cause. */
export function safeError(error: unknown): { readonly error: string; readonly stack?: string | undefined } {
  const root = rootOf(error);
  const message = safeMessage(error);
  return root === undefined || isOfQuery(root)
    ? { error: message }
    : { error: `${root.name}: ${message}`, stack: root.stack };
}

/** drizzle's message around a failed query ("Failed query: ... params: ...") holds every bound value. */
function isOfQuery({ message }: Error): boolean {
  return message.startsWith("Failed query");
}

/** Undefined where no Error was thrown. Causes that go round in a circle are followed for a while. */
function rootOf(error: unknown): Error | undefined {
  let root: Error | undefined;
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) root = at;
  return root;
}
