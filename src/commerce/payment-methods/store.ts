// Reads the wallets that an invoice could use, with everything an activation needs, in one statement.
import { sql } from "drizzle-orm";
import { parseJson } from "../../lib/typed-json.ts";
import type { Rank } from "../../platform/column-values.ts";
import { columnsDecoder, jsonMembers } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { wallets } from "../../platform/db/schema/wallets.ts";
import { UNPROVEN } from "../ranks/rank.ts";
import { countProvenOthers, hasOtherHolder, isLiveHolder, rankOf } from "../ranks/store.ts";

type WalletRow = typeof wallets.$inferSelect;

/** A live wallet with the columns that an activation needs. */
type PayableRow = WalletRow & {
  /** The merchant's rank at the wallet's address, or for its key. */
  readonly rank: Rank;
  /** For an address: whether other merchants have a live wallet with it, and how many of them have proof. */
  readonly hasOthers: boolean;
  readonly provenOthers: number;
  /** For an extended key: whether another merchant has a live wallet with it, and this merchant has no proof. */
  readonly isKeyShared: boolean;
  /** For a shared key: how many of the merchant's addresses derived from it received money. */
  readonly paidAddresses: number;
  /** Whether an operator has paused the wallet's network. */
  readonly isPaused: boolean;
};

// Fragments are built when a statement is compiled.
const here = () => ({
  network: sql`wallet.network`,
  address: sql`wallet.address`,
  merchantId: sql`wallet.merchant_id`,
});
// A merchant with proof for a key may get any number of its addresses.
const isKeyShared = () => sql`(wallet.rank = ${sql.raw(String(UNPROVEN))} and exists (select 1 from wallets other
  where other.key_hash = wallet.key_hash and other.deleted_at_ms is null and other.merchant_id <> wallet.merchant_id
  and ${isLiveHolder("other")}))`;
const rank = () =>
  rankOf({
    network: sql`own.network`,
    target: sql`coalesce(own.key_hash, own.address)`,
    merchantId: sql`own.merchant_id`,
  });

/**
 * The column `payable`: the merchant's live wallets, oldest first, as JSON, for creating an invoice and for picking a method. Placeholder:
 * `merchantId`.
 */
function payableWallets() {
  return sql`(select json_group_array(json_object(${jsonMembers(wallets, "wallet")}, 'rank', rank,
      'hasOthers', wallet.key_hash is null and ${hasOtherHolder(here())},
      'provenOthers', case when wallet.key_hash is null then ${countProvenOthers(here())} else 0 end,
      'isKeyShared', wallet.key_hash is not null and ${isKeyShared()},
      'paidAddresses', case when wallet.key_hash is not null and ${isKeyShared()} then (select count(*) from wallets own
        join payment_methods method on method.wallet_id = own.id and method.address_index is not null
        where own.merchant_id = wallet.merchant_id and own.key_hash = wallet.key_hash and exists (
          select 1 from payments paid where paid.invoice_id = method.invoice_id and paid.network = method.network
          and paid.to_address = method.address and paid.status in ('DETECTED', 'CONFIRMED'))) else 0 end,
      'isPaused', exists (select 1 from network_cursors indexed by network_cursors_paused where network = wallet.network and paused_at_ms is not null)))
    from (select own.*, ${rank()} as rank from wallets own where own.merchant_id = ${sql.placeholder("merchantId")} and own.deleted_at_ms is null
      order by own.created_at_ms, own.id) wallet)`
    .mapWith(payableIn)
    .as("payable");
}

const decodeColumns = columnsDecoder(wallets);

function payableIn(text: string): readonly PayableRow[] {
  type Flags = { readonly hasOthers: number; readonly isKeyShared: number; readonly isPaused: number };
  return parseJson<readonly (Omit<PayableRow, keyof Flags> & Flags)[]>(text).map((row) => ({
    ...decodeColumns(row),
    hasOthers: row.hasOthers === 1,
    isKeyShared: row.isKeyShared === 1,
    isPaused: row.isPaused === 1,
  }));
}

export const selectPayableWallets = prepared(
  (merchantId: string) => ({ merchantId }),
  (db) => db.select({ payable: payableWallets() }).from(sql`(select 1)`),
);
