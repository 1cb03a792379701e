// A merchant with one wallet, a market whose price the test sets, and invented observations of a chain.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { networkNamed } from "../../src/chains/registry/networks.ts";
import type { Transfer } from "../../src/chains/sources/transfer.ts";
import { invoiceDependencies } from "../../src/commerce/invoices/dependencies.ts";
import { applyTransfers, type SeenPayment } from "../../src/detection/matching/apply-transfers.ts";
import type { InvoiceId } from "../../src/lib/ids.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { invoices } from "../../src/platform/db/schema/invoices.ts";
import { payments } from "../../src/platform/db/schema/payments.ts";
import { fixedRateTable } from "../../src/rates/fixed-rates.ts";
import type { RateTable } from "../../src/rates/quote.ts";
import { type Ask, seedKey, seedMerchant, sendWith } from "./access.ts";
import { idIn } from "./id-in.ts";
import { standIns } from "./stand-ins.ts";
import { randomHex, xpubWallet } from "./wallet-bodies.ts";
import { testDb } from "./worker-merchant.ts";

// biome-ignore lint/suspicious/noExplicitAny: the test asserts the shape of each answer
type Body = any;
export const ETH = { cryptocurrency: "ETH", network: "ETH" };
export const BTC = { cryptocurrency: "BTC", network: "BTC" };
/** A wallet with one address per invoice, from an extended key that no other merchant has. */
export const btcKey = xpubWallet;
/** A wallet with one address for all invoices. */
export const ethAddress = () => ({ walletType: "DIRECT_WALLET", ...ETH, address: `0x${randomHex(20)}` });

/** `rate.usd` is the price of the pair's coin, at first 2,000; null removes it from the table. */
export async function marketShop(pair: typeof ETH, wallet: object) {
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
  // A new binding for each request, because an isolate caches a binding's table for a few seconds.
  const market = () => standIns({ RATE_SOURCE: "coinbase,kraken", RATE_BOOK: { getByName: () => ({ table }) } });
  const send = async (rest: string, ask: Ask = {}): Promise<{ readonly status: number; readonly json: Body }> => {
    const path = `/api/v1/merchants/merchant/${merchantId}${rest}`;
    const answer = await sendWith(market(), path, { key, ...ask });
    return { status: answer.status, json: answer.json };
  };
  expect((await send("/wallets", { method: "POST", body: wallet })).status).toBe(201);
  const network = networkNamed(pair.network);
  if (network === undefined) throw new Error("no such network");
  const dependencies = () => ({ ...invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep }), table });
  return {
    merchantId,
    rate,
    send,
    dependencies,
    /** A transfer of the pair's coin in block 100; if `blockTimeMs` is null, it is not mined yet. */
    transfer(toAddress: string, amountUnits: bigint, blockTimeMs: number | null = Date.now()): Transfer {
      const block = blockTimeMs === null ? null : { height: 100, hash: "h100", timeMs: blockTimeMs };
      const where = { txHash: randomHex(32), outputIndex: "0", fromAddress: null, toAddress };
      return { cryptocurrency: pair.cryptocurrency, ...where, amountUnits, block, spends: [], raw: "{}" };
    },
    look: (transfers: readonly Transfer[], seen: readonly SeenPayment[] = []) =>
      applyTransfers(dependencies(), { network, heights: { tipHeight: 100, finalizedHeight: null }, seen, transfers }),
    async invoice(rawAmount: number) {
      const body = { name: "Order", rawAmount, expiresInSeconds: 4 * 3_600, paymentMethods: [pair] };
      const made = await send("/invoices", { method: "POST", body });
      expect(made.status).toBe(201);
      const [method] = made.json.paymentMethods;
      return { id: idIn("inv", made.json.id), address: String(method.address), amount: String(method.amount) };
    },
    async payment({ txHash }: Transfer) {
      const [row] = await testDb.select().from(payments).where(eq(payments.txHash, txHash));
      return row;
    },
    async invoiceState(id: InvoiceId) {
      const [row] = await testDb.select().from(invoices).where(eq(invoices.id, id));
      return { status: row?.status, received: Number(row?.receivedMicros) / 1e6, needsReview: row?.needsReview };
    },
  };
}
