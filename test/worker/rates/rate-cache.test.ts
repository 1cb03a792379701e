// Requests in one isolate share a rate table for five seconds. Two deployments share nothing, and an outage has no effect once it has ended.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import type { RateTable } from "../../../src/rates/quote.ts";
import { KEPT_MS } from "../../../src/rates/rate-cache.ts";
import { seedKey, seedMerchant, sendWith } from "../../support/access.ts";
import { BTC, xpubWallet } from "../../support/wallet-bodies.ts";

const START = Date.UTC(2026, 10, 20, 12);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The bindings of a deployment whose rate book has this price for a bitcoin, and how often the book was called. */
function deployment(price: { usd: string; isDown?: boolean }) {
  const calls: number[] = [];
  const table = async (): Promise<RateTable> => {
    calls.push(Date.now());
    if (price.isDown === true) throw new Error("object reset");
    const { assets, fiat } = fixedRateTable(Date.now());
    return { fiat, assets: { ...assets, BTC: { usd: price.usd, atMs: Date.now(), sources: ["a", "b"] } } };
  };
  const bindings = { RATE_SOURCE: "coinbase,kraken", RATE_BOOK: { getByName: () => ({ table }) } };
  return { price, calls, bindings: bindings as unknown as Partial<Env> };
}

/** Returns a function that creates an invoice, and returns the rate that it locks or the reason why it locks none. */
async function shop() {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId);
  const post = (given: Partial<Env>, rest: string, body: object) =>
    sendWith(given, `/api/v1/merchants/merchant/${merchantId}${rest}`, { method: "POST", key, body });
  expect((await post({}, "/wallets", xpubWallet())).status).toBe(201);
  return async (given: Partial<Env>): Promise<unknown> => {
    const { status, json } = await post(given, "/invoices", { name: "Order", rawAmount: 10, paymentMethods: [BTC] });
    expect(status).toBe(201);
    const methods = json?.paymentMethods as readonly { readonly rate?: string; readonly reason?: string }[];
    return methods[0]?.reason ?? methods[0]?.rate;
  };
}

it("invoices created at once or in the next five seconds share one query of the rate book; a later invoice queries it again", async () => {
  const rateOf = await shop();
  const { price, calls, bindings } = deployment({ usd: "50000" });
  expect(await Promise.all([1, 2, 3, 4].map(() => rateOf(bindings)))).toEqual(Array(4).fill("50000"));
  price.usd = "60000";
  vi.setSystemTime(START + KEPT_MS - 1);
  expect(await rateOf(bindings)).toBe("50000");
  expect(calls).toEqual([START]);
  vi.setSystemTime(START + KEPT_MS);
  expect(await rateOf(bindings)).toBe("60000");
  expect(calls).toEqual([START, START + KEPT_MS]);
});

it("a rate book that could not be reached is queried again for the next invoice", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const rateOf = await shop();
  const { price, calls, bindings } = deployment({ usd: "50000", isDown: true });
  expect(await rateOf(bindings)).toBe("RATE_UNAVAILABLE");
  price.isDown = false;
  expect(await rateOf(bindings)).toBe("50000");
  expect(calls).toHaveLength(2);
});

it("two deployments in one isolate, or two settings of one deployment, do not see each other's rates", async () => {
  const rateOf = await shop();
  const [one, other] = [deployment({ usd: "50000" }), deployment({ usd: "60000" })];
  expect(await Promise.all([rateOf(one.bindings), rateOf(other.bindings)])).toEqual(["50000", "60000"]);
  one.price.usd = "70000";
  expect(await rateOf({ ...one.bindings, RATE_SOURCE: "coinbase,coingecko" })).toBe("70000");
  expect([one.calls.length, other.calls.length]).toEqual([2, 1]);
});
