// The orders of the shop, and how events change them, in D1.
import type { Invoice, WebhookEvent } from "edgetill";

// The price comes from the shop, never from the browser. The API's amounts are strings with six decimals, so equal amounts are equal strings.
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
  /** The status of the order's invoice, from the newest event. */
  readonly status: Invoice["status"];
  /** Null until an invoice is known to exist. */
  readonly invoice: string | null;
  readonly checkout: string | null;
}

export async function newOrder(database: D1Database): Promise<Order> {
  const id = crypto.randomUUID().replaceAll("-", ""); // cannot be guessed: anyone who knows it may see the order
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

/** Acts on a genuine event. Events arrive at least once and in any order, and two may arrive at the same time. */
export async function record(database: D1Database, { sequence, type, data }: WebhookEvent): Promise<void> {
  if (sequence === null || !("invoice" in data)) return;
  const { invoice } = data;
  const order = await findOrder(database, invoice.externalId ?? "");
  if (order === null) return; // the event is for another shop
  const isItsInvoice = order.invoice === null || order.invoice === invoice.id;
  if (!isItsInvoice || invoice.rawAmount !== order.amount || invoice.currency !== order.currency) {
    console.error(`Order ${order.id}: ${invoice.id} is not its invoice, or asks for another amount; ignored`);
    return;
  }
  // D1 has no transaction around a read and a write, so the statements contain their own conditions, and a batch is stored as a whole or
  // not at all. Each event of an invoice has its own sequence: a repeated event, or one that is older than the stored state, changes nothing.
  const isPaidNow = "status IN ('PAID', 'OVERPAID') AND paid_at IS NULL";
  const [changed, paid] = await database.batch([
    // Whatever its type, the newest event has the current invoice. It may arrive before the response to the request that created the invoice.
    database
      .prepare(
        "UPDATE orders SET status = ?1, sequence = ?2, invoice = ?3, checkout = ?4 WHERE id = ?5 AND sequence < ?2",
      )
      .bind(invoice.status, sequence, invoice.id, invoice.checkoutUrl, order.id),
    // Only once for each order. Here a shop would store what must be shipped, in the same batch.
    database.prepare(`UPDATE orders SET paid_at = ? WHERE id = ? AND ${isPaidNow}`).bind(Date.now(), order.id),
  ]);
  if (paid?.meta.changes === 1) console.log(`Order ${order.id} is paid`);
  else if (changed?.meta.changes === 1 && type === "invoice.reversed")
    console.log(`Order ${order.id} was paid, and its payment has left the chain`);
}
