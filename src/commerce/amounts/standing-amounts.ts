// What a new allocator takes over: its storage is empty, but the rows of its address came from another deployment (docs/operations/export.md).

import { pairOf } from "../../chains/registry/pair.ts";
import type { ObjectStorage } from "../../lib/object-storage.ts";
import type { AmountPlace } from "./amount-place.ts";
import type { StandingAmount } from "./amount-request.ts";
import { CHECK_AFTER_MS, padded } from "./amount-tables.ts";
import { saltOf } from "./direct-amount.ts";

type Storage = Pick<ObjectStorage, "sql">;

/** Whether a storage with the tables of `createAmountTables` has never had an amount, and `takeOver` was not called. */
export function isNewPlace({ sql }: Storage): boolean {
  return sql.exec("SELECT 1 FROM beginning UNION ALL SELECT 1 FROM amounts LIMIT 1").toArray().length === 0;
}

/** Does not touch existing rows. Call it in a transaction. */
export function takeOver({ sql }: Storage, place: AmountPlace, standing: readonly StandingAmount[]): void {
  const { asset } = pairOf(place);
  for (const { units, invoiceId, merchantId, priceUnits, rank, isPublic, untilMs } of standing) {
    sql.exec(
      `INSERT INTO amounts (units, rank, invoice_id, merchant_id, is_public, is_counted, held_until_ms, check_after_ms)
      VALUES (?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO NOTHING`,
      padded(units),
      rank,
      invoiceId,
      merchantId,
      Number(isPublic),
      untilMs,
      untilMs + CHECK_AFTER_MS,
    );
    // An amount that was once given for another price stays taken; it just cannot be found by that price.
    const salt = saltOf(priceUnits, asset, units);
    if (salt === undefined) continue;
    sql.exec(
      "INSERT INTO prices (invoice_id, price_units, units, rank, merchant_id, salt) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      invoiceId,
      padded(priceUnits),
      padded(units),
      rank,
      merchantId,
      salt,
    );
  }
  sql.exec("INSERT INTO beginning (began) VALUES (1)");
}
