// For tests of payments that a user resolves: the invoice to assign them to, the two actions, and the database's state afterwards.
import { asc, eq } from "drizzle-orm";
import { expect } from "vitest";
import type { Invoice } from "../../src/commerce/invoice-records/invoice.ts";
import type { InvoiceId } from "../../src/lib/ids.ts";
import { auditEvents } from "../../src/platform/db/schema/audit-events.ts";
import { events } from "../../src/platform/db/schema/events.ts";
import { invoices } from "../../src/platform/db/schema/invoices.ts";
import { payments } from "../../src/platform/db/schema/payments.ts";
import { idIn } from "./id-in.ts";
import { type TestMerchant, testDb } from "./worker-merchant.ts";

/** An invoice over 10 units of its currency, without a payment method unless `body` names one. */
export async function invoiceOf(
  shop: TestMerchant,
  body: object = {},
  columns: Partial<Invoice> = {},
): Promise<InvoiceId> {
  const made = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [], ...body });
  expect(made.status, made.text).toBe(201);
  const id: InvoiceId = made.body.id;
  if (Object.keys(columns).length > 0) await testDb.update(invoices).set(columns).where(eq(invoices.id, id));
  return id;
}

export const assign = (shop: TestMerchant, payment: { readonly id: string }, invoiceId: string) =>
  shop.post(`/payments/${payment.id}/resolve`, { action: "ASSIGN", invoiceId, reason: "The payer wrote to us" });
export const ignore = (shop: TestMerchant, payment: { readonly id: string }) =>
  shop.post(`/payments/${payment.id}/resolve`, { action: "IGNORE", reason: "Not ours" });
export const pathOf = (shop: TestMerchant, payment: { readonly id: string }) =>
  `/api/v1/merchants/merchant/${shop.merchantId}/payments/${payment.id}/resolve`;
export const typesOf = async (id: InvoiceId) => {
  const rows = await testDb.select().from(events).where(eq(events.invoiceId, id)).orderBy(asc(events.sequence));
  return rows.map(({ type }) => type).filter((type) => type !== "invoice.created" && type !== "payment.created");
};
export const auditOf = (target: string) => testDb.select().from(auditEvents).where(eq(auditEvents.target, target));
export const rowOf = async (id: string) => {
  const [row] = await testDb
    .select()
    .from(payments)
    .where(eq(payments.id, idIn("pay", id)));
  return row;
};
