// What a payment is worth, and whose it is, as of the payment's time (decisions 4 and 5): a buyer who reloads the page, a price that moves and
// an order that is cancelled before somebody reads the block change nothing of it.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { networkNamed } from "../../src/chains/networks.ts";
import { invoices } from "../../src/db/schema/invoices.ts";
import { payments } from "../../src/db/schema/payments.ts";
import { invoiceEffects } from "../../src/invoices/effects.ts";
import type { InvoiceId } from "../../src/lib/ids.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { applyTransfers } from "../../src/payments/apply-transfers.ts";
import { pricePayments } from "../../src/payments/price-payments.ts";
import { fixedRateTable } from "../../src/rates/fixed-rates.ts";
import type { RateTable } from "../../src/rates/quote.ts";
import { type Ask, seedKey, seedMerchant, sendWith } from "../support/access.ts";
import { ageQuotes } from "../support/quotes.ts";
import { testDb } from "../support/worker-merchant.ts";

// biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the test claims
type Body = any;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ETH = { cryptocurrency: "ETH", network: "ETH" };
const BTC = { cryptocurrency: "BTC", network: "BTC" };
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const KEY = { walletType: "XPUB_WALLET", ...BTC, xpub: ZPUB, derivationPath: "m/84'/0'/0'" };
const hex = (bytes: number) =>
  [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

async function freshShop(pair: typeof ETH, wallet: object) {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId);
  const rate: { usd: string | null } = { usd: "2000" };
  const table = async (): Promise<RateTable> => {
    const { assets, ...rest } = fixedRateTable(Date.now());
    const { [pair.cryptocurrency]: _, ...others } = assets;
    if (rate.usd === null) return { ...rest, assets: others };
    const own = { usd: rate.usd, atMs: Date.now(), sources: ["a", "b"] };
    return { ...rest, assets: { ...others, [pair.cryptocurrency]: own } };
  };
  const market = { RATE_SOURCE: "coinbase,kraken", RATE_BOOK: { getByName: () => ({ table }) } };
  const send = async (rest: string, ask: Ask = {}): Promise<{ readonly status: number; readonly json: Body }> => {
    const answer = await sendWith(
      market as unknown as Partial<Env>,
      `/api/v1/merchants/merchant/${merchantId}${rest}`,
      { key, ...ask },
    );
    return { status: answer.status, json: answer.json };
  };
  const registered = await send("/wallets", { method: "POST", body: wallet });
  expect(registered.status).toBe(201);
  const effects = () => ({ ...invoiceEffects(env, { db: testDb, nowMs: Date.now(), sleep }), table });
  return {
    rate,
    send,
    effects,
    async invoice(rawAmount: number) {
      const body = { name: "Order", rawAmount, expiresInSeconds: 4 * 3_600, paymentMethods: [pair] };
      const made = await send("/invoices", { method: "POST", body });
      expect(made.status).toBe(201);
      const [method] = made.json.paymentMethods;
      return { id: made.json.id as InvoiceId, address: method.address as string, amount: method.amount as string };
    },
    async pay(toAddress: string, amountUnits: bigint, timeMs: number) {
      const txHash = hex(32);
      const network = networkNamed(pair.network);
      if (network === undefined) throw new Error("no such network");
      const block = { height: 100, hash: "h100", timeMs };
      const applied = await applyTransfers(effects(), {
        network,
        heights: { tipHeight: 100, finalizedHeight: null },
        seen: [],
        transfers: [
          {
            ...pair,
            txHash,
            outputIndex: "0",
            fromAddress: null,
            toAddress,
            amountUnits,
            block,
            spends: [],
            raw: "{}",
          },
        ],
      });
      expect(applied.ok).toBe(true);
      const [row] = await testDb.select().from(payments).where(eq(payments.txHash, txHash));
      return row;
    },
    async standing(id: InvoiceId) {
      const [row] = await testDb.select().from(invoices).where(eq(invoices.id, id));
      return { status: row?.status, received: Number(row?.receivedMicros) / 1e6, needsReview: row?.needsReview };
    },
  };
}

describe("a payer who sends exactly what the page asked", () => {
  it.each([
    ["fell, then stood", ["50000", "40000", "40000"]],
    ["rose, then stood", ["50000", "62500", "62500"]],
    ["fell, then rose", ["50000", "40000", "62500"]],
  ])(
    "has paid, whoever looks at the page before the block is read: the price %s",
    async (_, [first, second, third]) => {
      for (const isLookedAt of [false, true]) {
        const shop = await freshShop(BTC, KEY);
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
        expect(await shop.standing(id)).toEqual({ status: "PAID", received: 100, needsReview: false });
      }
    },
  );
});

