// A wallet that was altered in the database is never paid to, and stays frozen from the first use that detects it (security.md 4).
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { WalletId } from "../../../src/lib/ids.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { seedKey, send } from "../../support/access.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

type WalletRow = typeof wallets.$inferSelect;

const frozenAt = async (id: WalletId) =>
  (await testDb.select({ at: wallets.frozenAtMs }).from(wallets).where(eq(wallets.id, id)))[0]?.at;
const alter = (id: WalletId, change: Partial<WalletRow>) =>
  testDb.update(wallets).set(change).where(eq(wallets.id, id));

const create = (shop: TestMerchant, pairs: readonly object[]) =>
  expectStatus(shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: pairs }), 201);

/** A shop with one wallet, the change that a test makes to its row, and the values before. */
async function alteredShop(kind: "direct" | "xpub") {
  const shop = await freshMerchant();
  const body = kind === "direct" ? directWallet() : xpubWallet();
  const { id } = await expectStatus(shop.post("/wallets", body), 201);
  const before = "address" in body ? { address: body.address } : { xpub: body.xpub };
  const change = kind === "direct" ? { address: `0x${randomHex(20)}` } : { xpub: xpubWallet().xpub };
  const pair = kind === "direct" ? USDT : BTC;
  return { shop, id, pair, before, change };
}

describe.each(["direct", "xpub"] as const)("a %s wallet altered in the database", (kind) => {
  it("is frozen when an invoice is created with it, and the response has no address", async () => {
    const { shop, id, pair, before, change } = await alteredShop(kind);
    await alter(id, change);
    const startedAtMs = Date.now();
    const made = await create(shop, [pair]);
    expect(made.paymentMethods).toMatchObject([
      { ...pair, status: "UNAVAILABLE", reason: "WALLET_FROZEN", address: null, amount: null },
    ]);
    expect(await frozenAt(id)).toBeGreaterThanOrEqual(startedAtMs);
    // Restoring the true value does not unfreeze the wallet.
    await alter(id, before);
    expect((await create(shop, [pair])).paymentMethods).toMatchObject([{ reason: "WALLET_FROZEN" }]);
  });

  it("is frozen when its payment method is picked, and the pick is refused", async () => {
    const { shop, id, pair, before, change } = await alteredShop(kind);
    const made = await create(shop, []);
    await alter(id, change);
    const pick = () => shop.post(`/invoices/${made.id}/payment-methods`, pair, { "idempotency-key": "pick" });
    expect((await expectStatus(pick(), 409)).code).toBe("WALLET_FROZEN");
    expect(await frozenAt(id)).toEqual(expect.any(Number));
    await alter(id, before);
    expect((await expectStatus(pick(), 409)).code).toBe("WALLET_FROZEN");
    expect((await expectStatus(shop.get(`/invoices/${made.id}`), 200)).paymentMethods).toEqual([]);
  });

  it("is also frozen when a browser creates an invoice with it or picks its payment method", async () => {
    for (const isPick of [false, true]) {
      const { shop, id, pair, change } = await alteredShop(kind);
      const key = await seedKey(shop.merchantId, { kind: "PUBLIC" });
      const made = await create(shop, []);
      await alter(id, change);
      const rest = isPick ? `/invoices/${made.id}/payment-methods` : "/invoices";
      const body = isPick ? pair : { name: "Order", rawAmount: 10, paymentMethods: [pair] };
      const path = `/api/v1/merchants/merchant/${shop.merchantId}${rest}`;
      expect((await send(path, { method: "POST", key, body })).status).toBe(isPick ? 409 : 201);
      expect(await frozenAt(id)).toEqual(expect.any(Number));
    }
  });
});

describe("an intact wallet", () => {
  it("is still used when the same invoice also names a frozen one", async () => {
    const { shop, id, pair, change } = await alteredShop("direct");
    const whole = await expectStatus(shop.post("/wallets", xpubWallet()), 201);
    await alter(id, change);
    const made = await create(shop, [pair, BTC]);
    expect(made.paymentMethods).toMatchObject([
      { ...USDT, reason: "WALLET_FROZEN" },
      { ...BTC, status: "ACTIVE", address: expect.stringMatching(/^bc1/) },
    ]);
    expect([await frozenAt(id), await frozenAt(whole.id)]).toEqual([expect.any(Number), null]);
  });

  it("is not frozen when the key of its HMAC is not configured, because the operator may restore it", async () => {
    const { shop, id, pair } = await alteredShop("direct");
    await alter(id, { macKeyId: "retired" });
    expect((await create(shop, [pair])).paymentMethods).toMatchObject([{ status: "UNAVAILABLE", address: null }]);
    const bare = await create(shop, []);
    await expectStatus(shop.post(`/invoices/${bare.id}/payment-methods`, pair), 409);
    expect(await frozenAt(id)).toBeNull();
    await alter(id, { macKeyId: "test" });
    expect((await create(shop, [pair])).paymentMethods).toMatchObject([{ status: "ACTIVE" }]);
  });
});
