import { eq, sql } from "drizzle-orm";
import { effectText, type Transfer } from "../../chains/sources/transfer.ts";
import { decodePayment, needsSecondSql, paymentJson } from "../../commerce/payments/store.ts";
import { RANKS } from "../../commerce/ranks/rank.ts";
import type { InvoiceId, MerchantId, PaymentId, WalletId } from "../../lib/ids.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Rank } from "../../platform/column-values.ts";
import { amountKey, amountKeySql } from "../../platform/db/amount-order.ts";
import { jsonObject, orNull, rowDecoder } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { paymentMethods } from "../../platform/db/schema/invoices.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { payments } from "../../platform/db/schema/payments.ts";
import { wallets } from "../../platform/db/schema/wallets.ts";
import type { InvoiceTerms } from "./placement.ts";
import { MERCHANTS_LISTED } from "./unmatched-limit.ts";

// A list is one JSON parameter. SQLite keeps the order of a cross join, so each entry in the list is looked up through an index.
export const network = sql.placeholder("network");
export const listed = sql`json_each(${sql.placeholder("list")}) item`;
export const member = (name: string) => sql.raw(`item.value ->> '$.${name}'`);

// A row without an invoice needs no update if it already has the transfer's effect and current block. One transfer may have hundreds of such rows.
const isSettled = sql`(paid.invoice_id is null and paid.status in ('UNMATCHED', 'IGNORED') and coalesce(paid.block_hash = ${member("blockHash")}, 0)
  and coalesce(paid.cryptocurrency || ' ' || paid.to_address || ' ' || paid.amount_units = ${member("effect")}, 1))`;

/** The `list` parameter of `selectKnownTransfers` and related statements. If the source cannot tell what was moved, the effect is null. */
export function listOf(transfers: readonly Transfer[]): string {
  return JSON.stringify(
    transfers.map((transfer) => {
      const { txHash, outputIndex, block, isUnexplained } = transfer;
      const effect = isUnexplained === true ? null : effectText(transfer);
      return { txHash, outputIndex, blockHash: block?.hash ?? null, effect };
    }),
  );
}

/** The most rows that one statement reads: its result must fit into 50 MB, and into memory. */
export const KNOWN_AT_ONCE = 20_000;

/**
 * The rows of these transfers, of any merchant, that may need an update, in the order of the list; `row` is null if it cannot be decoded. `list`:
 * from `listOf`.
 */
export const selectKnownTransfers = prepared(
  (of: { readonly network: string; readonly list: string }) => of,
  (db) =>
    db
      .select({
        id: sql<PaymentId>`paid.id`.as("paid_id"),
        txHash: sql<string>`paid.tx_hash`.as("paid_hash"),
        outputIndex: sql<string>`paid.output_index`.as("paid_output"),
        row: sql`${paymentJson("paid")}`.mapWith(orNull(decodePayment)).as("row"),
        needsSecond: needsSecondSql("paid").as("needs_second"),
      })
      .from(
        sql`${listed} cross join payments paid on paid.network = ${network} and paid.tx_hash = ${member("txHash")}
        and paid.output_index = ${member("outputIndex")} and not ${isSettled}`,
      )
      .limit(KNOWN_AT_ONCE),
);

/**
 * The rows that were superseded by a different effect of these transfers, and that no row names as evidence: the pass ended before it stored the new
 * effect. `list`: as for `selectKnownTransfers`.
 */
export const selectUnnamed = prepared(
  (of: { readonly network: string; readonly list: string }) => of,
  (db) =>
    db
      .select({
        key: sql<string>`item.key`.as("of_transfer"),
        row: sql`${paymentJson("paid")}`.mapWith(orNull(decodePayment)).as("unnamed"),
      })
      .from(
        sql`${listed} cross join payments paid on paid.network = ${network} and paid.tx_hash = ${member("txHash")}
        and paid.output_index > ${member("outputIndex")} || '~' and paid.output_index < ${member("outputIndex")} || '~~'`,
      )
      .where(
        sql`not exists (select 1 from payments heir indexed by payments_identity, json_each(heir.evidence, '$.supersedes') named where heir.network = paid.network
        and heir.tx_hash = paid.tx_hash and heir.merchant_id = paid.merchant_id and named.value ->> '$.paymentId' = paid.id)`,
      )
      .limit(KNOWN_AT_ONCE),
);

/** The transfers that have rows which need no update, and whether one of these rows is the merchant's. `list`: as for `selectKnownTransfers`. */
export const selectSettledTransfers = prepared(
  (of: { readonly network: string; readonly list: string; readonly merchantId: string }) => of,
  (db, of) =>
    db
      .select({
        txHash: sql<string>`${member("txHash")}`.as("settled_hash"),
        outputIndex: sql<string>`${member("outputIndex")}`.as("settled_output"),
        isOwn: sql`max(paid.merchant_id = ${of.merchantId})`.mapWith(Boolean).as("is_own"),
      })
      .from(
        sql`${listed} cross join payments paid on paid.network = ${network} and paid.tx_hash = ${member("txHash")}
        and paid.output_index = ${member("outputIndex")} and ${isSettled}`,
      )
      .groupBy(sql`item.key`),
);

