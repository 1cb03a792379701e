// Checks on payments that no other test covers: a paid invoice is not cancelled, an altered row is not credited, and an expired idempotency key is
// not taken over.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { LEASE_MS, REMEMBERED_MS } from "../../../src/platform/idempotency/key-reservations.ts";
import { seedKey } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { type SeedPayment, seedPayment } from "../../support/payments.ts";
import { BTC, randomHex, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { look, rowsOf, transferTo } from "./transfers-harness.ts";

describe("an invoice that awaits payment", () => {
  const made = async (shop: TestMerchant): Promise<InvoiceId> =>
    (await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [] })).body.id;
  const cancel = (shop: TestMerchant, id: string) => shop.post(`/invoices/${id}/cancel`);
  const statusOf = async (id: InvoiceId) =>
    (await testDb.select({ status: invoices.status }).from(invoices).where(eq(invoices.id, id)))[0]?.status;
  const credited = { matchedBy: "EXACT_AMOUNT", amountUnits: 4_000_000n, fiatMicros: 4_000_000n } as const;

  it.each([
    ["an unconfirmed partial payment", { status: "DETECTED" }],
    ["a confirmed partial payment", { status: "CONFIRMED", confirmedAtMs: Date.now() }],
    ["a reorged payment that may be mined again", { status: "REORGED", reorgedAtMs: Date.now() }],
  ] as const)("cannot be cancelled once it has %s", async (_, changes: SeedPayment) => {
    const shop = await freshMerchant();
    const id = await made(shop);
    await seedPayment(shop.merchantId, { ...credited, invoiceId: id, ...changes });
    const answer = await cancel(shop, id);
    expect([answer.status, answer.body.code]).toEqual([422, "INVOICE_HAS_PAYMENTS"]);
    expect(await statusOf(id)).toBe("AWAITING_PAYMENT");
  });

  it("cannot be cancelled when a payment is credited between the read and the write", async () => {
    const shop = await freshMerchant();
    const id = await made(shop);
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices/${id}/cancel`;
    const key = await seedKey(shop.merchantId);
    const payment = await seedPayment(shop.merchantId);
    const body = { action: "ASSIGN", invoiceId: id, reason: "The payer wrote to us" };
    const beaten = await sendBeaten(path, { method: "POST", key }, () =>
      shop.post(`/payments/${payment.id}/resolve`, body),
    );
    expect([beaten.status, beaten.json?.code], beaten.text).toEqual([422, "INVOICE_HAS_PAYMENTS"]);
    expect(await statusOf(id)).not.toBe("CANCELLED");
  });

  it("can be cancelled while it has no payment", async () => {
    const shop = await freshMerchant();
    const id = await made(shop);
    expect((await cancel(shop, id)).body.status).toBe("CANCELLED");
  });
});

describe("an invoice's own address", () => {
  async function looked(toAddress: string) {
    const transfer = transferTo(toAddress, 100_000n, { cryptocurrency: "BTC", fromAddress: null });
    expect((await look([transfer], { network: "BTC" })).ok).toBe(true);
    return rowsOf(transfer.txHash);
  }

  async function ordered() {
    const shop = await freshMerchant();
    expect((await shop.post("/wallets", xpubWallet())).status).toBe(201);
    const { body } = await shop.post("/invoices", { name: "Order", rawAmount: 68, paymentMethods: [BTC] });
    return { shop, id: String(body.id), address: String(body.paymentMethods[0].address) };
  }

  it("is credited while its row is unaltered", async () => {
    const { id, address } = await ordered();
    expect(await looked(address)).toMatchObject([{ invoiceId: id, matchedBy: "ADDRESS", status: "CONFIRMED" }]);
  });

  it.each([
    ["HMAC", () => ({ mac: "forged" })],
    ["address", () => ({ address: `bc1q${randomHex(19)}` })],
    ["merchant", () => ({ merchantId: freshId("mer") })],
  ])(
    "is not credited after the %s in its row was altered, and its merchant has the payment as UNMATCHED",
    async (_, changes) => {
      const { shop, id, address } = await ordered();
      const altered = changes();
      await testDb.update(paymentMethods).set(altered).where(sql`invoice_id = ${id}`);
      const rows = await looked("address" in altered ? (altered.address ?? "") : address);
      expect(rows).toMatchObject([
        { merchantId: shop.merchantId, invoiceId: null, matchedBy: null, status: "UNMATCHED" },
      ]);
      expect((await shop.get(`/invoices/${id}`)).body).toMatchObject({ amountReceived: "0.000000", payments: [] });
    },
  );
});

describe("an idempotency key that has expired", () => {
  it("cannot be taken over, although its lease ended long ago", async () => {
    const keys = env.MERCHANT_OBJECT.getByName(freshId("mer"));
    const first = await keys.reserve("k", "f", 0);
    const operationId = first.kind === "first" ? first.operationId : "";
    for (const nowMs of [REMEMBERED_MS, REMEMBERED_MS + 1, REMEMBERED_MS + LEASE_MS, 2 * REMEMBERED_MS])
      expect(await keys.takeOver("k", operationId, nowMs)).toEqual({ kind: "gone" });
    // The key is free: the next caller starts another operation, and the old operation cannot resume under that key.
    const next = await keys.reserve("k", "another body", REMEMBERED_MS);
    expect(next.kind).toBe("first");
    expect(await keys.takeOver("k", operationId, REMEMBERED_MS + 2 * LEASE_MS)).toEqual({ kind: "gone" });
  });
});
