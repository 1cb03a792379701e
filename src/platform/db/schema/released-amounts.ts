import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId } from "../../../lib/ids.ts";
import type { Rank } from "../../column-values.ts";
import { baseUnits } from "../columns.ts";

/**
 * Amounts that invoices held on a shared address until they were released for others. A payment that is read long after it was made is matched by
 * the amounts that were held when it was made.
 */
export const releasedAmounts = sqliteTable(
  "released_amounts",
  {
    network: text("network").notNull(),
    cryptocurrency: text("cryptocurrency").notNull(),
    address: text("address").notNull(),
    units: baseUnits("units").notNull(),
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    heldUntilMs: integer("held_until_ms").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    rank: integer("rank").$type<Rank>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.cryptocurrency, t.address, t.units, t.invoiceId] }),
    index("released_amounts_held").on(t.network, t.cryptocurrency, t.address, t.heldUntilMs),
  ],
);