/** Transfers that were left out, with the block and the effect that they had when they were left out. `list`: as for `selectKnownTransfers`. */
export const selectLeftOut = prepared(
  (of: { readonly network: string; readonly list: string }) => of,
  (db) =>
    db
      .select({
        txHash: sql<string>`gone.tx_hash`.as("gone_hash"),
        outputIndex: sql<string>`gone.output_index`.as("gone_output"),
        blockHash: sql<string>`gone.block_hash`.as("gone_block"),
        effect: sql<string>`gone.effect`.as("gone_effect"),
      })
      .from(
        sql`${listed} cross join left_out_transfers gone on gone.network = ${network} and gone.tx_hash = ${member("txHash")}
        and gone.output_index = ${member("outputIndex")}`,
      ),
);

/** The terms of a candidate invoice, without its texts, because there may be hundreds of invoices. */
const invoiceTerms = sql`json_object('id', invoice.id, 'merchantId', invoice.merchant_id, 'currency', invoice.currency,
  'expiresAtMs', invoice.expires_at_ms, 'cancelledAtMs', invoice.cancelled_at_ms, 'amountMicros', invoice.amount_micros, 'underpaidToleranceMicros', invoice.underpaid_tolerance_micros,
  'overpaidToleranceMicros', invoice.overpaid_tolerance_micros, 'lateGraceUntilMs', invoice.late_grace_until_ms)`;
export const decodeMethod = orNull(rowDecoder(paymentMethods));
// An undecodable value is null, and the row still names its owner.
const terms = {
  invoiceId: sql<InvoiceId>`invoice.id`.as("terms_invoice"),
  merchantId: sql<MerchantId>`invoice.merchant_id`.as("terms_merchant"),
  cryptocurrency: sql<string>`method.cryptocurrency`.as("terms_coin"),
  address: sql<string | null>`method.address`.as("terms_address"),
  method: sql`${jsonObject(paymentMethods, "method")}`.mapWith(decodeMethod).as("method"),
  invoice: invoiceTerms.mapWith(orNull(invoiceIn)).as("invoice"),
  quorumAboveMicros: sql<number | null>`merchant.quorum_above_micros`.as("quorum_above"),
};

function invoiceIn(json: string): InvoiceTerms {
  type Micros = "amountMicros" | "underpaidToleranceMicros" | "overpaidToleranceMicros";
  const row = parseJson<Omit<InvoiceTerms, Micros> & Readonly<Record<Micros, number>>>(json);
  return {
    ...row,
    amountMicros: BigInt(row.amountMicros),
    underpaidToleranceMicros: BigInt(row.underpaidToleranceMicros),
    overpaidToleranceMicros: BigInt(row.overpaidToleranceMicros),
  };
}

/** The invoices that own these addresses (xpub). `list`: JSON array of addresses. */
export const selectAddressOwners = prepared(
  (of: { readonly network: string; readonly list: string }) => of,
  // Searches the index directly for invoices' own addresses, so that it does not matter how many methods have the same address, registered as a
  // shared one. SQLite does not search an index by "is not null", hence ">= 0".
  (db) =>
    db.select(terms).from(
      sql`${listed} cross join payment_methods method indexed by payment_methods_address on method.network = ${network}
        and method.address = item.value and method.address_index >= 0 and method.status = 'ACTIVE'
        cross join invoices invoice on invoice.id = method.invoice_id
        cross join merchants merchant on merchant.id = invoice.merchant_id`,
    ),
);

export const reservationTerms = {
  ...terms,
  rank: sql<Rank>`held.rank`.as("held_rank"),
  reservedUnits: sql<string>`held.units`.as("reserved_units"),
  reservedAtMs: sql<number>`held.created_at_ms`.as("reserved_at"),
  heldUntilMs: sql<number>`held.held_until_ms`.as("held_until"),
};
export const ofReservation = sql`cross join invoices invoice on invoice.id = held.invoice_id
  cross join payment_methods method on method.invoice_id = held.invoice_id and method.cryptocurrency = held.cryptocurrency
    and method.network = held.network
  cross join merchants merchant on merchant.id = invoice.merchant_id`;

/** Each rank is read separately, through its own part of an index. */
export const ranks = sql.raw(`json_each('${JSON.stringify(RANKS)}') ranked`);

