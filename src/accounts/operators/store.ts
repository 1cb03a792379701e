import { and, asc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { UserId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { users } from "../../platform/db/schema/users.ts";
import { withRevocations } from "../../platform/db/statement.ts";

const columns = { id: users.id, email: users.email, name: users.name, sinceMs: users.operatorSinceMs };

export type OperatorRow = Awaited<ReturnType<typeof selectOperators>>[number];

/** All operators, oldest first. */
export function selectOperators(db: Db) {
  return db
    .select(columns)
    .from(users)
    .where(isNotNull(users.operatorSinceMs))
    .orderBy(asc(users.operatorSinceMs), asc(users.id));
}

/** An operator by the user id in a path. */
export function selectOperator(db: Db, id: string) {
  return db
    .select(columns)
    .from(users)
    .where(and(sql`${users.id} = ${id}`, isNotNull(users.operatorSinceMs)))
    .limit(1);
}

/** Makes a user an operator. An existing operator keeps the time at which they became one. */
export function makeOperator(db: Db, id: UserId, nowMs: number) {
  return db
    .update(users)
    .set({ operatorSinceMs: nowMs, updatedAtMs: nowMs })
    .where(and(eq(users.id, id), isNull(users.operatorSinceMs)));
}

/** Makes an operator a plain user; aborts the batch if the user is no longer an operator, or is the last one. */
export function removeOperatorStatements(db: Db, id: UserId, nowMs: number) {
  return [
    db.insert(assertions).select(
      sql`select 'an operator is left', 0 where not exists (select 1 from users where operator_since_ms is not null and id = ${id})
        or not exists (select 1 from users where operator_since_ms is not null and id <> ${id})`,
    ),
    withRevocations(db.update(users).set({ operatorSinceMs: null, updatedAtMs: nowMs }).where(eq(users.id, id)), [
      { kind: "OPERATOR", owner: id, target: id, columns: {} },
    ]),
  ] as const;
}

/** Aborts the batch if the user is already an operator. */
export function assertNoOperator(db: Db, id: UserId) {
  return db
    .insert(assertions)
    .select(
      sql`select 'the user is no operator', 0 where exists (select 1 from users where id = ${id} and operator_since_ms is not null)`,
    );
}

/** Aborts the batch unless the user is still an operator: one who was removed meanwhile must not change anything. */
export function assertOperator(db: Db, id: UserId) {
  return db
    .insert(assertions)
    .select(
      sql`select 'the actor is an operator', 0 where not exists (select 1 from users where id = ${id} and operator_since_ms is not null)`,
    );
}
