import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { MerchantId, WalletId } from "../../../lib/ids.ts";

/** Receiving wallets. Soft-deleted; a partial unique index allows one live wallet per pair (Interface 2.1). */
export const wallets = sqliteTable(
  "wallets",
  {
    id: text("id").$type<WalletId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    walletType: text("wallet_type", { enum: ["DIRECT_WALLET", "XPUB_WALLET"] }).notNull(),
    cryptocurrency: text("cryptocurrency").notNull(),
    network: text("network").notNull(),
    address: text("address"),
    xpub: text("xpub"),
    derivationPath: text("derivation_path"),
    scheme: text("scheme", { enum: ["BIP44", "BIP49", "BIP84"] }),
    /** The name of the address allocator: SHA-256 of network, scheme, chain code and public key. Null for a direct wallet. */
    keyHash: text("key_hash"),
    requiredConfirmations: integer("required_confirmations").notNull(),
    isEnabled: integer("is_enabled", { mode: "boolean" }).notNull(),
    /** The highest index of an address given to this wallet's invoices; 0 at registration (decisions 3). Never decreases. */
    lastUsedIndex: integer("last_used_index"),
    nextIndex: integer("next_index"),
    /** The number of addresses given out since the last one that received money. */
    gap: integer("gap"),
    /** HMAC of the row, with the id of its key. */
    mac: text("mac").notNull(),
    macKeyId: text("mac_key_id").notNull(),
    /** Set when the HMAC did not match; the wallet is no longer shown or used. */
    frozenAtMs: integer("frozen_at_ms"),
    /** No invoice uses the wallet before this time: `walletChangeDelayHours` after a change. */
    usableFromMs: integer("usable_from_ms").notNull().default(0),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
    deletedAtMs: integer("deleted_at_ms"),
  },
  (t) => [
    uniqueIndex("wallets_live_pair").on(t.merchantId, t.cryptocurrency, t.network).where(sql`deleted_at_ms is null`),
    index("wallets_key_hash")
      .on(t.keyHash, t.createdAtMs, t.id)
      .where(sql`key_hash is not null and deleted_at_ms is null`),
    index("wallets_of_key").on(t.merchantId, t.keyHash),
    index("wallets_address").on(t.network, t.address).where(sql`address is not null and deleted_at_ms is null`),
  ],
);
