// The amounts that a new allocator takes over: its storage is empty, but D1 may have rows for its address from another deployment
// (docs/operations/export.md).

import { pairOf } from "../../chains/registry/pair.ts";
import type { ObjectStorage } from "../../lib/object-storage.ts";
import type { AmountPlace } from "./amount-place.ts";
import type { StandingAmount } from "./amount-request.ts";
import { CHECK_AFTER_MS, padded } from "./amount-tables.ts";
import { saltOf } from "./direct-amount.ts";

type Storage = Pick<ObjectStorage, "sql">;

/** Whether the storage has no amounts and `takeOver` was never called. Its tables must exist (`createAmountTables`). */
export function isNewPlace({ sql }: Storage): boolean {
  return sql.exec("SELECT 1 FROM beginning UNION ALL SELECT 1 FROM amounts LIMIT 1").toArray().length === 0;
}

/** Does not change existing rows. Must be called in a transaction. */
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
    // An amount that was first given for another price might not be a candidate of this price. It remains held, but is not recorded for this price.
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
