import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import { created, directBody, expectStatus, freshKey, registered, rowOf, xpubBody } from "./wallets-harness.ts";

describe("a wallet altered in the database", () => {
  const alter = (id: string, change: Partial<typeof wallets.$inferInsert>) =>
    testDb.update(wallets).set(change).where(sql`${wallets.id} = ${id}`);
  const frozen = async (id: string) => (await rowOf(id)).frozenAtMs !== null;

  it.each([
    ["address", directBody, { address: "0x52908400098527886E0F7030069857D2E4169EE7" }],
    ["key", () => xpubBody(freshKey()), { xpub: freshKey().zpub }],
    ["network", directBody, { network: "POL" }],
  ])("with a changed %s is frozen, shows no address or key, and takes no payments", async (_, bodyOf, change) => {
    const shop = await freshMerchant();
    const wallet = await registered(shop, bodyOf());
    const before = await rowOf(wallet.id);
    await alter(wallet.id, change);
    const shown = expectStatus(await shop.get(`/wallets/${wallet.id}`), 200);
    expect(shown).toMatchObject({ address: null, xpub: null });
    expect(shown.warnings).toContain("INTEGRITY_CHECK_FAILED");
    expect((await shop.get("/wallets")).body).toEqual([expect.objectContaining({ address: null, xpub: null })]);
    await expect.poll(() => frozen(wallet.id)).toBe(true);
    // Restoring the true value does not unfreeze the wallet.
    await alter(wallet.id, { address: before.address, xpub: before.xpub, network: before.network });
    expect((await shop.get(`/wallets/${wallet.id}`)).body).toMatchObject({ address: null, xpub: null });
    expectStatus(await shop.patch(`/wallets/${wallet.id}`, { requiredConfirmations: 9 }), 409, "WALLET_FROZEN");
    expect((await created(shop)).paymentMethods).toEqual([]);
    if (wallet.walletType === "XPUB_WALLET") {
      expectStatus(await shop.get(`/wallets/${wallet.id}/addresses`), 409, "WALLET_FROZEN");
      expectStatus(await shop.get(`/wallets/${wallet.id}/recovery`), 409, "WALLET_FROZEN");
    }
    expect(expectStatus(await shop.delete(`/wallets/${wallet.id}`), 200).address).toBeNull();
    await registered(shop, bodyOf());
  });

  it("is also detected when its addresses are listed or exported for recovery", async () => {
    for (const rest of ["addresses", "recovery", "recovery?format=csv"]) {
      const shop = await freshMerchant();
      const { id } = await registered(shop, xpubBody(freshKey()));
      await alter(id, { derivationPath: "m/84'/0'/9'" });
      expectStatus(await shop.get(`/wallets/${id}/${rest}`), 409, "WALLET_FROZEN");
    }
  });

  it("is hidden but not frozen when the key of its HMAC is not configured, because the operator may restore it", async () => {
    const shop = await freshMerchant();
    const wallet = await registered(shop, directBody());
    await alter(wallet.id, { macKeyId: "retired" });
    expect((await shop.get(`/wallets/${wallet.id}`)).body.address).toBeNull();
    await alter(wallet.id, { macKeyId: "test" });
    expect((await shop.get(`/wallets/${wallet.id}`)).body.address).toBe(wallet.address);
    expect(await frozen(wallet.id)).toBe(false);
  });
});
