import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ClaimId, InvoiceId, MerchantId, PaymentId } from "../../../lib/ids.ts";
import { baseUnits, micros } from "../columns.ts";

/**
 * Transfers as merchants see them (decisions 5). A transfer is (network, transaction, output). A transfer that no rule credits has a row for each
 * merchant with a live wallet on its address, and each may assign its own row by hand. The rules credit a transfer only once in total.
 */
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
    /**
     * The output's index (UTXO), the log's ordinal within its receipt, or "native". Once the chain has a different effect there, "~" and the row's id
     * are appended.
     */
    outputIndex: text("output_index").notNull(),
    fromAddress: text("from_address"),
    toAddress: text("to_address").notNull(),
    amountUnits: baseUnits("amount_units").notNull(),
    /** The payment's value in the invoice's currency as credited; null without an invoice, and until there is a price. */
    fiatMicros: micros("fiat_micros"),
    /** The payment's value in the invoice's currency at the market rate when first seen; null without an invoice, and if no rate was fresh. */
    marketMicros: micros("market_micros"),
    /** How the payment was valued: the rule that chose a quote, the market rate, or no rate; null without an invoice. */
    weighedBy: text("weighed_by", { enum: ["EXACT_UNITS", "IN_FORCE", "LAST_ENDED", "MARKET_RATE", "NO_RATE"] }),
    /** JSON of the quote by which the payment was valued; null without a quote. */
    weighedQuote: text("weighed_quote"),
    /** The payment's value in US dollars when first seen, for a later assignment by hand; null if no rate was known. */
    usdMicros: micros("usd_micros"),
    status: text("status", { enum: ["DETECTED", "CONFIRMED", "DROPPED", "REORGED", "UNMATCHED", "IGNORED"] }).notNull(),
    confirmations: integer("confirmations").notNull(),
    requiredConfirmations: integer("required_confirmations").notNull(),
    /** Height, hash and time of the transaction's block as last read; null in the mempool and after the transaction left the chain. */
    blockHeight: integer("block_height"),
    blockHash: text("block_hash"),
    blockTimeMs: integer("block_time_ms"),
    isLate: integer("is_late", { mode: "boolean" }).notNull(),
    /** The rule that credited the payment; MANUAL if it was assigned by hand (`commerce/payments/resolution.ts`). */
    matchedBy: text("matched_by", { enum: ["ADDRESS", "EXACT_AMOUNT", "TOLERANCE", "SOLE_CANDIDATE", "MANUAL"] }),
    receivedAtMs: integer("received_at_ms").notNull(),
    confirmedAtMs: integer("confirmed_at_ms"),
    reorgedAtMs: integer("reorged_at_ms"),
    /** When a source last knew the transaction. The payment is dropped after 72 h in which no source knew it. */
    lastKnownAtMs: integer("last_known_at_ms").notNull().default(0),
    /** When the payment became final; no pass checks it after that. */
    finalAtMs: integer("final_at_ms"),
    /** Whether the payment was IGNORED when it left the chain; if so, it is IGNORED again when it returns. */
    wasIgnored: integer("was_ignored", { mode: "boolean" }).notNull().default(false),
    /**
     * JSON of `PaymentEvidence`; lists do not read it. After the row is written, only the transactions that explain a balance's growth may change.
     */
    evidence: text("evidence").notNull().default("{}"),
    /** JSON `{ action, reason, actor, at }` of a manual decision, or null. */
    resolution: text("resolution"),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (t) => [
    // The merchant comes last, so that the index also finds the payments of a transaction.
    uniqueIndex("payments_identity").on(t.network, t.txHash, t.outputIndex, t.merchantId),
    uniqueIndex("payments_credit")
      .on(t.network, t.txHash, t.outputIndex)
      .where(sql`invoice_id is not null and matched_by <> 'MANUAL'`),
    index("payments_invoice").on(t.invoiceId),
    index("payments_native").on(t.network, t.blockHeight, t.toAddress).where(sql`output_index = 'native'`),
    index("payments_open").on(t.network).where(sql`final_at_ms is null`),
    index("payments_unweighed").on(t.createdAtMs).where(sql`weighed_by = 'NO_RATE'`),
    index("payments_feed").on(t.merchantId, t.createdAtMs, t.id),
    // Payments that were dropped and have returned: they were received later than their row was created.
    index("payments_returned").on(t.merchantId, t.receivedAtMs).where(sql`received_at_ms > created_at_ms`),
    index("payments_by_status").on(t.merchantId, t.status, t.createdAtMs, t.id),
    // The next two indexes contain everything that the daily limits count (`selectUnmatchedCounts`).
    index("payments_loose_unmatched")
      .on(t.network, t.toAddress, t.createdAtMs, t.merchantId, t.usdMicros)
      .where(sql`status = 'UNMATCHED'`),
    index("payments_loose_ignored")
      .on(t.network, t.toAddress, t.createdAtMs, t.merchantId)
      .where(sql`status = 'IGNORED'`),
  ],
);

/**
 * Transfers that were decided and have no payment row, because they exceeded a daily limit for every merchant. One row per transfer, however many
 * merchants have a wallet on its address, so that no pass decides it again. Only a cache: without a row the transfer is decided again, with the same
 * result.
 */
export const leftOutTransfers = sqliteTable(
  "left_out_transfers",
  {
    network: text("network").notNull(),
    txHash: text("tx_hash").notNull(),
    outputIndex: text("output_index").notNull(),
    /** The hash of the transfer's block when it was decided; empty if it was unconfirmed. In another block the transfer is decided again. */
    blockHash: text("block_hash").notNull(),
    /** The transfer's effect when it was decided (`effectText`). With a different effect it is decided again. */
    effect: text("effect").notNull(),
    decidedAtMs: integer("decided_at_ms").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.txHash, t.outputIndex] }),
    index("left_out_transfers_decided").on(t.decidedAtMs),
  ],
);

/** Payers' claims that they have paid (decisions 5), kept as evidence. A claim causes an earlier check and decides nothing. */
export const paymentClaims = sqliteTable(
  "payment_claims",
  {
    id: text("id").$type<ClaimId>().primaryKey(),
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    network: text("network").notNull(),
    txHash: text("tx_hash").notNull(),
    /** The result of the check: FOUND, NOT_FOUND or UNAVAILABLE. */
    outcome: text("outcome").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [
    index("payment_claims_of_invoice").on(t.invoiceId, t.createdAtMs),
    index("payment_claims_transaction").on(t.network, t.txHash),
  ],
);
