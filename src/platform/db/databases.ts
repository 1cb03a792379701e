// Which database holds what (architecture.md "Room to grow"). Today there is one, number 0. Only this file reads the binding, so that a second one
// is a change of this file, of the ids (`lib/ids.ts`), and of the statements that are listed there.

/** The database that holds the rows of a merchant. `id`: the merchant's, or that of any row of theirs; both carry its number. It may be malformed. */
export function databaseOf(env: Pick<Env, "DB">, _id: string): D1Database {
  return env.DB;
}

/**
 * Why a caller names no merchant. ACCOUNTS and CURSORS: their rows belong to none. DELIVERIES: a message of the queue names an endpoint, whose id
 * carries the number. HEALTH and JOBS: they are about every database there is. AMOUNTS: those at an address may be of several merchants.
 */
export type NoMerchant = "ACCOUNTS" | "AMOUNTS" | "CURSORS" | "DELIVERIES" | "HEALTH" | "JOBS";

/** The database for a caller without a merchant. */
export function databaseWithoutMerchant(env: Pick<Env, "DB">, _why: NoMerchant): D1Database {
  return env.DB;
}