/** The held amounts equal to these: at most one for each rank, because the allocator reserves an amount at most once per rank. */
export const selectExactAmounts = prepared(
  (
    name: string,
    amounts: readonly { readonly cryptocurrency: string; readonly address: string; readonly units: bigint }[],
  ) => {
    const list = amounts.map(({ units, ...each }) => ({ ...each, units: units.toString(), at: amountKey(units) }));
    return { network: name, list: JSON.stringify(list) };
  },
  // An index of held amounts only: the same units may have been held and released often.
  (db) =>
    db.select(reservationTerms).from(
      sql`${listed} cross join ${ranks} cross join method_amounts held indexed by method_amounts_amount on held.network = ${network}
        and held.cryptocurrency = ${member("cryptocurrency")} and held.address = ${member("address")} and held.rank = ranked.value
        and ${sql.raw(amountKeySql("held."))} = ${member("at")} and held.units = ${member("units")} and held.released_at_ms is null
        ${ofReservation}`,
    ),
);

/**
 * The merchants with a live wallet on these addresses, at most `limits.md` "merchantsPerUnmatchedTransfer" for each address: first those who have
 * received most at the address, then those who registered it first; and `merchantId`, if it is one of them. `list`: JSON array of addresses.
 */
export const selectHolders = prepared(
  (of: { readonly network: string; readonly list: string; readonly merchantId: string }) => of,
  (db, of) =>
    db
      .select({
        address: sql<string>`ranked.address`.as("held_address"),
        merchantId: sql<MerchantId>`ranked.merchant_id`.as("holder"),
        requiredConfirmations: sql<number>`ranked.required`.as("required"),
      })
      .from(
        sql`(select wallet.address, wallet.merchant_id, max(wallet.required_confirmations) as required, row_number() over (partition by wallet.address
          order by max(coalesce(proof.confirmed_usd_micros, 0)) desc, min(wallet.created_at_ms), wallet.merchant_id) as place
        from ${listed} cross join wallets wallet on wallet.network = ${network} and wallet.address = item.value and wallet.deleted_at_ms is null
        left join address_proofs proof on proof.network = wallet.network and proof.target = wallet.address and proof.merchant_id = wallet.merchant_id
        group by wallet.address, wallet.merchant_id) ranked`,
      )
      .where(sql`ranked.place <= ${sql.raw(String(MERCHANTS_LISTED))} or ranked.merchant_id = ${of.merchantId}`),
);

/** The payment with this id, if its row was written. */
export const selectPaymentRow = prepared(
  (id: PaymentId) => ({ id }),
  (db, of) => db.select({ id: payments.id }).from(payments).where(eq(payments.id, of.id)),
);

/** Aborts the batch if one of the transfers already has a row, other than rows that this batch supersedes; precedes the rows in the batch. */
export const assertTransfersNew = prepared(
  (
    name: string,
    transfers: readonly { readonly txHash: string; readonly outputIndex: string }[],
    superseded: readonly PaymentId[] = [],
  ) => {
    const list = transfers.map(({ txHash, outputIndex }) => ({ txHash, outputIndex }));
    return { network: name, list: JSON.stringify(list), superseded: JSON.stringify(superseded) };
  },
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'transfers are new', 0 where exists (select 1 from ${listed} cross join payments known
      on known.network = ${network} and known.tx_hash = ${member("txHash")} and known.output_index = ${member("outputIndex")}
      where known.id not in (select value from json_each(${of.superseded})))`,
    ),
);

/** Aborts the batch if the merchant already has a row for one of the transfers; precedes the rows in the batch. */
export const assertTransfersMissed = prepared(
  (
    name: string,
    merchantId: MerchantId,
    transfers: readonly { readonly txHash: string; readonly outputIndex: string }[],
  ) => {
    const list = transfers.map(({ txHash, outputIndex }) => ({ txHash, outputIndex }));
    return { network: name, merchantId, list: JSON.stringify(list) };
  },
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'transfers are missed', 0 where exists (select 1 from ${listed} cross join payments known
      on known.network = ${network} and known.tx_hash = ${member("txHash")} and known.output_index = ${member("outputIndex")}
      where known.merchant_id = ${of.merchantId})`,
    ),
);

/** Recounts the addresses handed out after the last one that received money; follows the payments in the batch. */
export const recountGap = prepared(
  (walletId: WalletId) => ({ walletId }),
  (db, of) =>
    db
      .update(wallets)
      .set({
        gap: sql`(select count(*) from payment_methods out where out.wallet_id = wallets.id and out.address_index is not null
        and out.address_index > coalesce((select max(own.address_index) from payment_methods own
          join payments paid on paid.invoice_id = own.invoice_id and paid.network = own.network and paid.to_address = own.address
          where own.wallet_id = wallets.id and own.address_index is not null and paid.status in ('DETECTED', 'CONFIRMED')), -1))`,
      })
      .where(eq(wallets.id, of.walletId)),
);