describe("a transfer to a shared address", () => {
  it("goes to whom it was meant for by the quotes of its time, whoever was quoted anew since", async () => {
    for (const isQuotedAnew of [false, true]) {
      const shop = await freshShop(ETH, { walletType: "DIRECT_WALLET", ...ETH, address: `0x${hex(20)}` });
      const a = await shop.invoice(100);
      const c = await shop.invoice(60);
      for (const { id } of [a, c]) await ageQuotes(testDb, id, 61 * MINUTE_MS);
      if (isQuotedAnew) {
        // At today's price what A's payer sent would be worth C's 60.
        shop.rate.usd = "1200";
        await shop.send(`/invoices/${a.id}`);
        await shop.send(`/invoices/${c.id}`);
      }
      const payment = await shop.pay(a.address, 49_900_000_000_000_000n, Date.now() - 31 * MINUTE_MS);
      expect([payment?.invoiceId, payment?.matchedBy, payment?.fiatMicros]).toEqual([a.id, "TOLERANCE", 99_800_000n]);
    }
  });

  it("is as ambiguous as it was when it was sent, though one of the two is cancelled by now", async () => {
    for (const isCancelled of [false, true]) {
      const shop = await freshShop(ETH, { walletType: "DIRECT_WALLET", ...ETH, address: `0x${hex(20)}` });
      const a = await shop.invoice(100);
      const b = await shop.invoice(50);
      for (const { id } of [a, b]) await ageQuotes(testDb, id, 61 * MINUTE_MS);
      if (isCancelled) await shop.send(`/invoices/${b.id}/cancel`, { method: "POST", body: {} });
      const payment = await shop.pay(a.address, 15_000_000_000_000_000n, Date.now() - 31 * MINUTE_MS);
      expect([payment?.status, payment?.invoiceId]).toEqual(["UNMATCHED", null]);
    }
  });
});

describe("a quote that ran out", () => {
  it("is no option on the price: hours later the market rate of first sight weighs what is sent", async () => {
    const shop = await freshShop(BTC, KEY);
    shop.rate.usd = "50000";
    const { id, address } = await shop.invoice(100);
    await ageQuotes(testDb, id, 3 * HOUR_MS);
    shop.rate.usd = "40000";
    const payment = await shop.pay(address, 200_000n, Date.now() - MINUTE_MS);
    expect(payment).toMatchObject({ fiatMicros: 80_000_000n, weighedBy: "MARKET_RATE", weighedQuote: null });
    expect(await shop.standing(id)).toMatchObject({ status: "AWAITING_PAYMENT", received: 80 });
  });

  it("counts nothing without a fresh rate, waits for a person, and is priced by the first rate within the hour", async () => {
    const shop = await freshShop(BTC, KEY);
    shop.rate.usd = "50000";
    const { id, address } = await shop.invoice(100);
    await ageQuotes(testDb, id, 3 * HOUR_MS);
    shop.rate.usd = null;
    const payment = await shop.pay(address, 200_000n, Date.now() - MINUTE_MS);
    expect(payment).toMatchObject({ invoiceId: id, fiatMicros: null, weighedBy: "NO_RATE" });
    expect(await shop.standing(id)).toEqual({ status: "AWAITING_PAYMENT", received: 0, needsReview: true });
    shop.rate.usd = "51000";
    const later = (ms: number) => ({ ...shop.effects(), nowMs: Date.now() + ms });
    await pricePayments(later(HOUR_MS + MINUTE_MS));
    expect(await shop.standing(id)).toMatchObject({ received: 0 });
    await pricePayments(later(0));
    expect(await shop.standing(id)).toEqual({ status: "PAID", received: 102, needsReview: true });
    shop.rate.usd = "10000";
    await pricePayments(later(0));
    expect(await shop.standing(id)).toMatchObject({ status: "PAID", received: 102 });
  });

  it("can be priced by a person after the hour, by assigning it to the invoice that has it", async () => {
    const shop = await freshShop(BTC, KEY);
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
    expect(await shop.standing(id)).toMatchObject({ status: "PAID", received: 100 });
    expect((await assign()).json.code).toBe("PAYMENT_NOT_RESOLVABLE");
  });
});

describe("the rest of a partial payment", () => {
  it("is quoted anew when the lock is over, at the price of then, and pays the invoice exactly", async () => {
    const shop = await freshShop(BTC, KEY);
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
    // 60 USD at 40,000.
    expect(json.paymentMethods[0]).toMatchObject({ amount: "0.0015", amountDue: "0.0015", rate: "40000" });
    await shop.pay(address, 150_000n, Date.now());
    expect(await shop.standing(id)).toMatchObject({ status: "PAID", received: 100 });
  });
});
