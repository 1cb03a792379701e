// A page shows an uncredited transfer that no payer named only if it cannot be meant for another order (security.md 4, "What a page shows of a
// transfer"). The other orders may be of any merchant, in any coin, created before or after.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { api, page } from "../../support/checkouts.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt, invoiceOf, look, shopAt, transferTo } from "../detection/transfers-harness.ts";

const COINS = ["USDT", "USDC"] as const;

/** A merchant with USDT and USDC at one address. */
async function stand(address?: string) {
  const shop = await shopAt(address);
  const usdc = { walletType: "DIRECT_WALLET", cryptocurrency: "USDC", network: "ETH", address: shop.address };
  expect((await shop.merchant.post("/wallets", { ...usdc, requiredConfirmations: 1 })).status).toBe(201);
  return shop;
}

const shownTo = async (id: string) => {
  const { json } = await api({ id });
  const { text } = await page({ id }, "/state");
  const listed = JSON.parse(JSON.stringify(json?.undecided)) as readonly { readonly txHash: string }[];
  return { listed, text, hashes: listed.map(({ txHash }) => txHash) };
};

async function arrive(transfer: Transfer): Promise<void> {
  expect((await look([transfer])).ok).toBe(true);
  const rows = await testDb.select().from(payments).where(eq(payments.txHash, transfer.txHash));
  expect(rows.map(({ status }) => status)).toContain("UNMATCHED");
}

/** A USDC transfer in a block dated 50 ms from now, too small for any order in USDC. */
const wrongCoin = (address: string, changes: Partial<Transfer> = {}) =>
  transferTo(address, 3_000_000n, { cryptocurrency: "USDC", block: blockAt(100, Date.now() + 50), ...changes });

const order = (merchant: TestMerchant, cryptocurrency: (typeof COINS)[number] = "USDT") =>
  invoiceOf(merchant, 50, { paymentMethods: [{ cryptocurrency, network: "ETH" }] });

const setWindow = async (id: string, fromMs: number, untilMs: number) => {
  const of = eq(paymentMethods.invoiceId, id as `inv_${string}`);
  await testDb.update(paymentMethods).set({ activatedAtMs: fromMs }).where(of);
  await testDb
    .update(invoices)
    .set({ monitorUntilMs: untilMs })
    .where(eq(invoices.id, id as `inv_${string}`));
};

describe("a transfer in another coin, while only one order has the address", () => {
  it("is shown on the order's page, and in the API, until the shop has decided", async () => {
    const { merchant, address } = await stand();
    const { id } = await order(merchant);
    expect(await shownTo(id)).toMatchObject({ listed: [] });
    const transfer = wrongCoin(address);
    await arrive(transfer);
    const { listed, text } = await shownTo(id);
    expect(listed).toMatchObject([{ network: "ETH", cryptocurrency: "USDC", amount: "3", txHash: transfer.txHash }]);
    expect(text).toContain(transfer.txHash);
    expect(text.replaceAll(/<[^>]*>/g, "")).toContain(
      "This transaction brought 3 USDC. Shop has to decide what it is for. If you sent it, do not send again.",
    );
    const [payment] = (await merchant.get(`/payments?txHash=${transfer.txHash}`)).body.data;
    const body = { action: "ASSIGN", invoiceId: id, reason: "The only order" };
    expect((await merchant.post(`/payments/${payment.id}/resolve`, body)).status).toBe(200);
    const after = await shownTo(id);
    expect([after.hashes, after.text.includes(transfer.txHash)]).toEqual([[], true]);
  });

  it("is shown if its block is up to ten minutes older than the order but was first read after it, because block times are inexact and in whole seconds", async () => {
    const { merchant, address } = await stand();
    const { id } = await order(merchant);
    const now = Date.now();
    const behind = wrongCoin(address, { block: blockAt(100, now - 9 * MINUTE_MS) });
    await arrive(behind);
    await arrive(wrongCoin(address, { block: blockAt(99, now - 11 * MINUTE_MS) }));
    expect((await shownTo(id)).hashes).toEqual([behind.txHash]);
  });

  it("is not shown once it was ignored, or if it arrived before the order or after its end", async () => {
    const { merchant, address } = await stand();
    const early = wrongCoin(address, { block: blockAt(99, Date.now() - HOUR_MS) });
    await arrive(early);
    const { id } = await order(merchant);
    const transfer = wrongCoin(address);
    await arrive(transfer);
    expect((await shownTo(id)).hashes).toEqual([transfer.txHash]);
    const [payment] = (await merchant.get(`/payments?txHash=${transfer.txHash}`)).body.data;
    const body = { action: "IGNORE", reason: "Sent back", txHash: "ab" };
    expect((await merchant.post(`/payments/${payment.id}/resolve`, body)).status).toBe(200);
    expect((await shownTo(id)).hashes).toEqual([]);
    const late = wrongCoin(address);
    await arrive(late);
    await testDb
      .update(invoices)
      .set({ monitorUntilMs: Date.now() - MINUTE_MS })
      .where(eq(invoices.id, id as `inv_${string}`));
    expect((await shownTo(id)).hashes).toEqual([]);
  });
});

