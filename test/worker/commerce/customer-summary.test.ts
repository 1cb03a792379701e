import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import type { InvoiceStatus } from "../../../src/platform/column-values.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { seedPayment } from "../../support/payments.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { ADA, invoiced, recorded } from "./customers-harness.ts";

describe("a customer's sales summary", () => {
  async function sold(shop: TestMerchant, of: { currency: string; status: InvoiceStatus; confirmedMicros: bigint }) {
    const { id, customerId } = await invoiced(shop, { customerEmail: ADA.email, currency: of.currency });
    const columns = { status: of.status, confirmedMicros: of.confirmedMicros };
    await testDb
      .update(invoices)
      .set(columns)
      .where(eq(invoices.id, id as InvoiceId));
    return customerId;
  }

  it("is empty before anything is sold", async () => {
    const shop = await freshMerchant();
    const { id } = await recorded(shop, ADA);
    expect((await shop.get(`/customers/${id}/resume`)).body).toEqual({
      revenue: "0.000000",
      currency: null,
      revenues: [],
      totalInvoices: 0,
      paidInvoices: 0,
      paidRate: 0,
    });
  });

  it("sums only confirmed amounts of paid and overpaid invoices", async () => {
    const shop = await freshMerchant();
    const { id } = await recorded(shop, ADA);
    const of = (status: InvoiceStatus, confirmedMicros: bigint) => ({ currency: "EUR", status, confirmedMicros });
    for (const each of [of("PAID", 10_000_001n), of("OVERPAID", 12_500_000n), of("UNDERPAID", 3_000_000n)]) {
      expect(await sold(shop, each)).toBe(id);
    }
    await sold(shop, { ...of("EXPIRED", 0n), currency: "USD" });
    await invoiced(shop, { customerEmail: "another@shop.example" });
    expect((await shop.get(`/customers/${id}/resume`)).body).toEqual({
      revenue: "22.500001",
      currency: "EUR",
      revenues: [{ currency: "EUR", amount: "22.500001" }],
      totalInvoices: 4,
      paidInvoices: 2,
      paidRate: 0.5,
    });
  });

  it("leaves out payments on test networks, even if an invoice got payments on a test and a main network", async () => {
    const shop = await freshMerchant();
    const { id: customerId } = await recorded(shop, ADA);
    const paid = async (of: Readonly<Record<string, bigint>>) => {
      const { id } = await invoiced(shop, { customerEmail: ADA.email, currency: "EUR" });
      const invoiceId = id as InvoiceId;
      const confirmedMicros = Object.values(of).reduce((sum, micros) => sum + micros, 0n);
      await testDb.update(invoices).set({ status: "PAID", confirmedMicros }).where(eq(invoices.id, invoiceId));
      for (const [network, fiatMicros] of Object.entries(of))
        await seedPayment(shop.merchantId, { invoiceId, network, fiatMicros, status: "CONFIRMED" });
    };
    await paid({ ETH_SEPOLIA: 10_000_000n });
    await paid({ POL_AMOY: 7_000_000n, ETH: 3_000_000n });
    await paid({ ETH: 20_000_000n });
    expect((await shop.get(`/customers/${customerId}/resume`)).body).toMatchObject({
      revenue: "23.000000",
      currency: "EUR",
      revenues: [{ currency: "EUR", amount: "23.000000" }],
      totalInvoices: 3,
      paidInvoices: 3,
    });
  });

  it("has one sum per currency", async () => {
    const shop = await freshMerchant();
    const { id } = await recorded(shop, ADA);
    // The sum is too large for an exact JavaScript number.
    for (let n = 0; n < 3; n++)
      await sold(shop, { currency: "USD", status: "PAID", confirmedMicros: 9_007_199_254_740_991n });
    await sold(shop, { currency: "BTC", status: "PAID", confirmedMicros: 1n });
    expect((await shop.get(`/customers/${id}/resume`)).body).toMatchObject({
      revenue: null,
      currency: null,
      revenues: [
        { currency: "BTC", amount: "0.000001" },
        { currency: "USD", amount: "27021597764.222973" },
      ],
      paidRate: 1,
    });
  });

  it("uses the index of a customer's invoices", async () => {
    const plan = await env.DB.prepare(
      "explain query plan select currency, count(*) from invoices where merchant_id = ? and customer_id = ? group by currency",
    )
      .bind("a", "b")
      .all<{ detail: string }>();
    expect(plan.results[0]?.detail).toContain("invoices_by_customer (merchant_id=? AND customer_id=?)");
  });
});
