// How a table's example row is written, and the ids shared by a fictional shop's rows. Everything is fixed, so the page only changes with the
// schema.
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { derivedId, newUlid } from "../../src/lib/ids.ts";

export interface ExampleRow {
  readonly table: SQLiteTable;
  /** By schema name. Absent values are null, or the column's default. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** The compiler compares the values with the columns of the table. */
export function rowOf<T extends SQLiteTable>(table: T, values: T["$inferInsert"]): ExampleRow {
  return { table, values };
}

/** When most of the example happens. */
export const NOW_MS = Date.parse("2026-11-21T12:00:00Z");
export const OPERATION = newUlid(NOW_MS, new Uint8Array(16));

export const merchantId = derivedId("mer", OPERATION);
export const userId = derivedId("usr", OPERATION);
export const invoiceId = derivedId("inv", OPERATION);
export const customerId = derivedId("cus", OPERATION);
export const productId = derivedId("prd", OPERATION);
export const walletId = derivedId("wal", OPERATION);
export const eventId = derivedId("evt", OPERATION);
export const webhookId = derivedId("whk", OPERATION);
export const deliveryId = derivedId("dlv", OPERATION);

/** Nobody's address: the example of EIP-55. */
export const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";
export const PAIR = { network: "ETH", cryptocurrency: "USDT" } as const;
export const TX_HASH = `0x${"5c".repeat(32)}`;
/** Placeholder for a SHA-256 or an HMAC. */
export const HASH = "9f".repeat(32);
/** Placeholder for a value sealed with the deployment's key. */
export const SEALED = "v1.k1.bm9uY2U.c2VhbGVk";
export const [CREATED, UPDATED] = [{ createdAtMs: NOW_MS }, { updatedAtMs: NOW_MS }] as const;