describe("when other orders use the same address,", () => {
  it.each([
    ["of the same merchant, in the same coin", "USDT", true],
    ["of the same merchant, in the transfer's coin", "USDC", true],
    ["of another merchant that registered the address", "USDT", false],
    ["of another merchant, in the transfer's coin", "USDC", false],
  ] as const)("an order %s hides the transfer from the pages of both orders", async (_, coin, isSame) => {
    const { merchant, address } = await stand();
    const { id } = await order(merchant);
    const rival = isSame ? merchant : (await stand(address)).merchant;
    const other = await order(rival, coin);
    const transfer = wrongCoin(address);
    await arrive(transfer);
    for (const each of [id, other.id]) {
      const { hashes, text } = await shownTo(each);
      expect([hashes, text.includes(transfer.txHash)]).toEqual([[], false]);
    }
  });

  it("an order created right after the transfer arrived hides the transfer, and never shows it", async () => {
    const { merchant, address } = await stand();
    const { id } = await order(merchant);
    const transfer = wrongCoin(address);
    await arrive(transfer);
    expect((await shownTo(id)).hashes).toEqual([transfer.txHash]);
    const hostile = await order((await stand(address)).merchant, "USDC");
    expect([(await shownTo(id)).hashes, (await shownTo(hostile.id)).hashes]).toEqual([[], []]);
  });

  it("an order that ended before the transfer does not hide it", async () => {
    const { merchant, address } = await stand();
    const old = await order(merchant, "USDC");
    await setWindow(old.id, Date.now() - 3 * HOUR_MS, Date.now() - HOUR_MS);
    const { id } = await order(merchant);
    const transfer = wrongCoin(address);
    await arrive(transfer);
    expect([(await shownTo(id)).hashes, (await shownTo(old.id)).hashes]).toEqual([[transfer.txHash], []]);
  });

  it("no transfer is shown without a claim if the address was given out more than 200 times", async () => {
    const { merchant, address } = await stand();
    const { id } = await order(merchant);
    const transfer = wrongCoin(address);
    await arrive(transfer);
    const [method] = await testDb
      .select()
      .from(paymentMethods)
      .where(eq(paymentMethods.invoiceId, id as `inv_${string}`));
    const [invoice] = await testDb
      .select()
      .from(invoices)
      .where(eq(invoices.id, id as `inv_${string}`));
    if (method === undefined || invoice === undefined) throw new Error("no order");
    for (let n = 0; n < 200; n++) {
      const copy = `inv_${randomHex(13).toUpperCase()}` as `inv_${string}`;
      const long = Date.now() - 10 * HOUR_MS;
      await testDb.insert(invoices).values({ ...invoice, id: copy, monitorUntilMs: long, externalId: null });
      await testDb.insert(paymentMethods).values({ ...method, invoiceId: copy, activatedAtMs: long });
      if (n === 198) expect((await shownTo(id)).hashes).toEqual([transfer.txHash]);
    }
    expect((await shownTo(id)).hashes).toEqual([]);
  });
});
