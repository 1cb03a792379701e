// Reads the wallets that an invoice could use, with all facts for an activation, in one statement.
import { sql } from "drizzle-orm";
import { parseJson } from "../../lib/typed-json.ts";
import type { Rank } from "../../platform/column-values.ts";
import { columnsDecoder, jsonMembers } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { wallets } from "../../platform/db/schema/wallets.ts";
import { UNPROVEN } from "../ranks/rank.ts";
import { isAddressShared, isLiveHolder, rankOf } from "../ranks/store.ts";

/** How many taken salts of a price are read at once. */
const SALTS_READ = 64;

type WalletRow = typeof wallets.$inferSelect;

/** A live wallet with the facts for an activation. */
export type PayableRow = WalletRow & {
  /** The merchant's rank at the wallet's address, or for its key. */
  readonly rank: Rank;
  /** Whether another merchant of that rank or a higher one has a live wallet of the address or key. */
  readonly isShared: boolean;
  /** For a shared key: how many of the merchant's addresses of it received money. */
  readonly paidAddresses: number;
  /** The lowest taken salts of the given price, ascending; empty if no price was given. */
  readonly takenSalts: readonly number[];
  readonly maxSalt: number | null;
  /** Whether the given price itself is taken as an amount, by an invoice of any price. */
  readonly isPriceTaken: boolean;
};

// Fragments are built when a statement is compiled.
const here = () => ({ network: sql`wallet.network`, merchantId: sql`wallet.merchant_id`, rank: sql`wallet.rank` });
// A merchant with proof for a key may have any number of addresses of it.
const isKeyShared = () => sql`(wallet.rank = ${sql.raw(String(UNPROVEN))} and exists (select 1 from wallets other
  where other.key_hash = wallet.key_hash and other.deleted_at_ms is null and other.merchant_id <> wallet.merchant_id
  and ${isLiveHolder("other")}))`;
const isShared =
  () => sql`(case when wallet.key_hash is null then ${isAddressShared({ ...here(), address: sql`wallet.address` })}
  else ${isKeyShared()} end)`;
const price = () =>
  sql`json_extract(${sql.placeholder("prices")}, '$.' || wallet.cryptocurrency || '_' || wallet.network)`;
const atPrice = () => sql`from amount_reservations taken where taken.network = wallet.network
  and taken.cryptocurrency = wallet.cryptocurrency and taken.address = wallet.address and taken.price_units = ${price()}`;
const salts = () =>
  sql`(select json_group_array(salt) from (select salt ${atPrice()} order by salt limit ${sql.raw(String(SALTS_READ))}))`;
const isPriceTaken = () => sql`exists (select 1 from amount_reservations taken where taken.network = wallet.network
  and taken.cryptocurrency = wallet.cryptocurrency and taken.address = wallet.address and taken.units = ${price()})`;
const rank = () =>
  rankOf({
    network: sql`own.network`,
    target: sql`coalesce(own.key_hash, own.address)`,
    merchantId: sql`own.merchant_id`,
  });

/**
 * A column `payable` with the merchant's live wallets, oldest first, as JSON, for a create and a pick. `isPriced`: also read which amounts of the
 * price are taken, for direct wallets with a known price. Placeholders: `merchantId`, and `prices` if priced.
 */
export function payableWallets(isPriced: boolean) {
  const taken = isPriced ? salts() : sql`json_array()`;
  const last = isPriced ? sql`(select max(salt) ${atPrice()})` : sql`null`;
  const isTaken = isPriced ? isPriceTaken() : sql`0`;
  return sql`(select json_group_array(json_object(${jsonMembers(wallets, "wallet")}, 'rank', rank, 'isShared', ${isShared()},
      'paidAddresses', case when wallet.key_hash is not null and ${isKeyShared()} then (select count(*) from wallets own
        join payment_methods method on method.wallet_id = own.id and method.address_index is not null
        where own.merchant_id = wallet.merchant_id and own.key_hash = wallet.key_hash and exists (
          select 1 from payments paid where paid.invoice_id = method.invoice_id and paid.network = method.network
          and paid.to_address = method.address and paid.status in ('DETECTED', 'CONFIRMED'))) else 0 end,
      'takenSalts', json(${taken}), 'maxSalt', ${last}, 'isPriceTaken', ${isTaken}))
    from (select own.*, ${rank()} as rank from wallets own where own.merchant_id = ${sql.placeholder("merchantId")} and own.deleted_at_ms is null
      order by own.created_at_ms, own.id) wallet)`
    .mapWith(payableIn)
    .as("payable");
}

const decodeColumns = columnsDecoder(wallets);

function payableIn(text: string): readonly PayableRow[] {
  type Flags = { readonly isShared: number; readonly isPriceTaken: number };
  return parseJson<readonly (Omit<PayableRow, keyof Flags> & Flags)[]>(text).map((row) => ({
    ...decodeColumns(row),
    isShared: row.isShared === 1,
    isPriceTaken: row.isPriceTaken === 1,
  }));
}

/**
 * The payable wallets, in one row. `prices`: JSON of `<cryptocurrency>_<network>` to the plain amount of a direct method, in base units.
 */
export const selectPayableWallets = prepared(
  (merchantId: string, prices: string) => ({ merchantId, prices }),
  (db) => db.select({ payable: payableWallets(true) }).from(sql`(select 1)`),
);
