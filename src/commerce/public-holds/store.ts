// What browsers hold at a merchant: active invoices, and addresses of extended keys. The rows are counted per IP network, and a trigger removes them
// when their invoice no longer needs them.
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

/** How many holds of one kind an IP network has for other invoices. `hashes`: JSON list of all hashes of the network. */
const heldBy = (hashes: ReturnType<typeof sql>) => sql`(select count(*) from public_holds hold
  where hold.merchant_id = ${sql.placeholder("merchantId")} and hold.kind = ${sql.placeholder("kind")}
  and hold.network in (select value from json_each(${hashes})) and hold.invoice_id <> ${sql.placeholder("invoiceId")})`;

/** How many holds each of `networks` has; `networks` is JSON, with a list of hashes for each network. */
const heldByEach =
  sql`(select json_group_array(${heldBy(sql`asked.value`)}) from (select value from json_each(${sql.placeholder("networks")}) order by key) asked)`
    .mapWith(parseJson<readonly number[]>)
    .as("held");

/** How many public invoices a merchant has and may have, and how many of them each of `networks` created; at most one row. */
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

// Reads only the latest addresses of the merchant's wallets with the key, because older addresses are always out of range. The unary plus keeps
// SQLite from reading all payments on the network instead of those of an invoice.
const lastPaidIndex = sql`(select coalesce(max((select max(own.address_index) from (select * from payment_methods
    where wallet_id = held.id and address_index is not null order by address_index desc limit ${sql.raw(String(LIMITS.publicGapLimit))}) own
    where exists (select 1 from payments paid where paid.invoice_id = own.invoice_id and +paid.network = own.network
      and paid.to_address = own.address and paid.status = 'CONFIRMED'))), -1)
  from wallets held where held.merchant_id = ${sql.placeholder("merchantId")} and held.key_hash = ${sql.placeholder("keyHash")})`;

/**
 * In one row: the index of the key's last address that has a confirmed payment to the merchant (-1 if there is none or it is out of range), how many
 * unpaid addresses each of `networks` holds, and the invoices for which browsers got an address since `sinceMs`.
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

/**
 * Aborts the batch if the merchant is suspended, or if the batch raises the number of its public invoices above the limit. Must come after the
 * invoices in the batch.
 */
export const assertBudget = preparedForEach(
  (merchantId: MerchantId) => ({ merchantId }),
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'room for a public invoice', 0 from merchants where id in (select value ->> '$.merchantId' from json_each(${of.items}))
      and (public_invoices > max_public_invoices or suspended_at_ms is not null)`,
    ),
);

/** Adds a hold for an IP network. Aborts the batch if other invoices already have `max` holds of that kind for it. */
export function takeHold(
  db: Db,
  of: Holder & { readonly kind: HoldKind; readonly pair: string },
  network: { readonly hash: string; readonly hashes: readonly string[]; readonly max: number },
): readonly Statement[] {
  const { merchantId, invoiceId, kind, pair } = of;
  const { hash, hashes, max } = network;
  // The insert comes first, so that each hold counts the holds before it in the same batch.
  return [
    insertHold(db, { merchantId, invoiceId, kind, pair, network: hash }),
    fewOfNetwork(db, { merchantId, invoiceId, kind, hashes: JSON.stringify(hashes), max }),
  ];
}

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
