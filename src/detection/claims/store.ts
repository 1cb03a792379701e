import { sql } from "drizzle-orm";
import type { ClaimId, MerchantId } from "../../lib/ids.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { prepared, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { paymentClaims } from "../../platform/db/schema/payments.ts";
import { CLAIM_WINDOW_MS, CLAIMS_PER_INVOICE, type Claim, type ClaimOutcome, REPEAT_MS } from "./claim.ts";

const invoiceId = sql.placeholder("invoiceId");
const network = sql.placeholder("network");
const txHash = sql.placeholder("txHash");

/** Whether a known transaction pays an address of the invoice, whichever merchant the payment belongs to: only the chain decides this. */
const isKnown = sql`exists (select 1 from payments paid where paid.network = ${network} and paid.tx_hash = ${txHash}
  and paid.to_address in (select method.address from payment_methods method
    where method.invoice_id = ${invoiceId} and method.network = ${network} and method.status = 'ACTIVE'))`;

/**
 * What a claim depends on, as one row if the invoice's merchant is live: the invoice's networks, the claims of the last hour, and whether the
 * transaction is known to pay the invoice.
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

/** Aborts the batch if there were too many claims meanwhile, or if the same claim was made. */
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

/** Records the result of the lookup (FOUND if the transaction is known to pay the invoice) and returns it. */
export const noteOutcome = prepared(
  ({ id, invoiceId, network, txHash }: Claim, outcome: ClaimOutcome) => ({ id, invoiceId, network, txHash, outcome }),
  (db, of) =>
    db
      .update(paymentClaims)
      .set({ outcome: sql`case when ${isKnown} then 'FOUND' else ${of.outcome} end` })
      .where(sql`id = ${of.id}`)
      .returning({ outcome: sql<ClaimOutcome>`outcome` }),
);
