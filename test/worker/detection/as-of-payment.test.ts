// A payment's value and invoice are decided as of the payment's time (decisions 4 and 5). They must not change if a buyer reloads the page, a price
// moves, or an order is cancelled before the block is read.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { pricePayments } from "../../../src/detection/matching/price-payments.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { BTC, btcKey, ETH, ethAddress, marketShop } from "../../support/market-shop.ts";
import { ageQuotes } from "../../support/quotes.ts";
import { testDb } from "../../support/worker-merchant.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

async function freshShop(pair: typeof ETH, wallet: object) {
  const shop = await marketShop(pair, wallet);
  return {
    ...shop,
    async pay(toAddress: string, amountUnits: bigint, timeMs: number) {
      const transfer = shop.transfer(toAddress, amountUnits, timeMs);
      expect((await shop.look([transfer])).ok).toBe(true);
      return shop.payment(transfer);
    },
  };
}

describe("a payer who sends exactly the amount that the page showed", () => {
  it.each([
    ["fell, then stayed", ["50000", "40000", "40000"]],
    ["rose, then stayed", ["50000", "62500", "62500"]],
    ["fell, then rose", ["50000", "40000", "62500"]],
  ])(
    "has paid, even if the page is opened again before the block is read: the price %s",
    async (_, [first, second, third]) => {
      for (const isLookedAt of [false, true]) {
        const shop = await freshShop(BTC, btcKey());
        shop.rate.usd = first ?? "";
        const { id, address } = await shop.invoice(100);
        await ageQuotes(testDb, id, 61 * MINUTE_MS);
        shop.rate.usd = second ?? "";
        const { json } = await shop.send(`/invoices/${id}`);
        const asked = BigInt(Math.round(Number(json.paymentMethods[0].amount) * 1e8));
        await ageQuotes(testDb, id, 61 * MINUTE_MS);
        const paidAtMs = Date.now() - 31 * MINUTE_MS;
        shop.rate.usd = third ?? "";
        if (isLookedAt) await shop.send(`/invoices/${id}`);
        const payment = await shop.pay(address, asked, paidAtMs);
        expect(payment).toMatchObject({ fiatMicros: 100_000_000n, weighedBy: "EXACT_UNITS" });
        expect(await shop.invoiceState(id)).toEqual({ status: "PAID", received: 100, needsReview: false });
      }
    },
  );
});

describe("a transfer to a shared address", () => {
  it("is matched by the quotes at the time it was made, even if the two invoices have been requoted", async () => {
    for (const isQuotedAnew of [false, true]) {
      const shop = await freshShop(ETH, ethAddress());
      const a = await shop.invoice(100);
      const c = await shop.invoice(60);
      for (const { id } of [a, c]) await ageQuotes(testDb, id, 61 * MINUTE_MS);
      if (isQuotedAnew) {
        // At today's price the payment for A would be worth the 60 that C asks for.
        shop.rate.usd = "1200";
        await shop.send(`/invoices/${a.id}`);
        await shop.send(`/invoices/${c.id}`);
      }
      const payment = await shop.pay(a.address, 49_900_000_000_000_000n, Date.now() - 31 * MINUTE_MS);
      expect([payment?.invoiceId, payment?.matchedBy, payment?.fiatMicros]).toEqual([a.id, "TOLERANCE", 99_800_000n]);
    }
  });

  it("stays ambiguous if it was ambiguous when sent, even if one of the two invoices has been cancelled", async () => {
    for (const isCancelled of [false, true]) {
      const shop = await freshShop(ETH, ethAddress());
      const a = await shop.invoice(100);
      const b = await shop.invoice(50);
      for (const { id } of [a, b]) await ageQuotes(testDb, id, 61 * MINUTE_MS);
      if (isCancelled) await shop.send(`/invoices/${b.id}/cancel`, { method: "POST", body: {} });
      const payment = await shop.pay(a.address, 15_000_000_000_000_000n, Date.now() - 31 * MINUTE_MS);
      expect([payment?.status, payment?.invoiceId]).toEqual(["UNMATCHED", null]);
    }
  });
});

