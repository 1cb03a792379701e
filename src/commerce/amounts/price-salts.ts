// The salts that were given for each price at an address: which one to try next, and whether few are left.

import { pairOf } from "../../chains/registry/pair.ts";
import type { ObjectStorage } from "../../lib/object-storage.ts";
import type { Rank } from "../../platform/column-values.ts";
import type { AmountPlace } from "./amount-place.ts";
import type { AmountRequest } from "./amount-request.ts";
import { padded } from "./amount-tables.ts";
import { amountsLowMark, firstSalt, saltCapacity } from "./direct-amount.ts";

/** How many taken salts of a price are read for the first guess. */
const SALTS_READ = 64;

/** Reads and writes the table `prices` of `createAmountTables`, synchronously. */
export class PriceSalts {
  readonly #storage: Pick<ObjectStorage, "sql">;
  readonly #place: AmountPlace;

  constructor(storage: Pick<ObjectStorage, "sql">, place: AmountPlace) {
    this.#storage = storage;
    this.#place = place;
  }

  /**
   * A salt that no amount for this price uses (`firstSalt`); undefined if none was found. The resulting amount may still be held for another price.
   */
  guess(priceUnits: bigint, capacity: number): number | undefined {
    const price = padded(priceUnits);
    const salts = this.#exec("SELECT salt FROM prices WHERE price_units = ? ORDER BY salt LIMIT ?", [
      price,
      SALTS_READ,
    ]).map(({ salt }) => Number(salt));
    const takenSalts = [...new Set(salts)];
    const last = this.#exec("SELECT max(salt) AS last FROM prices WHERE price_units = ?", [price])[0]?.last ?? null;
    const isPriceTaken = this.#exec("SELECT 1 FROM amounts WHERE units = ? LIMIT 1", [price]).length > 0;
    return firstSalt({ takenSalts, maxSalt: last === null ? null : Number(last), isPriceTaken }, capacity);
  }

  /**
   * Records the price for which the amount is given. Returns the invoice whose amount was the first to reach the merchant's warning mark for this
   * price; null if the mark is not reached, or if that invoice is unknown. That invoice may never be stored, so every invoice that gets an amount
   * while the mark is reached refers to it, and warns the merchant unless a warning was already recorded.
   */
  put(
    { invoiceId, merchantId, priceUnits }: AmountRequest,
    { units, rank, salt }: { readonly units: bigint; readonly rank: Rank; readonly salt: number },
  ): string | null {
    const price = padded(priceUnits);
    this.#exec(
      "INSERT INTO prices (invoice_id, price_units, units, rank, merchant_id, salt) VALUES (?, ?, ?, ?, ?, ?)",
      [invoiceId, price, padded(units), rank, merchantId, salt],
    );
    const mark = amountsLowMark(saltCapacity(priceUnits, pairOf(this.#place).asset));
    if (mark === undefined || !this.#mayReach(mark, price)) return null;
    const taken = this.#takenAt(price, rank, merchantId);
    if (taken < mark) return null;
    const lowSince = taken === mark ? invoiceId : this.#lowSince(price, merchantId);
    if (taken === mark)
      this.#exec("UPDATE prices SET low_since = NULL WHERE price_units = ? AND merchant_id = ?", [price, merchantId]);
    this.#exec("UPDATE prices SET low_since = ? WHERE invoice_id = ? AND price_units = ?", [
      lowSince,
      invoiceId,
      price,
    ]);
    return lowSince;
  }

  /** The `low_since` of the merchant's earlier rows for this price. */
  #lowSince(price: string, merchantId: string): string | null {
    const [earlier] = this.#exec(
      "SELECT low_since FROM prices WHERE price_units = ? AND merchant_id = ? AND low_since IS NOT NULL LIMIT 1",
      [price, merchantId],
    );
    return earlier === undefined ? null : String(earlier.low_since);
  }

  /**
   * The salts counted for a price are distinct as long as any of its amounts is free, so once `mark` of them are taken, the greatest is at least one
   * less than `mark`. This check saves most calls the count.
   */
  #mayReach(mark: number, price: string): boolean {
    const [last] = this.#exec("SELECT max(salt) AS last FROM prices WHERE price_units = ?", [price]);
    return Number(last?.last ?? -1) >= mark - 1;
  }

  #takenAt(price: string, rank: Rank, merchantId: string): number {
    const [taken] = this.#exec(
      "SELECT count(*) AS held FROM prices WHERE price_units = ? AND (rank <= ? OR merchant_id = ?)",
      [price, rank, merchantId],
    );
    return Number(taken?.held);
  }

  #exec(query: string, bindings: readonly (string | number | null)[]) {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
