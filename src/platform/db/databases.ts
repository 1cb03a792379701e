// Which database holds what (architecture.md "Room to grow"). Today there is one, number 0. Only this file reads the binding, so that adding a second one only
// changes this file, the ids (`lib/ids.ts`), and the statements listed there.

/** The database that holds a merchant's rows. `id`: the merchant's, or that of any row of theirs; both carry its number. It may be malformed. */
export function databaseOf(env: WithDatabases, _id: string): D1Database {
  return env.DB;
}

/**
 * Why a caller names no merchant. ACCOUNTS and CURSORS: their rows belong to none. DELIVERIES: a message of the queue names an endpoint, whose id carries the
 * number. HEALTH and JOBS: they concern every database. AMOUNTS and ADDRESSES: those at an address, and those of a key, may be of several merchants.
 * DEPLOYMENT: its one row.
 */
type NoMerchant = "ACCOUNTS" | "ADDRESSES" | "AMOUNTS" | "CURSORS" | "DELIVERIES" | "DEPLOYMENT" | "HEALTH" | "JOBS";

/** An environment with its databases. */
export type WithDatabases = Pick<Env, "DB">;

/** The database for a caller without a merchant. */
export function databaseWithoutMerchant(env: WithDatabases, _why: NoMerchant): D1Database {
  return env.DB;
}
