// Allocators of amounts outside workerd: the real class, over SQLite in memory.
import { AmountAllocations } from "../../src/commerce/amounts/amount-allocations.ts";
import type { AmountDependencies } from "../../src/commerce/payment-methods/reserve-amount.ts";
import type { ObjectStorage } from "../../src/lib/object-storage.ts";
import { memoryStorage } from "./object-storage.ts";

/** An amount as stored in a row of `method_amounts`. */
interface StoredAmount {
  readonly units: bigint | string;
  readonly priceUnits: bigint | string;
  readonly rank: number;
  readonly invoiceId: string;
  readonly merchantId: string;
  readonly heldUntilMs: number;
}

const padded = (units: bigint | string) => String(units).padStart(78, "0");

/** Inserts amounts allocated earlier into the storage of an allocator that has its tables. */
export function seedAmounts({ sql }: Pick<ObjectStorage, "sql">, amounts: readonly StoredAmount[]): void {
  for (const { units, priceUnits, rank, invoiceId, merchantId, heldUntilMs } of amounts) {
    const times = [heldUntilMs, heldUntilMs + 3_600_000];
    const of = [padded(units), rank, invoiceId, merchantId];
    sql.exec("INSERT OR IGNORE INTO amounts VALUES (?, ?, ?, ?, 0, 1, ?, ?)", ...of, ...times);
    const price = [invoiceId, padded(priceUnits), padded(units), rank, merchantId];
    sql.exec("INSERT OR IGNORE INTO prices VALUES (?, ?, ?, ?, ?, 0, NULL)", ...price);
  }
}

/** Allocators for schedules that roll D1 back: at each call they check which amounts have a row. `rows` reads D1. */
export function allocatorsOf(
  rows: (sql: string, ...params: string[]) => readonly Record<string, string | number | null>[],
): AmountDependencies["allocateAmounts"] {
  return async (place, requests) => {
    const storage = memoryStorage();
    const allocations = new AmountAllocations(storage, place);
    const { network, cryptocurrency, address } = place;
    const held = rows(
      "select * from method_amounts where network = ? and cryptocurrency = ? and address = ? and released_at_ms is null",
      network,
      cryptocurrency,
      address,
    );
    const amounts = held.map((row) => ({
      units: String(row.units),
      priceUnits: String(row.price_units),
      rank: Number(row.rank),
      invoiceId: String(row.invoice_id),
      merchantId: String(row.merchant_id),
      heldUntilMs: Number(row.held_until_ms),
    }));
    seedAmounts(storage, amounts);
    return allocations.allocate(requests);
  };
}
