import { drizzle } from "drizzle-orm/d1";

export type Db = ReturnType<typeof openDb>;

/** By this name a statement of a batch returns the endpoints that the batch has news for. */
export const WAKE_COLUMN = "wake_webhook_id";

/** `wake` hears, once a batch stands, of the endpoints that it has news for; nobody need remember to tell. */
export function openDb(d1: D1Database, wake?: (webhookIds: readonly string[]) => void) {
  return drizzle(wake === undefined ? d1 : listening(d1, wake));
}

/** Only what drizzle's client calls. */
function listening(d1: D1Database, wake: (webhookIds: readonly string[]) => void): D1Database {
  return {
    prepare: (query) => d1.prepare(query),
    batch: async <T>(statements: D1PreparedStatement[]) => {
      const answers = await d1.batch<T>(statements);
      const woken = answers.flatMap(({ results }) => results.flatMap(wakeIn));
      if (woken.length > 0) wake([...new Set(woken)]);
      return answers;
    },
    exec: (query) => d1.exec(query),
    withSession: (constraint) => d1.withSession(constraint),
    dump: () => d1.dump(),
  };
}

function wakeIn(row: unknown): readonly string[] {
  if (typeof row !== "object" || row === null || !(WAKE_COLUMN in row)) return [];
  const id = row[WAKE_COLUMN];
  return typeof id === "string" ? [id] : [];
}
