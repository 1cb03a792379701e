// The orders of the shop and how events change them, in D1.
import type { Invoice, WebhookEvent } from "edgetill";

// The price is the shop's own, never the browser's. Amounts of the API are texts with six digits, so equal amounts are equal texts.
export const PRODUCT = { name: "A bag of coffee", amount: "12.500000", currency: "USD" } as const;

export const STATES: Readonly<Record<Invoice["status"], string>> = {
  AWAITING_PAYMENT: "Waiting for payment",
  PENDING_CONFIRMATION: "Payment seen, waiting for its confirmation",
  PAID: "Paid",
  OVERPAID: "Paid",
  UNDERPAID: "Not enough was paid: please write to us",
  EXPIRED: "Expired",
  CANCELLED: "Cancelled",
};

/** A row of migrations/0001_orders.sql. */
export interface Order {
  readonly id: string;
  readonly amount: string;
  readonly currency: typeof PRODUCT.currency;
  /** The status of its invoice, as the newest event has it. */
  readonly status: Invoice["status"];
  /** Null while it is not known whether there is an invoice. */
  readonly invoice: string | null;
  readonly checkout: string | null;
}

export async function newOrder(database: D1Database): Promise<Order> {
  const id = crypto.randomUUID().replaceAll("-", ""); // cannot be guessed: who knows it may see the order
  const insert = "INSERT INTO orders (id, amount, currency) VALUES (?, ?, ?) RETURNING *";
  const order = await database.prepare(insert).bind(id, PRODUCT.amount, PRODUCT.currency).first<Order>();
  if (order === null) throw new Error(`order ${id} was not stored`);
  return order;
}

export function findOrder(database: D1Database, id: string): Promise<Order | null> {
  return database.prepare("SELECT * FROM orders WHERE id = ?").bind(id).first<Order>();
}

export async function storeInvoice(database: D1Database, orderId: string, { id, checkoutUrl }: Invoice): Promise<void> {
  const update = "UPDATE orders SET invoice = ?, checkout = ? WHERE id = ?";
  await database.prepare(update).bind(id, checkoutUrl, orderId).run();
}

/** Acts on a genuine event. Events come at least once and in any order, and two may come at the same moment. */
export async function record(database: D1Database, { sequence, type, data }: WebhookEvent): Promise<void> {
  if (sequence === null || !("invoice" in data)) return;
  const { invoice } = data;
  const order = await findOrder(database, invoice.externalId ?? "");
  if (order === null) return; // of another shop
  const isItsInvoice = order.invoice === null || order.invoice === invoice.id;
  if (!isItsInvoice || invoice.rawAmount !== order.amount || invoice.currency !== order.currency) {
    console.error(`Order ${order.id}: ${invoice.id} is not its invoice, or asks for another amount; ignored`);
    return;
  }
  // D1 has no transaction around a read and a write, so the statements themselves say when they apply, and a batch is stored whole or
  // not at all. Each event of an invoice has a sequence of its own: one that came before, or is older than what is known, changes nothing.
  const isPaidNow = "status IN ('PAID', 'OVERPAID') AND paid_at IS NULL";
  const [changed, paid] = await database.batch([
    // The newest event has the invoice as it is now, whatever the event's type. It may come before the answer of the create.
    database
      .prepare(
        "UPDATE orders SET status = ?1, sequence = ?2, invoice = ?3, checkout = ?4 WHERE id = ?5 AND sequence < ?2",
      )
      .bind(invoice.status, sequence, invoice.id, invoice.checkoutUrl, order.id),
    // Once for each order. Here a shop stores what is to be shipped, in this same batch.
    database.prepare(`UPDATE orders SET paid_at = ? WHERE id = ? AND ${isPaidNow}`).bind(Date.now(), order.id),
  ]);
  if (paid?.meta.changes === 1) console.log(`Order ${order.id} is paid`);
  else if (changed?.meta.changes === 1 && type === "invoice.reversed")
    console.log(`Order ${order.id} was paid, and its payment has left the chain`);
}
