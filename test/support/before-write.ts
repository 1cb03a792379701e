// Makes a request lose a race: `meanwhile` commits after the request's reads and before its first write.
import { env } from "cloudflare:workers";
import { type Db, openDb } from "../../src/platform/db/client.ts";
import { type Answer, type Ask, sendWith } from "./access.ts";

export async function sendBeaten(
  path: string,
  ask: Ask,
  meanwhile: () => Promise<unknown>,
  changes: Partial<Env> = {},
): Promise<Answer> {
  let isDone = false;
  const batch = async (statements: D1PreparedStatement[]) => {
    // A request's first batch only identifies the caller.
    if (isDone) return env.DB.batch(statements);
    const rows = await env.DB.batch(statements);
    isDone = true;
    await meanwhile();
    return rows;
  };
  return sendWith({ ...changes, DB: withBatch(batch) }, path, ask);
}

/** The database; `meanwhile` runs before each batch. */
export function dbBefore(meanwhile: () => Promise<unknown>): Db {
  return openDb(
    withBatch(async (statements) => {
      await meanwhile();
      return env.DB.batch(statements);
    }),
  );
}

function withBatch(batch: (statements: D1PreparedStatement[]) => Promise<D1Result[]>): D1Database {
  return new Proxy(env.DB, {
    get(target, name) {
      const value: unknown = name === "batch" ? batch : Reflect.get(target, name);
      return typeof value === "function" && name !== "batch" ? value.bind(target) : value;
    },
  });
}
