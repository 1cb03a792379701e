import { drizzle } from "drizzle-orm/d1";

export type Db = ReturnType<typeof openDb>;

export function openDb(d1: D1Database) {
  return drizzle(d1);
}
