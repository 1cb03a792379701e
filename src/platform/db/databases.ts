// Chooses the database for a caller (architecture.md "Room to grow"). Today there is one, number 0. Only this file reads the binding, so that a
// second database would change only this file, the ids (`lib/ids.ts`), and the statements that architecture.md lists.

/**
 * The database that holds a merchant's rows. `id`: the id of the merchant or of one of its rows, because both contain the database's number. It may
 * be malformed.
 */
export function databaseOf(env: WithDatabases, _id: string): D1Database {
  return env.DB;
}

/**
 * Why a caller names no merchant. ACCOUNTS and CURSORS: the rows belong to no merchant. DELIVERIES: a message in the queue names an endpoint, whose
 * id has the database's number. HEALTH and JOBS: they concern every database. AMOUNTS and ADDRESSES: the amounts at an address, and the addresses of
 * a key, may belong to several merchants. DEPLOYMENT: the one row of the table `deployment`.
 */
type NoMerchant = "ACCOUNTS" | "ADDRESSES" | "AMOUNTS" | "CURSORS" | "DELIVERIES" | "DEPLOYMENT" | "HEALTH" | "JOBS";

/** An environment with its databases. */
export type WithDatabases = Pick<Env, "DB">;

/** The database for a caller without a merchant. */
export function databaseWithoutMerchant(env: WithDatabases, _why: NoMerchant): D1Database {
  return env.DB;
}
