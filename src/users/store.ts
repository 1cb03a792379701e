import { eq } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { users } from "../db/schema/users.ts";

export type UserRow = typeof users.$inferSelect;

/** The account of an email (already in lower case). */
export function selectUserByEmail(db: Db, emailKey: string) {
  return db.select().from(users).where(eq(users.emailKey, emailKey)).limit(1);
}

export function insertUser(db: Db, user: UserRow) {
  return db.insert(users).values(user);
}
