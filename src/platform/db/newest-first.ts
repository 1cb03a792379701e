// The order of every list (decisions 1): newest first by (created_at, id). The row-value form costs the same on every page.
import { type Column, desc, type SQL, sql } from "drizzle-orm";
import type { Position } from "../../lib/pagination.ts";

interface Listed {
  readonly createdAtMs: Column;
  readonly id: Column;
}

export function newestFirst({ createdAtMs, id }: Listed): readonly [SQL, SQL] {
  return [desc(createdAtMs), desc(id)];
}

/** The condition of the rows behind a position; none at the beginning of the list. */
export function olderThan({ createdAtMs, id }: Listed, after: Position | undefined): SQL | undefined {
  return after === undefined ? undefined : sql`(${createdAtMs}, ${id}) < (${after.createdAtMs}, ${after.id})`;
}