describe("an expired quote", () => {
  it("does not fix the price: hours later a payment is valued at the market rate when it is first seen", async () => {
    const shop = await freshShop(BTC, btcKey());
    shop.rate.usd = "50000";
    const { id, address } = await shop.invoice(100);
    await ageQuotes(testDb, id, 3 * HOUR_MS);
    shop.rate.usd = "40000";
    const payment = await shop.pay(address, 200_000n, Date.now() - MINUTE_MS);
    expect(payment).toMatchObject({ fiatMicros: 80_000_000n, weighedBy: "MARKET_RATE", weighedQuote: null });
    expect(await shop.invoiceState(id)).toMatchObject({ status: "AWAITING_PAYMENT", received: 80 });
  });

  it("gives no credit without a fresh rate and marks the invoice for review; the first rate within the hour prices the payment", async () => {
    const shop = await freshShop(BTC, btcKey());
    shop.rate.usd = "50000";
    const { id, address } = await shop.invoice(100);
    await ageQuotes(testDb, id, 3 * HOUR_MS);
    shop.rate.usd = null;
    const payment = await shop.pay(address, 200_000n, Date.now() - MINUTE_MS);
    expect(payment).toMatchObject({ invoiceId: id, fiatMicros: null, weighedBy: "NO_RATE" });
    expect(await shop.invoiceState(id)).toEqual({ status: "AWAITING_PAYMENT", received: 0, needsReview: true });
    shop.rate.usd = "51000";
    const later = (ms: number) => ({ ...shop.dependencies(), nowMs: Date.now() + ms });
    await pricePayments(later(HOUR_MS + MINUTE_MS));
    expect(await shop.invoiceState(id)).toMatchObject({ received: 0 });
    await pricePayments(later(0));
    expect(await shop.invoiceState(id)).toEqual({ status: "PAID", received: 102, needsReview: true });
    shop.rate.usd = "10000";
    await pricePayments(later(0));
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 102 });
  });

  it("lets the merchant price the payment by assigning it to its invoice", async () => {
    const shop = await freshShop(BTC, btcKey());
    shop.rate.usd = "50000";
    const { id, address } = await shop.invoice(100);
    await ageQuotes(testDb, id, 3 * HOUR_MS);
    shop.rate.usd = null;
    const payment = await shop.pay(address, 200_000n, Date.now() - MINUTE_MS);
    const assign = () =>
      shop.send(`/payments/${payment?.id}/resolve`, {
        method: "POST",
        body: { action: "ASSIGN", invoiceId: id, reason: "seen on the exchange" },
      });
    expect((await assign()).json.code).toBe("RATE_UNAVAILABLE");
    shop.rate.usd = "50000";
    expect(await assign()).toMatchObject({ status: 200, json: { fiatAmount: "100.000000", matchedBy: "MANUAL" } });
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
    expect((await assign()).json.code).toBe("PAYMENT_NOT_RESOLVABLE");
  });
});

describe("the amount still due after a partial payment", () => {
  it("is requoted at the current price after its lock, and pays the invoice exactly", async () => {
    const shop = await freshShop(BTC, btcKey());
    shop.rate.usd = "50000";
    const { id, address } = await shop.invoice(100);
    await shop.pay(address, 80_000n, Date.now());
    await ageQuotes(testDb, id, 61 * MINUTE_MS);
    await testDb
      .update(payments)
      .set({ receivedAtMs: Date.now() - 61 * MINUTE_MS })
      .where(eq(payments.invoiceId, id));
    shop.rate.usd = "40000";
    const { json } = await shop.send(`/invoices/${id}`);
    // 60 USD at 40,000 USD per bitcoin.
    expect(json.paymentMethods[0]).toMatchObject({ amount: "0.0015", amountDue: "0.0015", rate: "40000" });
    await shop.pay(address, 150_000n, Date.now());
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
  });
});
