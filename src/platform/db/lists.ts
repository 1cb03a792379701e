// The reads of every list (decisions 1): a page, newest first by (created_at, id), and a count on request. Comparing (created_at, id) as a row value
// costs the same on every page, unlike an offset.
import { and, type Column, desc, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Position } from "../../lib/pagination.ts";
import type { Db } from "./client.ts";

interface Listed {
  readonly createdAtMs: Column;
  readonly id: Column;
}

export function newestFirst({ createdAtMs, id }: Listed): readonly [SQL, SQL] {
  return [desc(createdAtMs), desc(id)];
}

/** The condition for rows after a position in the list; undefined at the start of the list. */
export function olderThan({ createdAtMs, id }: Listed, after: Position | undefined): SQL | undefined {
  return after === undefined ? undefined : sql`(${createdAtMs}, ${id}) < (${after.createdAtMs}, ${after.id})`;
}

/** How many rows meet the conditions; reads nothing unless `isWanted`. */
export function countOf(db: Db, table: SQLiteTable, isWanted: boolean, conditions: readonly (SQL | undefined)[]) {
  return db
    .select({ total: sql<number>`count(*)` })
    .from(table)
    .where(and(isWanted ? undefined : sql`0`, ...conditions));
}
