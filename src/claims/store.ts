import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { assertions } from "../db/schema/operations.ts";
import { paymentClaims } from "../db/schema/payments.ts";
import { insertTemplate, template } from "../db/template.ts";
import type { ClaimId, MerchantId } from "../lib/ids.ts";
import { CLAIM_WINDOW_MS, CLAIMS_PER_INVOICE, type Claim, type ClaimOutcome, REPEAT_MS } from "./claim.ts";

const invoiceId = sql.placeholder("invoiceId");
const network = sql.placeholder("network");
const txHash = sql.placeholder("txHash");

/** Whether a transaction is known to pay to an address of the invoice, whosever the payment is: a fact of the chain, and of nothing else. */
const isKnown = sql`exists (select 1 from payments paid where paid.network = ${network} and paid.tx_hash = ${txHash}
  and paid.to_address in (select method.address from payment_methods method
    where method.invoice_id = ${invoiceId} and method.network = ${network} and method.status = 'ACTIVE'))`;

const forClaim = template((db) =>
  db
    .select({
      merchantId: sql<MerchantId>`invoice.merchant_id`.as("merchant"),
      networks: sql`(select json_group_array(distinct method.network) from payment_methods method
        where method.invoice_id = invoice.id and method.status = 'ACTIVE')`
        .mapWith((json: string): readonly string[] => JSON.parse(json))
        .as("networks"),
      isKnown: sql`${isKnown}`.mapWith(Boolean).as("is_known"),
      claims:
        sql`(select json_group_array(json_object('id', id, 'invoiceId', invoice_id, 'merchantId', merchant_id, 'network', network,
        'txHash', tx_hash, 'outcome', outcome, 'createdAtMs', created_at_ms)) from payment_claims
        where invoice_id = invoice.id and created_at_ms > ${sql.placeholder("sinceMs")})`
          .mapWith((json: string): readonly Claim[] => JSON.parse(json))
          .as("claims"),
    })
    .from(sql`invoices invoice`)
    .where(sql`invoice.id = ${invoiceId}`),
);

/** What a claim is judged by, as one row: the invoice's networks, the claims of the last hour, and whether the transaction is known to pay it. */
export function selectForClaim(
  db: Db,
  of: { readonly invoiceId: string; readonly network: string; readonly txHash: string; readonly nowMs: number },
) {
  return forClaim(db, { ...of, sinceMs: of.nowMs - CLAIM_WINDOW_MS });
}

const free = template((db) =>
  db.insert(assertions).select(
    sql`select 'claim is allowed', 0 where (select count(*) from payment_claims where invoice_id = ${invoiceId}
      and created_at_ms > ${sql.placeholder("sinceMs")}) >= ${CLAIMS_PER_INVOICE} or exists (select 1 from payment_claims
      where invoice_id = ${invoiceId} and created_at_ms > ${sql.placeholder("repeatMs")} and network = ${network} and tx_hash = ${txHash})`,
  ),
);

/** Aborts the batch when others claimed too much meanwhile, or just this. */
export function assertClaimAllowed(db: Db, claim: Claim) {
  const { createdAtMs: nowMs } = claim;
  return free(db, { ...claim, sinceMs: nowMs - CLAIM_WINDOW_MS, repeatMs: nowMs - REPEAT_MS });
}

export const insertClaim = insertTemplate(paymentClaims);

const byId = template((db) =>
  db
    .select({ id: paymentClaims.id })
    .from(paymentClaims)
    .where(sql`id = ${sql.placeholder("id")}`),
);

/** Whether a claim stands, by id. */
export function selectClaim(db: Db, id: ClaimId) {
  return byId(db, { id });
}

const note = template((db) =>
  db
    .update(paymentClaims)
    .set({ outcome: sql`case when ${isKnown} then 'FOUND' else ${sql.placeholder("outcome")} end` })
    .where(sql`id = ${sql.placeholder("id")}`)
    .returning({ outcome: sql<ClaimOutcome>`outcome` }),
);

/** Notes what a look found, FOUND where the transaction is known to pay the invoice; brings the outcome. */
export function noteOutcome(db: Db, { id, invoiceId, network, txHash }: Claim, outcome: ClaimOutcome) {
  return note(db, { id, invoiceId, network, txHash, outcome });
}
