// Invoices that payers open, created through the API, and requests to their pages and JSON.
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import type { InvoiceId, MerchantId } from "../../src/lib/ids.ts";
import type { InvoiceStatus } from "../../src/platform/column-values.ts";
import { invoices, timelineItems } from "../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../src/platform/db/schema/merchants.ts";
import { type Answer, type Ask, sendWith } from "./access.ts";
import { directWallet, xpubWallet } from "./wallet-bodies.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "./worker-merchant.ts";

export interface Order {
  readonly id: InvoiceId;
  readonly shop: TestMerchant;
  readonly merchantId: MerchantId;
  /** Address of the first active method; "" if there is none. */
  readonly address: string;
}

/** Creates a 10 USD invoice for a new shop that takes USDT on Ethereum and BTC, neither picked; override with `body` and `wallets`. */
export async function freshOrder(
  body: object = {},
  wallets: readonly object[] = [directWallet(), xpubWallet()],
): Promise<Order> {
  const shop = await freshMerchant();
  for (const wallet of wallets) expect((await shop.post("/wallets", wallet)).status).toBe(201);
  return orderOf(shop, body);
}

/** Creates another invoice for an existing shop. */
export async function orderOf(shop: TestMerchant, body: object = {}): Promise<Order> {
  const made = await shop.post("/invoices", { name: "Order 1001", rawAmount: 10, ...body });
  expect(made.status, made.text).toBe(201);
  const { id, paymentMethods } = made.body;
  return { id, shop, merchantId: shop.merchantId, address: paymentMethods[0]?.address ?? "" };
}

/** Changes the invoice's row as a payment or an expiry does, and adds its timeline item. */
export async function put(order: Order, changes: Partial<typeof invoices.$inferInsert>): Promise<void> {
  await testDb.update(invoices).set(changes).where(eq(invoices.id, order.id));
}

/** Puts the invoice into a status that does not change by itself. */
export async function putInStatus(order: Order, status: InvoiceStatus): Promise<void> {
  const nowMs = Date.now();
  const isPaid = status === "PAID" || status === "OVERPAID";
  const money = isPaid ? { receivedMicros: 10_000_000n, confirmedMicros: 10_000_000n } : {};
  await put(order, { status, ...money });
  const items = await testDb.select().from(timelineItems).where(eq(timelineItems.invoiceId, order.id));
  await testDb.insert(timelineItems).values({
    id: freshId("itl"),
    invoiceId: order.id,
    position: items.length + 1,
    paymentStatus: status,
    timeMs: nowMs,
  });
}

export const putMerchant = (order: Order, changes: Partial<typeof merchants.$inferInsert>) =>
  testDb.update(merchants).set(changes).where(eq(merchants.id, order.merchantId));

/** `/pay/{invoiceId}` and the paths below it. */
export const page = (of: { readonly id: string }, rest = "", ask: Ask = {}, changes: Partial<Env> = {}) =>
  sendWith(changes, `/pay/${of.id}${rest}`, ask);

/** `/api/v1/checkout/{invoiceId}` and the paths below it. */
export const api = (of: { readonly id: string }, rest = "", ask: Ask = {}, changes: Partial<Env> = {}) =>
  sendWith(changes, `/api/v1/checkout/${of.id}${rest}`, ask);

/** Sends a form of the checkout page. */
export const sendForm = (
  of: { readonly id: string },
  rest: string,
  fields: Readonly<Record<string, string>>,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly changes?: Partial<Env> } = {},
): Promise<Answer> => {
  const headers = { "content-type": "application/x-www-form-urlencoded", ...more.headers };
  return page(of, rest, { method: "POST", body: new URLSearchParams(fields).toString(), headers }, more.changes);
};

/** Everything that a payer is shown about an invoice, by name. */
export async function everyAnswer(order: { readonly id: string }): Promise<Readonly<Record<string, Answer>>> {
  const [whole, choice, part, receipt, json] = await Promise.all([
    page(order),
    page(order, "?choose=1"),
    page(order, "/state"),
    page(order, "/receipt"),
    api(order),
  ]);
  return { page: whole, choice, state: part, receipt, json };
}

/** The target of a redirect: path and query. */
export function leadsTo({ status, headers }: Answer): string {
  expect(status).toBe(303);
  return headers.get("location") ?? "";
}
