// The tables in which an allocator stores the amounts of its address, and the format of their values.
import type { ObjectStorage } from "../../lib/object-storage.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { Rank } from "../../platform/column-values.ts";
import { RANKS } from "../ranks/rank.ts";

/** How long after the end of its hold an unreleased amount is looked up in D1. No batch that could still write the amount's row takes this long. */
export const CHECK_AFTER_MS = HOUR_MS;

export function createAmountTables(storage: Pick<ObjectStorage, "sql">): void {
  // Units are padded to one length, so that texts sort as numbers do. Two ranks may hold the same amount, but never two invoices of one rank. The
  // limits do not count (is_counted) an amount that was looked up in D1 and has no row: its invoice was never stored.
  storage.sql.exec(
    `CREATE TABLE IF NOT EXISTS amounts (
      units TEXT NOT NULL, rank INTEGER NOT NULL, invoice_id TEXT NOT NULL, merchant_id TEXT NOT NULL, is_public INTEGER NOT NULL,
      is_counted INTEGER NOT NULL, held_until_ms INTEGER NOT NULL, check_after_ms INTEGER NOT NULL, PRIMARY KEY (units, rank)
    ) WITHOUT ROWID`,
  );
  storage.sql.exec(
    "CREATE INDEX IF NOT EXISTS amounts_rank ON amounts (rank, units, merchant_id) WHERE is_counted = 1",
  );
  storage.sql.exec("CREATE INDEX IF NOT EXISTS amounts_check ON amounts (check_after_ms)");
  storage.sql.exec(
    "CREATE INDEX IF NOT EXISTS amounts_public ON amounts (merchant_id, units) WHERE is_public = 1 AND is_counted = 1",
  );
  // The price for which each amount was given, and the amount's number among the candidates of that price; an invoice may use one amount for several
  // prices. low_since: the invoice whose amount was the first to reach the merchant's warning mark for the price, if the mark was reached when this
  // amount was given.
  storage.sql.exec(
    `CREATE TABLE IF NOT EXISTS prices (
      invoice_id TEXT NOT NULL, price_units TEXT NOT NULL, units TEXT NOT NULL, rank INTEGER NOT NULL, merchant_id TEXT NOT NULL,
      salt INTEGER NOT NULL, low_since TEXT, PRIMARY KEY (invoice_id, price_units)
    ) WITHOUT ROWID`,
  );
  storage.sql.exec("CREATE INDEX IF NOT EXISTS prices_salt ON prices (price_units, salt)");
  // Has a row once the amounts that existed before this storage have been taken over (standing-amounts.ts).
  storage.sql.exec("CREATE TABLE IF NOT EXISTS beginning (began INTEGER NOT NULL)");
}

/** The digits of the largest amount of any asset, 2^256 - 1. */
const MOST_DIGITS = 78;

export function padded(units: bigint): string {
  const text = units.toString().padStart(MOST_DIGITS, "0");
  if (units < 0n || text.length > MOST_DIGITS) throw new Error(`not an amount: ${units}`);
  return text;
}

export function unitsIn(text: string | number | null | ArrayBuffer | undefined): bigint {
  return BigInt(String(text));
}

export function rankIn(value: string | number | null | ArrayBuffer | undefined): Rank {
  const rank = RANKS.find((each) => each === value);
  if (rank === undefined) throw new Error(`not a rank: ${String(value)}`);
  return rank;
}
