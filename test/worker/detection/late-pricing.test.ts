// Payments without a rate when they were first seen are priced by a later rate, even while others wait for a rate that never comes.
import { eq } from "drizzle-orm";
import { afterEach, expect, it, vi } from "vitest";
import { selectUnpricedAssets, selectUnpricedInvoices } from "../../../src/commerce/payments/store.ts";
import { pricePayments } from "../../../src/detection/matching/price-payments.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { BTC, btcKey, marketShop } from "../../support/market-shop.ts";
import { planOf } from "../../support/query-plan.ts";
import { ageQuotes } from "../../support/quotes.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

type Shop = Awaited<ReturnType<typeof marketShop>>;

afterEach(async () => {
  vi.restoreAllMocks();
  await testDb.delete(payments);
});

/** An invoice with a payment for which there was no rate. */
async function unpriced(shop: Shop): Promise<InvoiceId> {
  shop.rate.usd = "2000";
  const { id, address } = await shop.invoice(100);
  await ageQuotes(testDb, id, 3 * HOUR_MS);
  shop.rate.usd = null;
  await shop.look([shop.transfer(address, 5_000_000n)]);
  expect(await shop.invoiceState(id)).toMatchObject({ received: 0, needsReview: true });
  shop.rate.usd = "2000";
  return id;
}

/** Adds `count` copies of an invoice, each with a payment that is older or newer than the invoice's own. */
async function crowd(of: InvoiceId, count: number, changes: { readonly currency?: string; readonly quotes?: string }) {
  const { currency, quotes } = changes;
  const [invoice] = await testDb.select().from(invoices).where(eq(invoices.id, of));
  const [method] = await testDb.select().from(paymentMethods).where(eq(paymentMethods.invoiceId, of));
  const [payment] = await testDb.select().from(payments).where(eq(payments.invoiceId, of));
  if (invoice === undefined || method === undefined || payment === undefined) throw new Error("nothing to copy");
  for (let n = 0; n < count; n++) {
    const id = freshId("inv");
    const createdAtMs = payment.createdAtMs + (n % 2 === 0 ? -n : n) - 1;
    await testDb.batch([
      testDb.insert(invoices).values({ ...invoice, id, externalId: null, currency: currency ?? invoice.currency }),
      testDb.insert(paymentMethods).values({ ...method, invoiceId: id, address: id, quotes: quotes ?? method.quotes }),
      testDb.insert(payments).values({ ...payment, id: freshId("pay"), invoiceId: id, txHash: id, createdAtMs }),
    ]);
  }
}

it("the pricing job prices what it can at once, even while 120 invoices wait for another currency's rate", async () => {
  const shop = await marketShop(BTC, btcKey());
  const id = await unpriced(shop);
  await crowd(id, 120, { currency: "XTS" });
  await pricePayments(shop.dependencies());
  expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
});

it("the pricing job reaches every invoice within a few runs, even while 120 others fail each time", {
  timeout: 60_000,
}, async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const shop = await marketShop(BTC, btcKey());
  const id = await unpriced(shop);
  await crowd(id, 120, { quotes: "[" });
  const minuteMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  for (let run = 0; run < 3; run++) await pricePayments({ ...shop.dependencies(), nowMs: minuteMs + run * MINUTE_MS });
  expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
});

it("the pricing job finds unpriced payments through an index", async () => {
  const asset = { network: "BTC", cryptocurrency: "BTC", currency: "USD" };
  for (const query of [
    selectUnpricedAssets(testDb, 0),
    selectUnpricedInvoices(testDb, { sinceMs: 0, limit: 1, assets: [asset] }),
  ]) {
    expect(await planOf(query)).toContain("USING INDEX payments_unweighed");
  }
});
