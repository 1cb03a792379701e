// With `walletChangeDelayHours` a wallet that was registered or enabled is used by new invoices only after the delay (security.md 4).
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { assertWalletUsable } from "../../../src/commerce/wallet-records/store.ts";
import type { WalletId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

async function delayed(hours: number): Promise<TestMerchant> {
  const shop = await freshMerchant();
  await setDelay(shop, hours);
  return shop;
}

/** Sets the delay as a user does; a key is not allowed to. */
const setDelay = ({ merchantId }: TestMerchant, hours: number) =>
  testDb.update(merchants).set({ walletChangeDelayHours: hours }).where(eq(merchants.id, merchantId));

const order = (pairs?: readonly object[]) => ({
  name: "Order",
  rawAmount: 10,
  ...(pairs === undefined ? {} : { paymentMethods: pairs }),
});

/** Ends the delay of a wallet now, or at the given time. */
const waitOut = (id: WalletId, usableFromMs = Date.now() - 1) =>
  testDb.update(wallets).set({ usableFromMs }).where(eq(wallets.id, id));

/** The hours from now until the wallet takes effect. */
const hoursLeft = (wallet: { readonly usableFrom: string }) => (Date.parse(wallet.usableFrom) - Date.now()) / HOUR_MS;

describe.each([
  ["direct", directWallet, USDT],
  ["xpub", xpubWallet, BTC],
] as const)("a %s wallet of a merchant with a delay", (_, bodyOf, pair) => {
  it("is registered at once and shows when it takes effect", async () => {
    const shop = await delayed(24);
    const made = await expectStatus(shop.post("/wallets", bodyOf()), 201);
    expect(made.warnings).toContain("CHANGE_PENDING");
    expect(hoursLeft(made)).toBeCloseTo(24, 1);
    const { id } = made;
    for (const read of [
      await shop.get(`/wallets/${id}`).then(({ body }) => body),
      (await shop.get("/wallets")).body[0],
    ]) {
      expect([read.usableFrom, read.isEnabled]).toEqual([made.usableFrom, true]);
      expect(read.warnings).toContain("CHANGE_PENDING");
    }
    await waitOut(id);
    const ready = await expectStatus(shop.get(`/wallets/${id}`), 200);
    expect(ready.usableFrom).toBeNull();
    expect(ready.warnings).not.toContain("CHANGE_PENDING");
  });

  it("is not used by new invoices before it takes effect, however they are requested, and is used by all of them afterwards", async () => {
    const shop = await delayed(1);
    const { id } = await expectStatus(shop.post("/wallets", bodyOf()), 201);
    expect((await expectStatus(shop.post("/invoices", order([pair])), 422)).code).toBe("NO_ENABLED_WALLET");
    const bare = await expectStatus(shop.post("/invoices", order()), 201);
    expect([bare.paymentMethods, bare.warnings]).toEqual([[], ["NO_ENABLED_WALLET"]]);
    const methods = () => shop.get(`/invoices/${bare.id}/payment-methods`);
    expect((await methods()).body.data).toMatchObject([{ ...pair, status: "UNAVAILABLE", reason: "CHANGE_PENDING" }]);
    const pick = () => shop.post(`/invoices/${bare.id}/payment-methods`, pair);
    expect((await expectStatus(pick(), 422)).code).toBe("NO_ENABLED_WALLET");
    await waitOut(id);
    expect((await methods()).body.data).toMatchObject([{ ...pair, status: "AVAILABLE", reason: null }]);
    expect(await expectStatus(pick(), 201)).toMatchObject({ ...pair, status: "ACTIVE" });
    for (const pairs of [[pair], undefined]) {
      const made = await expectStatus(shop.post("/invoices", order(pairs)), 201);
      expect([made.paymentMethods, made.warnings]).toMatchObject([[{ ...pair, status: "ACTIVE" }], []]);
    }
  });

  it("has a new delay when it is enabled again, but not after any other change", async () => {
    const shop = await delayed(2);
    const { id } = await expectStatus(shop.post("/wallets", bodyOf()), 201);
    await waitOut(id);
    const patch = (body: object) => expectStatus(shop.patch(`/wallets/${id}`, body), 200);
    expect((await patch({ requiredConfirmations: 7 })).usableFrom).toBeNull();
    expect((await patch({ isEnabled: false })).usableFrom).toBeNull();
    const enabled = await patch({ isEnabled: true });
    expect(hoursLeft(enabled)).toBeCloseTo(2, 1);
    expect((await expectStatus(shop.post("/invoices", order([pair])), 422)).code).toBe("NO_ENABLED_WALLET");
    // A running delay is never shortened: neither by disabling and enabling again, nor by a shorter setting.
    await setDelay(shop, 0);
    await patch({ isEnabled: false });
    expect((await patch({ isEnabled: true })).usableFrom).toBe(enabled.usableFrom);
  });

  it("continues to serve methods that were activated before the delay began", async () => {
    const shop = await freshMerchant();
    const { id } = await expectStatus(shop.post("/wallets", bodyOf()), 201);
    const made = await expectStatus(shop.post("/invoices", order([pair])), 201);
    await waitOut(id, Date.now() + HOUR_MS);
    const [method] = (await expectStatus(shop.get(`/invoices/${made.id}`), 200)).paymentMethods;
    expect(method).toEqual(made.paymentMethods[0]);
  });
});

describe("the batch of an activation", () => {
  it("is refused when the wallet's delay began after the wallet was read", async () => {
    const shop = await freshMerchant();
    const { id } = await expectStatus(shop.post("/wallets", directWallet()), 201);
    const nowMs = Date.now();
    const send = () => batch(testDb, [assertWalletUsable(testDb, id, nowMs)]);
    await waitOut(id, nowMs);
    await send();
    await waitOut(id, nowMs + 1);
    await expect(send()).rejects.toThrow("assertion_holds");
  });
});

describe("a merchant without a delay", () => {
  it("uses a wallet at once, and stores no delay for it", async () => {
    const shop = await freshMerchant();
    const made = await expectStatus(shop.post("/wallets", directWallet()), 201);
    expect([made.usableFrom, made.warnings.includes("CHANGE_PENDING")]).toEqual([null, false]);
    await expectStatus(shop.patch(`/wallets/${made.id}`, { isEnabled: false }), 200);
    await expectStatus(shop.patch(`/wallets/${made.id}`, { isEnabled: true }), 200);
    const [row] = await testDb.select().from(wallets).where(eq(wallets.id, made.id));
    expect(row?.usableFromMs).toBe(0);
    await expectStatus(shop.post("/invoices", order([USDT])), 201);
  });
});
