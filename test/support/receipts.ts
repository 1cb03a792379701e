// Orders with payments in the form in which a watcher records them, and a cron whose mail provider stores the emails it sends.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { changeInvoice, readFile } from "../../src/commerce/invoices/change-invoice.ts";
import { invoiceDependencies } from "../../src/commerce/invoices/dependencies.ts";
import { type Occasion, settlementChange } from "../../src/commerce/invoices/settle-invoice.ts";
import type { InvoiceId } from "../../src/lib/ids.ts";
import { err, ok } from "../../src/lib/result.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { receiptDependencies } from "../../src/notifications/receipts/dependencies.ts";
import { type ReceiptDependencies, sendReceipts } from "../../src/notifications/receipts/send-receipts.ts";
import { SYSTEM_TRAIL } from "../../src/platform/audit/entry.ts";
import { receipts } from "../../src/platform/db/schema/checkouts.ts";
import type { Mail } from "../../src/platform/mail/mail.ts";
import { type SeedPayment, seedPayment } from "./payments.ts";
import { type TestMerchant, testDb } from "./worker-merchant.ts";

/** An unpaid order of 10 USD, with a customer's email or without a customer. */
export async function orderOf(shop: TestMerchant, customerEmail?: string): Promise<InvoiceId> {
  const who = customerEmail === undefined ? {} : { customerEmail };
  const made = await shop.post("/invoices", {
    name: "Order 7",
    rawAmount: 10,
    externalId: crypto.randomUUID(),
    ...who,
  });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

/** A confirmed payment to an invoice, worth `micros`. */
export const paymentOf = (shop: TestMerchant, invoiceId: InvoiceId, fiatMicros: bigint, more: SeedPayment = {}) =>
  seedPayment(shop.merchantId, {
    invoiceId,
    matchedBy: "MANUAL",
    status: "CONFIRMED",
    fiatMicros,
    usdMicros: fiatMicros,
    amountUnits: fiatMicros,
    confirmedAtMs: Date.now(),
    ...more,
  });

/** Changes the invoice in the way a watcher does. */
export async function changed(shop: TestMerchant, id: InvoiceId, occasion: Occasion): Promise<void> {
  const deps = { ...invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep }), trail: SYSTEM_TRAIL };
  const file = await readFile(deps, shop.merchantId, id);
  if (!file.ok || file.value === undefined) throw new Error(`${id} cannot be read`);
  const of = { merchantId: shop.merchantId, id, read: file.value };
  const made = await changeInvoice(deps, of, async (read) => ok(settlementChange(read, deps.nowMs, occasion)));
  if (!made.ok) throw new Error(made.error.code);
}

export async function pay(shop: TestMerchant, id: InvoiceId, micros = 10_000_000n) {
  const payment = await paymentOf(shop, id, micros);
  await changed(shop, id, { payments: [payment], events: [{ type: "payment.confirmed", paymentId: payment.id }] });
  return payment;
}

export async function paidOrder(shop: TestMerchant, customerEmail?: string): Promise<InvoiceId> {
  const id = await orderOf(shop, customerEmail);
  await pay(shop, id);
  return id;
}

export const rowsOf = (id: InvoiceId) =>
  testDb.select().from(receipts).where(eq(receipts.invoiceId, id)).orderBy(receipts.recipient);
export const owedFor = async (id: InvoiceId) => (await rowsOf(id)).map(({ recipient }) => recipient);

interface Sent {
  readonly to: string;
  readonly id: string;
  readonly mail: Mail;
}

/** Runs a cron `laterMs` from now with a mail provider that stores its emails. `refuse`: addresses whose emails the provider refuses. */
export function cronAt(laterMs = 0, refuse: ReadonlySet<string> = new Set()) {
  const sent: Sent[] = [];
  const lines: string[] = [];
  const deps: ReceiptDependencies = {
    ...receiptDependencies(env, testDb),
    nowMs: () => Date.now() + laterMs,
    sleep: async () => {},
    client: {
      name: "test",
      send: async (mail, id) => {
        sent.push({ to: mail.to, id, mail });
        return refuse.has(mail.to) ? err({ reason: "no answer in time", isPassing: true }) : ok(undefined);
      },
    },
    report: (alert, facts) => void lines.push(JSON.stringify({ alert, ...facts })),
  };
  const to = (email: string) => sent.filter((each) => each.to === email);
  return { run: () => sendReceipts(deps), sent, lines, to };
}
