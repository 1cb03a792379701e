// The type of a table's example row, and the ids that the rows of a fictional shop share. All values are fixed, so the page only changes with the
// schema.
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { derivedId, newUlid } from "../../src/lib/ids.ts";

export interface ExampleRow {
  readonly table: SQLiteTable;
  /** Values by the column's name in the schema. Absent values are null, or the column's default. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** The compiler compares the values with the columns of the table. */
export function rowOf<T extends SQLiteTable>(table: T, values: T["$inferInsert"]): ExampleRow {
  return { table, values };
}

/** The time that most example rows use. */
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

/** An address that belongs to nobody: the example of EIP-55. */
export const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";
export const PAIR = { network: "ETH", cryptocurrency: "USDT" } as const;
export const TX_HASH = `0x${"5c".repeat(32)}`;
/** Placeholder for a SHA-256 or an HMAC. */
export const HASH = "9f".repeat(32);
/** Placeholder for a value sealed with the deployment's key. */
export const SEALED = "v1.k1.bm9uY2U.c2VhbGVk";
export const [CREATED, UPDATED] = [{ createdAtMs: NOW_MS }, { updatedAtMs: NOW_MS }] as const;
