import { type SQL, sql } from "drizzle-orm";
import type { MerchantId, WalletId } from "../../lib/ids.ts";
import type { Rank } from "../../platform/column-values.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { addressProofs } from "../../platform/db/schema/address-proofs.ts";
import { PROOF_OF_LARGEST, PROOF_USD_MICROS, PROVEN, UNPROVEN } from "./rank.ts";

const number = (value: bigint | number) => sql.raw(value.toString());
// Reads few rows to find the largest proof: an address has one row for each merchant that was paid at it.
const isEnough = sql`(proof.confirmed_usd_micros >= ${number(PROOF_USD_MICROS)} and proof.confirmed_usd_micros * ${number(PROOF_OF_LARGEST)} >=
  (select max(most.confirmed_usd_micros) from address_proofs most where most.network = proof.network and most.target = proof.target))`;

/** A merchant's rank at an address or for an extended key, as a scalar. `target`: the address or the key's hash. */
export function rankOf(of: { readonly network: SQL; readonly target: SQL; readonly merchantId: SQL }): SQL {
  return sql`(case when exists (select 1 from address_proofs proof where proof.network = ${of.network} and proof.target = ${of.target}
    and proof.merchant_id = ${of.merchantId} and ${isEnough}) then ${number(PROVEN)} else ${number(UNPROVEN)} end)`;
}

interface Claimed {
  readonly network: SQL;
  readonly address: SQL;
  readonly merchantId: SQL;
}

/** Whether the wallet's merchant still exists; the wallets of a deleted merchant keep their rows. */
export const isLiveHolder = (
  wallet: string,
) => sql`exists (select 1 from merchants holder where holder.id = ${sql.raw(wallet)}.merchant_id
  and holder.deleted_at_ms is null)`;
const otherWallet = ({ network, address }: Claimed) => sql`select 1 from wallets other where other.network = ${network}
  and other.address = ${address} and other.deleted_at_ms is null and ${isLiveHolder("other")}`;
const otherProof = (
  of: Claimed,
) => sql`from address_proofs proof where proof.network = ${of.network} and proof.target = ${of.address}
  and proof.merchant_id <> ${of.merchantId} and ${isEnough} and exists (${otherWallet(of)} and other.merchant_id = proof.merchant_id)`;

/** How many other merchants have proof for an address and a live wallet with it. */
export function countProvenOthers(of: Claimed): SQL {
  return sql`(select count(*) ${otherProof(of)})`;
}

/** Whether any other merchant has a live wallet on an address. */
export function hasOtherHolder(of: Claimed): SQL {
  return sql`exists (${otherWallet(of)} and other.merchant_id <> ${of.merchantId})`;
}

/** A merchant's rank at an address and who else uses it, always as one row. */
export const selectSharing = prepared(
  (of: { readonly network: string; readonly address: string; readonly merchantId: MerchantId }) => of,
  (db) => {
    const merchantId = sql`${sql.placeholder("merchantId")}`;
    const at = { network: sql`${sql.placeholder("network")}`, address: sql`${sql.placeholder("address")}`, merchantId };
    return db
      .select({
        rank: sql<Rank>`${rankOf({ ...at, target: at.address })}`.as("rank_there"),
        hasOthers: sql`${hasOtherHolder(at)}`.mapWith(Boolean).as("has_others"),
        provenOthers: sql<number>`${countProvenOthers(at)}`.as("proven_others"),
      })
      .from(sql`(select 1)`);
  },
);

/** Adds to a merchant's proof for the wallet's address or key. The value is negative if a payment no longer counts. */
export const addProof = prepared(
  (of: {
    readonly merchantId: MerchantId;
    readonly walletId: WalletId;
    readonly address: string;
    readonly usdMicros: bigint;
  }) => ({ ...of, usdMicros: Number(of.usdMicros) }),
  // The row of a deleted wallet still has its key or address.
  (db, of) =>
    db
      .insert(addressProofs)
      .select(
        sql`select wallet.network, coalesce(wallet.key_hash, ${of.address}), ${of.merchantId},
        ${of.usdMicros} from wallets wallet where wallet.id = ${of.walletId}`,
      )
      .onConflictDoUpdate({
        target: [addressProofs.network, addressProofs.target, addressProofs.merchantId],
        set: { confirmedUsdMicros: sql`confirmed_usd_micros + excluded.confirmed_usd_micros` },
      }),
);
