// Interface 3.2 and decisions 3: what it means for existing and new invoices that a wallet is enabled, disabled or removed.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createInvoice, expectOk, expectRefusal, registerWallet, removeWallets, shop } from "./client.ts";
import { extendedKey, freshDirectWallet, xpubWallet } from "./key-material.ts";
import type { Invoice, PaymentMethod, Wallet } from "./shapes.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const USDT = { cryptocurrency: "USDT", network: "ETH" };
const setEnabled = async (wallet: Wallet, isEnabled: boolean) =>
  expectOk(await shop.patch<Wallet>(`/wallets/${wallet.id}`, { isEnabled }), 200);

describe("a disabled wallet", () => {
  test("is not used by a new invoice, whether or not the invoice asks for its pair", async () => {
    const wallet = await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    expect((await setEnabled(wallet, false)).isEnabled).toBe(false);
    expect(await createInvoice(shop)).toMatchObject({ paymentMethods: [], warnings: ["NO_ENABLED_WALLET"] });
    const named = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] });
    expectRefusal(named, 422, "NO_ENABLED_WALLET");
  });

  test("stays the payment method of an invoice that already shows its address", async () => {
    const wallet = await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const invoice = await createInvoice(shop);
    await setEnabled(wallet, false);
    const read = expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200);
    expect(read.paymentMethods).toEqual(invoice.paymentMethods);
    expect(read.paymentMethods[0]).toMatchObject({ status: "ACTIVE", address: wallet.address });
  });

  test("can no longer be picked for an existing invoice", async () => {
    const wallet = await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    await registerWallet(shop, xpubWallet(extendedKey()));
    const invoice = await createInvoice(shop);
    await setEnabled(wallet, false);
    const path = `/invoices/${invoice.id}/payment-methods`;
    const body = expectOk(await shop.get<PaymentMethod[] | { data: PaymentMethod[] }>(path), 200);
    const usdt = ("data" in body ? body.data : body).filter((method) => method.cryptocurrency === "USDT");
    expect(usdt.map((method) => method.status)).not.toContain("AVAILABLE");
    expectRefusal(await shop.post(path, USDT), 422, "NO_ENABLED_WALLET");
  });

  test("is used again after it is enabled", async () => {
    const wallet = await registerWallet(shop, { ...freshDirectWallet("USDT", "ETH"), isEnabled: false });
    expect(wallet.isEnabled).toBe(false);
    await setEnabled(wallet, true);
    expect((await createInvoice(shop)).paymentMethods[0]).toMatchObject({ status: "ACTIVE", address: wallet.address });
  });

  test("continues to block a second wallet for its pair", async () => {
    await registerWallet(shop, { ...freshDirectWallet("USDT", "ETH"), isEnabled: false });
    expectRefusal(await shop.post("/wallets", freshDirectWallet("USDT", "ETH")), 409, "WALLET_EXISTS");
  });
});

describe("a removed wallet", () => {
  test("is gone from the list, and is a 404 for reads, changes and a second deletion", async () => {
    const wallet = await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    expectOk(await shop.delete(`/wallets/${wallet.id}`), 200);
    expect(expectOk(await shop.get<Wallet[]>("/wallets"), 200)).toEqual([]);
    expectRefusal(await shop.get(`/wallets/${wallet.id}`), 404, "WALLET_NOT_FOUND");
    expectRefusal(await shop.patch(`/wallets/${wallet.id}`, { isEnabled: true }), 404, "WALLET_NOT_FOUND");
    expectRefusal(await shop.delete(`/wallets/${wallet.id}`), 404, "WALLET_NOT_FOUND");
  });

  test("frees its pair for a new wallet at once", async () => {
    const old = await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    expectOk(await shop.delete(`/wallets/${old.id}`), 200);
    const next = await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    expect(next.id).not.toBe(old.id);
    expect((await createInvoice(shop)).paymentMethods[0]?.address).toBe(next.address);
  });
});
