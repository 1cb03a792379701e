import { type Placeholder, sql } from "drizzle-orm";
import { pageColumns } from "../../commerce/invoice-records/store.ts";
import { decodePayments, paymentJson } from "../../commerce/payments/store.ts";
import type { ClaimId, MerchantId } from "../../lib/ids.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { jsonObject, rowDecoder } from "../../platform/db/json-rows.ts";
import { prepared, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { paymentClaims } from "../../platform/db/schema/payments.ts";
import { CLAIM_WINDOW_MS, CLAIMS_PER_INVOICE, type Claim, type ClaimOutcome, REPEAT_MS } from "./claim.ts";

const invoiceId = sql.placeholder("invoiceId");
const network = sql.placeholder("network");
const txHash = sql.placeholder("txHash");

// The unary plus keeps SQLite from reading all methods on a network.
/** Whether a known transaction, which the watcher follows, pays an address of the invoice, no matter which merchant has the payment. */
const isKnown = sql`exists (select 1 from payments paid where paid.network = ${network} and paid.tx_hash = ${txHash}
  and paid.status <> 'DROPPED' and paid.to_address in (select method.address from payment_methods method
    where method.invoice_id = ${invoiceId} and +method.network = ${network} and method.status = 'ACTIVE'))`;

/**
 * One row with what a claim depends on, if the invoice's merchant is not deleted: the invoice's networks, the claims of the last hour, and whether
 * the transaction is known to pay the invoice.
 */
export const selectForClaim = prepared(
  (of: { readonly invoiceId: string; readonly network: string; readonly txHash: string; readonly nowMs: number }) => ({
    ...of,
    sinceMs: of.nowMs - CLAIM_WINDOW_MS,
  }),
  (db, of) =>
    db
      .select({
        merchantId: sql<MerchantId>`invoice.merchant_id`.as("merchant"),
        networks: sql`(select json_group_array(distinct method.network) from payment_methods method
        where method.invoice_id = invoice.id and method.status = 'ACTIVE')`
          .mapWith(parseJson<readonly string[]>)
          .as("networks"),
        isKnown: sql`${isKnown}`.mapWith(Boolean).as("is_known"),
        claims:
          sql`(select json_group_array(json_object('id', id, 'invoiceId', invoice_id, 'merchantId', merchant_id, 'network', network,
        'txHash', tx_hash, 'outcome', outcome, 'createdAtMs', created_at_ms)) from payment_claims
        where invoice_id = invoice.id and created_at_ms > ${of.sinceMs})`
            .mapWith(parseJson<readonly Claim[]>)
            .as("claims"),
      })
      .from(sql`invoices invoice`)
      .where(
        sql`invoice.id = ${invoiceId} and exists (
        select 1 from merchants shop where shop.id = invoice.merchant_id and shop.deleted_at_ms is null)`,
      ),
);

/** Aborts the batch if too many claims, or the same claim, have been written since the read. */
export const assertClaimAllowed = prepared(
  (claim: Claim) => {
    const { createdAtMs: nowMs } = claim;
    return { ...claim, sinceMs: nowMs - CLAIM_WINDOW_MS, repeatMs: nowMs - REPEAT_MS };
  },
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'claim is allowed', 0 where (select count(*) from payment_claims where invoice_id = ${invoiceId}
      and created_at_ms > ${of.sinceMs}) >= ${CLAIMS_PER_INVOICE} or exists (select 1 from payment_claims
      where invoice_id = ${invoiceId} and created_at_ms > ${of.repeatMs} and network = ${network} and tx_hash = ${txHash})`,
    ),
);

export const insertClaim = preparedInsert(paymentClaims);

/** The claim with this id, if its row was written. */
export const selectClaim = prepared(
  (id: ClaimId) => ({ id }),
  (db, of) => db.select({ id: paymentClaims.id }).from(paymentClaims).where(sql`id = ${of.id}`),
);

/** How many rows of a claimed transaction are read; those of the invoice's merchant come first. */
const MOST_CLAIMED = 200;

/** A claim about the row's invoice, and the other payments of its transaction that `standingOf` needs. `claimId` may be null. */
export const claimColumns = (claimId: Placeholder) => ({
  claim: sql`(select ${jsonObject(paymentClaims, "said")} from payment_claims said
    where said.id = ${claimId} and said.invoice_id = invoices.id)`
    .mapWith(rowDecoder(paymentClaims))
    .as("claim_json"),
  claimed: sql`(select json_group_array(${paymentJson("paid")}) from (select other.* from payment_claims said
    cross join payments other on other.network = said.network and other.tx_hash = said.tx_hash
    where said.id = ${claimId} and said.invoice_id = invoices.id and other.invoice_id is not invoices.id
    and other.to_address in (select method.address from payment_methods method
      where method.invoice_id = invoices.id and +method.network = said.network and method.status = 'ACTIVE')
    order by other.merchant_id = invoices.merchant_id desc, other.id limit ${sql.raw(String(MOST_CLAIMED))}) paid)`
    .mapWith(decodePayments)
    .as("claimed_json"),
});

/**
 * The most methods that are read for an address, across merchants. If the address was given out more often, its transfers are shown only to a payer
 * who names them.
 */
const MOST_GIVEN = 200;
const MOST_ARRIVED = 20;
/**
 * Block times are inexact and in whole seconds. So a payment made after an invoice was created can have an earlier block time, and another invoice
 * that was created or ended around that time may also be the intended one.
 */
const BLOCK_TIME_SLACK_MS = 10 * MINUTE_MS;

const givenThere = sql`payment_methods rival indexed by payment_methods_address where rival.network = came.network
  and rival.address = came.to_address`;

/**
 * Uncredited transfers that no payer named and that can only be meant for this invoice (security.md 4, "What a page shows of a transfer"): sent to
 * one of its addresses while it was monitored, first seen after the invoice had the address, and stored for its merchant, while no other invoice of
 * any merchant had that address. Oldest first.
 */
export const arrivedColumns = () => ({
  arrived: sql`(select json_group_array(${paymentJson("came")}) from (select came.* from payment_methods own
    cross join payments came indexed by payments_loose_unmatched on came.network = own.network and came.to_address = own.address
      and came.status = 'UNMATCHED' and came.created_at_ms >= own.activated_at_ms
    where own.invoice_id = invoices.id and own.status = 'ACTIVE' and came.merchant_id = invoices.merchant_id
    and came.received_at_ms between own.activated_at_ms - ${sql.raw(String(BLOCK_TIME_SLACK_MS))} and invoices.monitor_until_ms
    and came.tx_hash not like 'block:%'
    and (select count(*) from (select 1 from ${givenThere} limit ${sql.raw(String(MOST_GIVEN + 1))})) <= ${sql.raw(String(MOST_GIVEN))}
    and not exists (select 1 from ${givenThere} and rival.invoice_id <> invoices.id
      and rival.activated_at_ms - ${sql.raw(String(BLOCK_TIME_SLACK_MS))} <= came.received_at_ms
      and came.received_at_ms <= (select meant.monitor_until_ms from invoices meant where meant.id = rival.invoice_id)
        + ${sql.raw(String(BLOCK_TIME_SLACK_MS))})
    group by came.id order by came.received_at_ms, came.id limit ${sql.raw(String(MOST_ARRIVED))}) came)`
    .mapWith(decodePayments)
    .as("arrived_json"),
});

/** A claim with its invoice and what else is known about its transaction, as one row. */
export const selectClaimFile = prepared(
  (id: ClaimId) => ({ id }),
  (db, of) =>
    db
      .select({ ...pageColumns(), ...claimColumns(of.id) })
      .from(invoices)
      .where(sql`invoices.id = (select said.invoice_id from payment_claims said where said.id = ${of.id})`),
);

/** Records and returns the result of the lookup: FOUND if the transaction is known to pay the invoice. */
export const noteOutcome = prepared(
  ({ id, invoiceId, network, txHash }: Claim, outcome: ClaimOutcome) => ({ id, invoiceId, network, txHash, outcome }),
  (db, of) =>
    db
      .update(paymentClaims)
      .set({ outcome: sql`case when ${isKnown} then 'FOUND' else ${of.outcome} end` })
      .where(sql`id = ${of.id}`)
      .returning({ outcome: sql<ClaimOutcome>`outcome` }),
);
