// The salts of each price at an address that have been given: the next one to try, and whether they run low.

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

  /** The lowest number of the price that is free among the amounts of this price; it may still be an amount of another price. */
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
   * Notes the price for which the amount is given, and returns since which invoice the amounts of the price run low for the merchant; null if they do not. That
   * invoice's amount reached the mark. It may never be stored, so every invoice that gets an amount while they run low names it, and warns the merchant unless
   * that was already done.
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

  /** Taken from one of the merchant's earlier amounts. */
  #lowSince(price: string, merchantId: string): string | null {
    const [earlier] = this.#exec(
      "SELECT low_since FROM prices WHERE price_units = ? AND merchant_id = ? AND low_since IS NOT NULL LIMIT 1",
      [price, merchantId],
    );
    return earlier === undefined ? null : String(earlier.low_since);
  }

  /** The salts of a merchant at a price are distinct: with `mark` of them taken the greatest is at least mark - 1. So only a few calls need to count. */
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
