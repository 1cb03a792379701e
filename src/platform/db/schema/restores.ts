import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { RestoreFindingId } from "../../../lib/ids.ts";

/** Imports after a restore of the database, one row for each RESTORE_EPOCH (commerce/restores). */
export const restores = sqliteTable("restores", {
  /** The number of the RESTORE_EPOCH. */
  epoch: integer("epoch").primaryKey(),
  /** The minute of the RESTORE_EPOCH. */
  restoredToMs: integer("restored_to_ms").notNull(),
  /** A ULID; ids of rows that the import writes derive from it, so that a repeated step writes the same rows. */
  operationId: text("operation_id").notNull(),
  phase: text("phase", { enum: ["REVOCATIONS", "ADDRESSES", "AMOUNTS", "DONE"] }).notNull(),
  /** The object whose contents are being read, and the position reached; null means that all of the object was read. */
  atName: text("at_name").notNull(),
  atPlace: integer("at_place"),
  objects: integer("objects").notNull().default(0),
  revocations: integer("revocations").notNull().default(0),
  /** Addresses and amounts that were recovered. */
  recovered: integer("recovered").notNull().default(0),
  findings: integer("findings").notNull().default(0),
  beganAtMs: integer("began_at_ms").notNull(),
  /** When keys and members could make requests again. */
  openedAtMs: integer("opened_at_ms"),
  /** When invoices could be created again. */
  endedAtMs: integer("ended_at_ms"),
});

/** Items that an import could not recover, for operators to review. */
export const restoreFindings = sqliteTable(
  "restore_findings",
  {
    /** Always the same for the same finding, however often the step is repeated. */
    id: text("id").$type<RestoreFindingId>().primaryKey(),
    epoch: integer("epoch").notNull(),
    reason: text("reason", {
      enum: ["TERMS_UNKNOWN", "MERCHANT_LOST", "WALLET_LOST", "OWNER_UNCERTAIN", "REFUSED"],
    }).notNull(),
    merchantId: text("merchant_id").notNull(),
    invoiceId: text("invoice_id"),
    network: text("network"),
    cryptocurrency: text("cryptocurrency"),
    address: text("address"),
    units: text("units"),
    /** The object's copy, as JSON: the terms of an invoice, or the columns of a revocation. */
    known: text("known"),
    createdAtMs: integer("created_at_ms").notNull(),
    /** When an operator marked the finding as reviewed; null while it is open. */
    reviewedAtMs: integer("reviewed_at_ms"),
    reviewedBy: text("reviewed_by"),
  },
  (t) => [index("restore_findings_open").on(t.createdAtMs, t.id).where(sql`reviewed_at_ms is null`)],
);
