import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { InvoiceId, MerchantId, PaymentId } from "../../lib/ids.ts";
import { baseUnits, micros } from "../columns.ts";

/** Transfers credited to invoices (decisions 5); identity is (network, transaction, output), so none is credited twice. */
export const payments = sqliteTable(
  "payments",
  {
    id: text("id").$type<PaymentId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    invoiceId: text("invoice_id").$type<InvoiceId>(),
    network: text("network").notNull(),
    cryptocurrency: text("cryptocurrency").notNull(),
    chainId: integer("chain_id"),
    txHash: text("tx_hash").notNull(),
    /** UTXO output, the log's ordinal within its receipt, or "native". */
    outputIndex: text("output_index").notNull(),
    fromAddress: text("from_address"),
    toAddress: text("to_address").notNull(),
    amountUnits: baseUnits("amount_units").notNull(),
    fiatMicros: micros("fiat_micros"),
    status: text("status", { enum: ["DETECTED", "CONFIRMED", "DROPPED", "REORGED", "UNMATCHED", "IGNORED"] }).notNull(),
    confirmations: integer("confirmations").notNull(),
    requiredConfirmations: integer("required_confirmations").notNull(),
    blockHeight: integer("block_height"),
    isLate: integer("is_late", { mode: "boolean" }).notNull(),
    matchedBy: text("matched_by", { enum: ["ADDRESS", "EXACT_AMOUNT", "TOLERANCE", "SOLE_CANDIDATE", "MANUAL"] }),
    receivedAtMs: integer("received_at_ms").notNull(),
    confirmedAtMs: integer("confirmed_at_ms"),
    reorgedAtMs: integer("reorged_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (t) => [
    uniqueIndex("payments_identity").on(t.network, t.txHash, t.outputIndex),
    index("payments_invoice").on(t.invoiceId),
  ],
);
