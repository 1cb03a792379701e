// The orders of the shop, and how events change them. This uses SQLite of Node 24; any database with transactions will do.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
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

export interface Order {
  readonly id: string;
  readonly amount: string;
  readonly currency: typeof PRODUCT.currency;
  /** The status of the order's invoice, from the newest event. */
  readonly status: Invoice["status"];
  /** The sequence of the newest event. */
  readonly sequence: number;
  /** Null until an invoice is known to exist. */
  readonly invoice: string | null;
  readonly checkout: string | null;
  /** When the order was first paid. */
  readonly paid_at: number | null;
}

const { SHOP_STATE = ".edgetill/shop.sqlite" } = process.env;
mkdirSync(dirname(SHOP_STATE), { recursive: true });
const database = new DatabaseSync(SHOP_STATE, { timeout: 10_000 });
database.exec(`
  CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY, amount TEXT NOT NULL, currency TEXT NOT NULL, invoice TEXT, checkout TEXT,
    status TEXT NOT NULL DEFAULT 'AWAITING_PAYMENT', sequence INTEGER NOT NULL DEFAULT 0, paid_at INTEGER);
  CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY);`);
const insertOrder = database.prepare("INSERT INTO orders (id, amount, currency) VALUES (?, ?, ?) RETURNING *");
const selectOrder = database.prepare("SELECT * FROM orders WHERE id = ?");
const setInvoice = database.prepare("UPDATE orders SET invoice = ?, checkout = ? WHERE id = ?");
const insertEvent = database.prepare("INSERT OR IGNORE INTO events VALUES (?)");
const setStatus = database.prepare("UPDATE orders SET status = ?, sequence = ? WHERE id = ?");
const setPaid = database.prepare("UPDATE orders SET paid_at = ? WHERE id = ?");

const orderIn = (row: unknown) => row as Order; // its columns are those of the table above

export function newOrder(): Order {
  const id = randomBytes(8).toString("hex"); // cannot be guessed: anyone who knows it may see the order
  return orderIn(insertOrder.get(id, PRODUCT.amount, PRODUCT.currency));
}

export function findOrder(id: string): Order | undefined {
  const row = selectOrder.get(id);
  return row && orderIn(row);
}

export function storeInvoice(orderId: string, { id, checkoutUrl }: Invoice): void {
  setInvoice.run(id, checkoutUrl, orderId);
}

/** Acts on a genuine event, and stores all of its changes or none. Events arrive at least once, and in any order. */
export function record(event: WebhookEvent): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    change(event);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function change({ id, type, sequence, data }: WebhookEvent): void {
  const isNew = insertEvent.run(id).changes === 1;
  if (!isNew || sequence === null || !("invoice" in data)) return;
  const { invoice } = data;
  const order = findOrder(invoice.externalId ?? "");
  // The event is for another shop, or older than the stored state.
  if (order === undefined || sequence <= order.sequence) return;
  const isItsInvoice = order.invoice === null || order.invoice === invoice.id;
  if (!isItsInvoice || invoice.rawAmount !== order.amount || invoice.currency !== order.currency) {
    console.error(`Order ${order.id}: ${invoice.id} is not its invoice, or asks for another amount; ignored`);
    return;
  }
  // Whatever its type, the newest event has the current invoice. It may arrive before the response to the request that created the invoice.
  storeInvoice(order.id, invoice);
  setStatus.run(invoice.status, sequence, order.id);
  if (["PAID", "OVERPAID"].includes(invoice.status) && order.paid_at === null) {
    // Only once for each order. Here a shop would store what must be shipped, in the same transaction.
    setPaid.run(Date.now(), order.id);
    console.log(`Order ${order.id} is paid`);
  } else if (type === "invoice.reversed") {
    console.log(`Order ${order.id} was paid, and its payment has left the chain`);
  }
}
