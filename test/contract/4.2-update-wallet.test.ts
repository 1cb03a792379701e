// Interface 4.2 and decisions 3: what a PATCH may change; anything else requires a new wallet.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createInvoice, expectOk, expectRefusal, registerWallet, removeWallets, shop, stranger } from "./client.ts";
import { evmAddress, extendedKey, freshDirectWallet, xpubWallet } from "./key-material.ts";
import { expectWalletShape, type Wallet } from "./shapes.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const patch = (wallet: Wallet, body: unknown) => shop.patch<Wallet>(`/wallets/${wallet.id}`, body);

describe("PATCH of a wallet", () => {
  test("sets isEnabled and returns the changed wallet", async () => {
    const wallet = await registerWallet(shop, freshDirectWallet("ETH", "ETH"));
    const disabled = expectOk(await patch(wallet, { isEnabled: false }), 200);
    expectWalletShape(disabled);
    expect({ ...disabled, updatedAt: "" }).toEqual({ ...wallet, isEnabled: false, updatedAt: "" });
    expect(expectOk(await shop.get<Wallet>(`/wallets/${wallet.id}`), 200)).toEqual(disabled);
    expect(expectOk(await patch(wallet, { isEnabled: true }), 200).isEnabled).toBe(true);
  });

  test("sets requiredConfirmations for new invoices only", async () => {
    const wallet = await registerWallet(shop, xpubWallet(extendedKey()));
    const before = await createInvoice(shop);
    expect(expectOk(await patch(wallet, { requiredConfirmations: 6 }), 200).requiredConfirmations).toBe(6);
    const after = await createInvoice(shop);
    expect([before, after].map((invoice) => invoice.paymentMethods[0]?.requiredConfirmations)).toEqual([1, 6]);
  });

  test("sets isEnabled and requiredConfirmations in one request", async () => {
    const wallet = await registerWallet(shop, freshDirectWallet("ETH", "ETH"));
    const both = { isEnabled: false, requiredConfirmations: 12 };
    expect(expectOk(await patch(wallet, both), 200)).toMatchObject(both);
  });

  test.each([
    { isEnabled: "false" },
    { isEnabled: 0 },
    { isEnabled: null },
    { requiredConfirmations: 0 },
    { requiredConfirmations: 1_001 },
    { requiredConfirmations: 1.5 },
    { address: evmAddress() },
    { xpub: extendedKey().xpub },
    { derivationPath: "m/84'/0'/1'" },
    { network: "POL" },
    { cryptocurrency: "USDT" },
    { walletType: "XPUB_WALLET" },
    { lastUsedIndex: 3 },
    { label: "x" },
  ])("refuses %j and changes nothing", async (body) => {
    const wallet = await registerWallet(shop, freshDirectWallet("ETH", "ETH"));
    expectRefusal(await patch(wallet, { isEnabled: false, ...body }), 400);
    expect(expectOk(await shop.get<Wallet>(`/wallets/${wallet.id}`), 200)).toEqual(wallet);
  });

  test("is a 404 for another merchant's wallet, an unknown id and a malformed id", async () => {
    await removeWallets(stranger);
    const theirs = await registerWallet(stranger, freshDirectWallet("ETH", "ETH"));
    for (const id of [theirs.id, "wal_01ARZ3NDEKTSV4RRFFQ69G5FAV", "wal_1", "1", "inv_01ARZ3NDEKTSV4RRFFQ69G5FAV"]) {
      expectRefusal(await shop.patch(`/wallets/${id}`, { isEnabled: false }), 404, "WALLET_NOT_FOUND");
      expectRefusal(await shop.get(`/wallets/${id}`), 404, "WALLET_NOT_FOUND");
      expectRefusal(await shop.delete(`/wallets/${id}`), 404, "WALLET_NOT_FOUND");
    }
    expect(expectOk(await stranger.get<Wallet>(`/wallets/${theirs.id}`), 200)).toEqual(theirs);
    await removeWallets(stranger);
  });
});
