// The orders of the shop: how each gets its invoice, and how events change it. This uses SQLite of Node 24; any database with transactions
// will do.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Edgetill, EdgetillError } from "edgetill";

// The price comes from the shop, never from the browser. The API's amounts are strings with six decimals, so equal amounts are equal strings.
export const PRODUCT = { name: "A bag of coffee", amount: "12.500000", currency: "USD" };

export const STATES = {
  AWAITING_PAYMENT: "Waiting for payment",
  PENDING_CONFIRMATION: "Payment seen, waiting for its confirmation",
  PAID: "Paid",
  OVERPAID: "Paid",
  UNDERPAID: "Not enough was paid: please write to us",
  EXPIRED: "Expired",
  CANCELLED: "Cancelled",
};

let opened;

/** Opened by the first request, because `next build` loads this file too. */
function database() {
  if (opened !== undefined) return opened;
  const { SHOP_STATE = ".edgetill/shop.sqlite" } = process.env;
  mkdirSync(dirname(SHOP_STATE), { recursive: true });
  // Next.js may load this file more than once. The connections then wait for each other's transactions.
  opened = new DatabaseSync(SHOP_STATE, { timeout: 10_000 });
  // invoice and checkout: null until an invoice is known to exist. sequence: that of the newest event.
  opened.exec(`
    CREATE TABLE IF NOT EXISTS orders (
      id TEXT PRIMARY KEY, amount TEXT NOT NULL, currency TEXT NOT NULL, invoice TEXT, checkout TEXT,
      status TEXT NOT NULL DEFAULT 'AWAITING_PAYMENT', sequence INTEGER NOT NULL DEFAULT 0, paid_at INTEGER);
    CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY);`);
  return opened;
}

export function findOrder(id) {
  return database().prepare("SELECT * FROM orders WHERE id = ?").get(id);
}

export function newOrder() {
  const id = randomBytes(8).toString("hex"); // cannot be guessed: anyone who knows it may see the order
  const { amount, currency } = PRODUCT;
  database().prepare("INSERT INTO orders (id, amount, currency) VALUES (?, ?, ?)").run(id, amount, currency);
  return findOrder(id);
}

/** The order's only invoice, however often this is called: the same key and body give the same answer. Throws if there is no usable answer. */
export async function invoiceOf({ id, amount, currency }) {
  const { EDGETILL_URL = "http://localhost:8787", EDGETILL_MERCHANT = "", EDGETILL_KEY = "" } = process.env;
  const { PORT = "3000", SHOP_URL = `http://127.0.0.1:${PORT}` } = process.env;
  // A customer is waiting, so an honest "try again" is better than many silent attempts.
  const patience = { timeoutMs: 15_000, maxRetries: 1 };
  const edgetill = new Edgetill({
    baseUrl: EDGETILL_URL,
    merchantId: EDGETILL_MERCHANT,
    apiKey: EDGETILL_KEY,
    ...patience,
  });
  const body = {
    name: `${PRODUCT.name}, order ${id}`,
    rawAmount: Number(amount),
    currency,
    externalId: id,
    redirectUrl: `${SHOP_URL}/orders/${id}`,
  };
  const invoice = await edgetill.invoices.create(body, { idempotencyKey: `order-${id}` }).catch((error) => {
    // Edgetill forgets the key after 24 hours, but never the order's number.
    if (!(error instanceof EdgetillError) || error.code !== "EXTERNAL_ID_EXISTS") throw error;
    return edgetill.invoices.get(error.facts.invoiceId);
  });
  const update = database().prepare("UPDATE orders SET invoice = ?, checkout = ? WHERE id = ?");
  update.run(invoice.id, invoice.checkoutUrl, id);
  return invoice;
}

/** Acts on a genuine event, and stores all of its changes or none. Events arrive at least once, and in any order. */
export function record(event) {
  database().exec("BEGIN IMMEDIATE");
  try {
    change(database(), event);
    database().exec("COMMIT");
  } catch (error) {
    if (database().isTransaction) database().exec("ROLLBACK");
    throw error;
  }
}

function change(database, { id, type, sequence, data: { invoice } }) {
  const isNew = database.prepare("INSERT OR IGNORE INTO events VALUES (?)").run(id).changes === 1;
  if (!isNew || sequence === null || invoice === undefined) return;
  const order = findOrder(invoice.externalId);
  // The event is for another shop, or older than the stored state.
  if (order === undefined || sequence <= order.sequence) return;
  if (invoice.rawAmount !== order.amount || invoice.currency !== order.currency) {
    console.error(`Order ${order.id}: ${invoice.id} asks for another amount, ignored`);
    return;
  }
  if (order.invoice !== null && order.invoice !== invoice.id) {
    console.error(`Order ${order.id}: ${invoice.id} is not its invoice, ignored`);
    return;
  }
  // Whatever its type, the newest event has the current invoice. It may arrive before the response to the request that created the invoice.
  database
    .prepare("UPDATE orders SET invoice = ?, checkout = ?, status = ?, sequence = ? WHERE id = ?")
    .run(invoice.id, invoice.checkoutUrl, invoice.status, sequence, order.id);
  if (["PAID", "OVERPAID"].includes(invoice.status) && order.paid_at === null) {
    // Only once for each order. Here a shop would store what must be shipped, in the same transaction.
    database.prepare("UPDATE orders SET paid_at = ? WHERE id = ?").run(Date.now(), order.id);
    console.log(`Order ${order.id} is paid`);
  } else if (type === "invoice.reversed") {
    console.log(`Order ${order.id} was paid, and its payment has left the chain`);
  }
}
