import { eq, sql } from "drizzle-orm";
import { expect } from "vitest";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { type Ask, seedKey, seedMerchant, sendWith } from "../../support/access.ts";
import { ageQuotes } from "../../support/quotes.ts";
import { testDb } from "../../support/worker-merchant.ts";

export const USDC = { cryptocurrency: "USDC", network: "ETH_SEPOLIA" };
export const SATOSHI = { grainUnits: 1n, coarseGrainUnits: [] };

/** 0.002 USDC at 1 USD is 2,000 units, so there are 11 amounts; the ninth triggers the warning. */
export const TINY = { rawAmount: 0.002, priceUnits: 2_000n, capacity: 11 };

// biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a response
export type Body = any;

export type Shop = Awaited<ReturnType<typeof freshShop>>;

export const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
export const freshEvmAddress = () =>
  `0x${[...randomBytes(20)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

/** A merchant whose market prices the test sets. */
export async function freshShop() {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId);
  const usd: Record<string, string> = {};
  const table = async () => {
    const fixed = fixedRateTable(Date.now());
    const moved = Object.entries(usd).map(([code, price]) => [
      code,
      { usd: price, atMs: Date.now(), sources: ["a", "b"] },
    ]);
    return { ...fixed, assets: { ...fixed.assets, ...Object.fromEntries(moved) } };
  };
  // A new binding for each request, because an isolate caches a binding's table for a few seconds.
  const market = () => ({ RATE_SOURCE: "coinbase,kraken", RATE_BOOK: { getByName: () => ({ table }) } });
  const send = async (rest: string, ask: Ask = {}): Promise<{ status: number; json: Body }> =>
    sendWith(market() as unknown as Partial<Env>, `/api/v1/merchants/merchant/${merchantId}${rest}`, { key, ...ask });
  const post = (rest: string, body: object) => send(rest, { method: "POST", body });
  return {
    merchantId,
    usd,
    send,
    post,
    create: (rawAmount: number, ...paymentMethods: object[]) =>
      post("/invoices", { name: "Order", rawAmount, paymentMethods }),
  };
}

export async function register(shop: Shop, pair: object, address: string): Promise<{ id: string; address: string }> {
  const { status, json } = await shop.post("/wallets", { walletType: "DIRECT_WALLET", ...pair, address });
  expect([status, json.code]).toEqual([201, undefined]);
  return json;
}

/** The rows of an address's amounts, in the order in which they were written. */
export const held = (address: string) =>
  testDb.select().from(methodAmounts).where(eq(methodAmounts.address, address)).orderBy(sql`created_at_ms, invoice_id`);

export const statusesOf = ({ status, json }: { status: number; json: Body }) => [
  status,
  json.code ?? json.paymentMethods.map((method: Body) => method.reason ?? method.status).join(),
];

/** Ends the lock of the invoice's quotes. */
const expireQuotes = (invoiceId: InvoiceId) => ageQuotes(testDb, invoiceId, HOUR_MS + 1);

export async function renewed(shop: Shop, invoiceId: InvoiceId): Promise<Body> {
  await expireQuotes(invoiceId);
  const { status, json } = await shop.send(`/invoices/${invoiceId}`);
  expect([status, json.code]).toEqual([200, undefined]);
  return json;
}
