import { drizzle } from "drizzle-orm/d1";
import type { Listeners } from "./news.ts";

export type Db = ReturnType<typeof openDb>;

/** The database; `batch` (batch.ts) passes the news of what it commits to the listeners. */
export function openDb(d1: D1Database, listeners: Listeners = {}) {
  return Object.assign(drizzle(d1), { listeners });
}
