// What browsers hold at a merchant: active invoices, and addresses of extended keys. Rows are counted per IP network, and a trigger removes them when their
// invoice no longer needs them.
import { and, eq, sql } from "drizzle-orm";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared, preparedForEach, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { paymentMethods } from "../../platform/db/schema/invoices.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { publicHolds } from "../../platform/db/schema/public-holds.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { PaymentMethod } from "../invoice-records/invoice.ts";

type HoldKind = "INVOICE" | "ADDRESS";

interface Holder {
  readonly merchantId: MerchantId;
  readonly invoiceId: InvoiceId;
}

/** How many other invoices have a hold of the kind, for one IP network with all its hashes (JSON). */
const heldBy = (hashes: ReturnType<typeof sql>) => sql`(select count(*) from public_holds hold
  where hold.merchant_id = ${sql.placeholder("merchantId")} and hold.kind = ${sql.placeholder("kind")}
  and hold.network in (select value from json_each(${hashes})) and hold.invoice_id <> ${sql.placeholder("invoiceId")})`;

/** For each of `networks`, which is JSON of lists of hashes, how many holds it has. */
const heldByEach =
  sql`(select json_group_array(${heldBy(sql`asked.value`)}) from (select value from json_each(${sql.placeholder("networks")}) order by key) asked)`
    .mapWith(parseJson<readonly number[]>)
    .as("held");

/** How many public invoices a merchant has and may have, and how many each of `networks` created; at most one row. */
export const selectRoom = prepared(
  (of: Holder, networks: readonly { readonly hashes: readonly string[] }[]) => ({
    ...of,
    kind: "INVOICE",
    networks: namesOf(networks),
  }),
  (db, of) =>
    db
      .select({
        publicInvoices: merchants.publicInvoices,
        maxPublicInvoices: merchants.maxPublicInvoices,
        held: heldByEach,
      })
      .from(merchants)
      .where(eq(merchants.id, of.merchantId)),
);

// Only the latest addresses of all the merchant's wallets on the key are read: an address further back is too far away in any case.
// The unary plus keeps SQLite from reading all payments of the network instead of those of an invoice.
const lastPaidIndex = sql`(select coalesce(max((select max(own.address_index) from (select * from payment_methods
    where wallet_id = held.id and address_index is not null order by address_index desc limit ${sql.raw(String(LIMITS.publicGapLimit))}) own
    where exists (select 1 from payments paid where paid.invoice_id = own.invoice_id and +paid.network = own.network
      and paid.to_address = own.address and paid.status = 'CONFIRMED'))), -1)
  from wallets held where held.merchant_id = ${sql.placeholder("merchantId")} and held.key_hash = ${sql.placeholder("keyHash")})`;

/**
 * In one row: the index of the merchant's last address of the key with a confirmed payment (-1 if that is too far back or missing), how many unpaid addresses
 * each of `networks` holds, and for which invoices browsers got an address since `sinceMs`.
 */
export const selectHold = prepared(
  (
    of: Holder & { readonly keyHash: string; readonly sinceMs: number },
    networks: readonly { readonly hashes: readonly string[] }[],
  ) => ({ ...of, kind: "ADDRESS", networks: namesOf(networks) }),
  (db, of) =>
    db
      .select({
        lastPaidIndex: lastPaidIndex.mapWith(Number).as("last_paid_index"),
        held: heldByEach,
        landed: sql`(select json_group_array(invoice_id) from payment_methods
        where merchant_id = ${of.merchantId} and is_from_public_key = 1 and address_index is not null
        and activated_at_ms > ${of.sinceMs})`
          .mapWith(parseJson<readonly InvoiceId[]>)
          .as("landed"),
      })
      .from(sql`(select 1)`),
);

const fewOfNetwork = prepared(
  (of: Holder & { readonly kind: HoldKind; readonly hashes: string; readonly max: number }) => of,
  (db, of) =>
    db.insert(assertions).select(sql`select 'room for a network', 0 where ${heldBy(sql`${of.hashes}`)} >= ${of.max}`),
);
const insertHold: (db: Db, row: Required<typeof publicHolds.$inferInsert>) => Statement = preparedInsert(publicHolds, [
  publicHolds.invoiceId,
  publicHolds.kind,
  publicHolds.pair,
  publicHolds.network,
]);

/** Aborts the batch if the merchant is suspended, or if the batch makes its public invoices more than their limit. After the invoices in the batch. */
export const assertBudget = preparedForEach(
  (merchantId: MerchantId) => ({ merchantId }),
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'room for a public invoice', 0 from merchants where id in (select value ->> '$.merchantId' from json_each(${of.items}))
      and (public_invoices > max_public_invoices or suspended_at_ms is not null)`,
    ),
);

/** Adds one hold of the kind for an IP network; aborts the batch if other invoices already have `max` holds for it. */
export function takeHold(
  db: Db,
  of: Holder & { readonly kind: HoldKind; readonly pair: string },
  network: { readonly hash: string; readonly hashes: readonly string[]; readonly max: number },
): readonly Statement[] {
  const { merchantId, invoiceId, kind, pair } = of;
  const { hash, hashes, max } = network;
  // In this order, so that of several holds in one batch each counts the others.
  return [
    insertHold(db, { merchantId, invoiceId, kind, pair, network: hash }),
    fewOfNetwork(db, { merchantId, invoiceId, kind, hashes: JSON.stringify(hashes), max }),
  ];
}

/** Marks a method as activated by a browser. */
export const markFromPublicKey = prepared(
  (method: Pick<PaymentMethod, "invoiceId" | "cryptocurrency" | "network">) => {
    const { invoiceId, cryptocurrency, network } = method;
    return { invoiceId, cryptocurrency, network };
  },
  (db, of) =>
    db
      .update(paymentMethods)
      .set({ isFromPublicKey: true })
      .where(
        and(
          eq(paymentMethods.invoiceId, of.invoiceId),
          eq(paymentMethods.cryptocurrency, of.cryptocurrency),
          eq(paymentMethods.network, of.network),
        ),
      ),
);

function namesOf(networks: readonly { readonly hashes: readonly string[] }[]): string {
  return JSON.stringify(networks.map(({ hashes }) => hashes));
}
