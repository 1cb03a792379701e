import { eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { jsonObject, rowDecoder } from "../db/json-rows.ts";
import { events } from "../db/schema/events.ts";
import { invoices, paymentMethods } from "../db/schema/invoices.ts";
import { payments } from "../db/schema/payments.ts";
import { wallets } from "../db/schema/wallets.ts";
import { template } from "../db/template.ts";
import type { MerchantId, PaymentId, WalletId } from "../lib/ids.ts";

// Lists come as one JSON parameter. A cross join is done in the order written: each of the list is looked up by an index.
const network = sql.placeholder("network");
const listed = sql`json_each(${sql.placeholder("list")}) item`;
const member = (name: string) => sql.raw(`item.value ->> '$.${name}'`);

const known = template((db) =>
  db.select({ row: sql`${jsonObject(payments, "paid")}`.mapWith(rowDecoder(payments)).as("row") }).from(
    sql`${listed} cross join payments paid on paid.network = ${network} and paid.tx_hash = ${member("txHash")}
        and paid.output_index = ${member("outputIndex")}`,
  ),
);

/** The rows of these transfers, whichever merchant's. `list`: JSON of `{ txHash, outputIndex }`. */
export function selectKnownTransfers(db: Db, of: { readonly network: string; readonly list: string }) {
  return known(db, of);
}

/** A method whose invoice could be meant, with what its invoice says. */
const terms = {
  method: sql`${jsonObject(paymentMethods, "method")}`.mapWith(rowDecoder(paymentMethods)).as("method"),
  invoice: sql`${jsonObject(invoices, "invoice")}`.mapWith(rowDecoder(invoices)).as("invoice"),
  quorumAboveMicros: sql<number | null>`merchant.quorum_above_micros`.as("quorum_above"),
};

const owners = template((db) =>
  db.select(terms).from(
    sql`${listed} cross join payment_methods method on method.network = ${network} and method.address = item.value
        and method.address_index is not null and method.status = 'ACTIVE'
        cross join invoices invoice on invoice.id = method.invoice_id
        cross join merchants merchant on merchant.id = invoice.merchant_id`,
  ),
);

/** The invoices that addresses belong to alone (xpub). `list`: JSON array of addresses. */
export function selectAddressOwners(db: Db, of: { readonly network: string; readonly list: string }) {
  return owners(db, of);
}

const reservationTerms = {
  ...terms,
  reservedUnits: sql<string>`held.units`.as("reserved_units"),
  reservedAtMs: sql<number>`held.created_at_ms`.as("reserved_at"),
  heldUntilMs: sql<number>`held.held_until_ms`.as("held_until"),
};
const ofReservation = sql`cross join invoices invoice on invoice.id = held.invoice_id
  cross join payment_methods method on method.invoice_id = held.invoice_id and method.cryptocurrency = held.cryptocurrency
    and method.network = held.network
  cross join merchants merchant on merchant.id = invoice.merchant_id`;

const exact = template((db) =>
  db.select(reservationTerms).from(
    sql`${listed} cross join amount_reservations held on held.network = ${network}
        and held.cryptocurrency = ${member("cryptocurrency")} and held.address = ${member("address")} and held.units = ${member("units")}
        ${ofReservation}`,
  ),
);

/** Who reserved exactly these units. `list`: JSON of `{ cryptocurrency, address, units }`, units as decimal text. */
export function selectExactAmounts(db: Db, of: { readonly network: string; readonly list: string }) {
  return exact(db, of);
}

/** More than any figure that a person could judge by. */
export const NEAR_AMOUNTS_READ = 200;

const place = sql`held.network = ${network} and held.cryptocurrency = ${sql.placeholder("cryptocurrency")}
  and held.address = ${sql.placeholder("address")}`;
// Real numbers, with room on both sides: they only leave out what could not be meant by far. The rules count exactly.
const worth = sql`(invoice.amount_micros * (${sql.placeholder("units")} / cast(method.amount_units as real)))`;
const near = template((db) =>
  db
    .select(reservationTerms)
    .from(sql`amount_reservations held ${ofReservation}`)
    .where(
      sql`${place} and method.amount_units is not null
        and ${worth} between invoice.amount_micros * 0.099 and invoice.amount_micros * 3.01`,
    )
    // The nearest, so that none within a tolerance is left out.
    .orderBy(sql`abs(${worth} - invoice.amount_micros) / invoice.amount_micros`)
    .limit(NEAR_AMOUNTS_READ),
);

/** Reservations at a place whose invoice a transfer of `units` could be meant for, by far. */
export function selectNearAmounts(
  db: Db,
  of: {
    readonly network: string;
    readonly cryptocurrency: string;
    readonly address: string;
    /** As a real number: an approximation. */
    readonly units: number;
  },
) {
  return near(db, of);
}

const active = template((db) =>
  db
    .select({ invoiceId: sql<string>`held.invoice_id`.as("active_invoice") })
    .from(sql`amount_reservations held cross join invoices invoice on invoice.id = held.invoice_id`)
    .where(sql`${place} and invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')`)
    .groupBy(sql`held.invoice_id`)
    .limit(2),
);

/** Up to two of the active invoices that have a reservation at the place: none, the only one, or more. */
export function selectActiveInvoices(
  db: Db,
  of: { readonly network: string; readonly cryptocurrency: string; readonly address: string },
) {
  return active(db, of);
}

const holders = template((db) =>
  db
    .select({
      address: sql<string>`wallet.address`.as("held_address"),
      merchantId: sql<MerchantId>`wallet.merchant_id`.as("holder"),
      requiredConfirmations: sql<number>`max(wallet.required_confirmations)`.as("required"),
      strays:
        sql<number>`(select count(*) from payments stray where stray.network = ${network} and stray.to_address = wallet.address
        and stray.created_at_ms >= ${sql.placeholder("sinceMs")} and stray.status = 'UNMATCHED'
        and stray.merchant_id = wallet.merchant_id)`.as("strays"),
    })
    .from(
      sql`${listed} cross join wallets wallet on wallet.network = ${network} and wallet.address = item.value and wallet.deleted_at_ms is null`,
    )
    .groupBy(sql`wallet.address, wallet.merchant_id`),
);

/** The merchants with a live wallet on these addresses, and how many UNMATCHED rows each has there since `sinceMs`. */
export function selectHolders(
  db: Db,
  of: { readonly network: string; readonly list: string; readonly sinceMs: number },
) {
  return holders(db, of);
}

const paymentById = template((db) =>
  db
    .select({ id: payments.id, updatedAtMs: payments.updatedAtMs })
    .from(payments)
    .where(eq(payments.id, sql.placeholder("id"))),
);

/** Whether a payment's row stands, and as of when. */
export function selectPaymentRow(db: Db, id: PaymentId) {
  return paymentById(db, { id });
}

const once = template((db) =>
  db
    .insert(events)
    .values({
      id: sql.placeholder("id"),
      merchantId: sql.placeholder("merchantId"),
      type: sql.placeholder("type"),
      data: sql.placeholder("data"),
      createdAtMs: sql.placeholder("createdAtMs"),
    })
    .onConflictDoNothing(),
);

/** An event of a merchant that is told once, however often its occasion is seen: its id says which. */
export function insertEventOnce(
  db: Db,
  event: {
    readonly id: string;
    readonly merchantId: MerchantId;
    readonly type: string;
    readonly data: string;
    readonly createdAtMs: number;
  },
) {
  return once(db, event);
}

const gap = template((db) =>
  db
    .update(wallets)
    .set({
      gap: sql`(select count(*) from payment_methods out where out.wallet_id = wallets.id and out.address_index is not null
        and out.address_index > coalesce((select max(own.address_index) from payment_methods own
          join payments paid on paid.invoice_id = own.invoice_id and paid.network = own.network and paid.to_address = own.address
          where own.wallet_id = wallets.id and own.address_index is not null and paid.status in ('DETECTED', 'CONFIRMED')), -1))`,
    })
    .where(eq(wallets.id, sql.placeholder("walletId"))),
);

/** Counts anew the addresses handed out after the last that has money on it; goes after the payments of its batch. */
export function recountGap(db: Db, walletId: WalletId) {
  return gap(db, { walletId });
}
