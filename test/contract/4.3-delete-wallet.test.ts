// Interface 4.3 and decisions 3 "Tied to a wallet": that a wallet with an open invoice cannot be deleted, and how an extended key is rotated.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  atOnce,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  stranger,
  unique,
} from "./client.ts";
import { directWallet, evmAddress, extendedKey, freshDirectWallet, xpubWallet } from "./key-material.ts";
import { expectWalletShape, type Invoice, type Wallet } from "./shapes.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const remove = (wallet: Wallet) => shop.delete<Wallet>(`/wallets/${wallet.id}`);
const cancel = async (invoice: Invoice) => expectOk(await shop.post<Invoice>(`/invoices/${invoice.id}/cancel`), 200);

async function expectTied(wallet: Wallet): Promise<void> {
  const refusal = expectRefusal(await remove(wallet), 409, "WALLET_HAS_ACTIVE_PAYMENTS");
  expect(refusal.message).toBe("Cannot delete a wallet with active payments");
  expect(expectOk(await shop.get<Wallet>(`/wallets/${wallet.id}`), 200).id).toBe(wallet.id);
}

const KINDS = [
  ["direct", () => freshDirectWallet("USDT", "ETH")],
  ["extended key", () => xpubWallet(extendedKey())],
] as const;

describe.each(KINDS)("a %s wallet", (_, body) => {
  test("that no invoice uses can be deleted, and the response is the deleted wallet", async () => {
    const { firstAddress: __, ...wallet } = await registerWallet(shop, body());
    const deleted = expectOk(await remove(wallet), 200);
    expectWalletShape(deleted);
    expect({ ...deleted, updatedAt: "" }).toEqual({ ...wallet, updatedAt: "" });
  });

  test("with an open invoice cannot be deleted, whether it is enabled or not", async () => {
    const wallet = await registerWallet(shop, body());
    await createInvoice(shop);
    await expectTied(wallet);
    expectOk(await shop.patch(`/wallets/${wallet.id}`, { isEnabled: false }), 200);
    await expectTied(wallet);
  });

  test("can be deleted once all its invoices have ended", async () => {
    const wallet = await registerWallet(shop, body());
    const invoices = [await createInvoice(shop), await createInvoice(shop)];
    await cancel(invoices[0] as Invoice);
    await expectTied(wallet);
    await cancel(invoices[1] as Invoice);
    expectOk(await remove(wallet), 200);
  });

  test("can be deleted while an open invoice offers it without using it", async () => {
    const wallet = await registerWallet(shop, body());
    await registerWallet(shop, freshDirectWallet("TRX", "TRX"));
    const invoice = await createInvoice(shop);
    expect(invoice.paymentMethods).toEqual([]);
    expectOk(await remove(wallet), 200);
    const pair = { cryptocurrency: wallet.cryptocurrency, network: wallet.network };
    expectRefusal(await shop.post(`/invoices/${invoice.id}/payment-methods`, pair), 422, "NO_ENABLED_WALLET");
  });

  test("can be deleted while an open invoice pays to another wallet", async () => {
    const wallet = await registerWallet(shop, body());
    await registerWallet(shop, freshDirectWallet("TRX", "TRX"));
    const trx = { cryptocurrency: "TRX", network: "TRX" };
    expect((await createInvoice(shop, { paymentMethods: [trx] })).paymentMethods).toHaveLength(1);
    expectOk(await remove(wallet), 200);
  });

  test("deleted while invoices are created leaves no invoice that pays to it", async () => {
    for (let round = 0; round < 5; round += 1) {
      const wallet = await registerWallet(shop, body());
      const creating = atOnce(4, () => createInvoice(shop));
      const deletion = await remove(wallet);
      const invoices = await creating;
      const paying = invoices.filter((invoice) => invoice.paymentMethods.some((method) => method.status === "ACTIVE"));
      if (deletion.status === 200) expect(paying).toEqual([]);
      else expectRefusal(deletion, 409, "WALLET_HAS_ACTIVE_PAYMENTS");
      await removeWallets(shop);
    }
  });

  test("deleted while it is being picked leaves no open invoice that pays to it", async () => {
    await registerWallet(shop, freshDirectWallet("TRX", "TRX"));
    for (let round = 0; round < 5; round += 1) {
      const wallet = await registerWallet(shop, body());
      const invoices = [await createInvoice(shop), await createInvoice(shop)];
      const pair = { cryptocurrency: wallet.cryptocurrency, network: wallet.network };
      const picking = invoices.map((invoice) => shop.post(`/invoices/${invoice.id}/payment-methods`, pair));
      const deletion = await remove(wallet);
      for (const picked of await Promise.all(picking)) {
        if (deletion.status === 200) expectRefusal(picked, 422, "NO_ENABLED_WALLET");
        else expect([200, 201]).toContain(picked.status);
      }
      for (const invoice of invoices) await cancel(invoice);
      if (deletion.status !== 200) {
        expectRefusal(deletion, 409, "WALLET_HAS_ACTIVE_PAYMENTS");
        expectOk(await remove(wallet), 200);
      }
    }
  });

  test("is unavailable to new invoices once deleted, but earlier requests that used it can be replayed", async () => {
    const wallet = await registerWallet(shop, body());
    const request = { name: "Order", rawAmount: 10 };
    const headers = { "idempotency-key": unique() };
    const first = await shop.post<Invoice>("/invoices", request, headers);
    await cancel(expectOk(first, 201));
    expectOk(await remove(wallet), 200);
    expect(await createInvoice(shop)).toMatchObject({ paymentMethods: [], warnings: ["NO_ENABLED_WALLET"] });
    expect((await shop.post("/invoices", request, headers)).text).toBe(first.text);
  });
});

describe("a direct wallet", () => {
  test("cannot be deleted while another coin's open invoice uses its address", async () => {
    const address = evmAddress();
    const usdt = await registerWallet(shop, directWallet("USDT", "ETH", address));
    const usdc = await registerWallet(shop, directWallet("USDC", "ETH", address));
    const paymentMethods = [{ cryptocurrency: "USDT", network: "ETH" }];
    const invoice = await createInvoice(shop, { paymentMethods });
    await expectTied(usdt);
    await expectTied(usdc);
    await cancel(invoice);
    expectOk(await remove(usdc), 200);
    expectOk(await remove(usdt), 200);
  });

  test("can be deleted while another merchant's open invoice uses its address", async () => {
    await removeWallets(stranger);
    const body = directWallet("USDT", "ETH", evmAddress());
    const wallet = await registerWallet(shop, body);
    await registerWallet(stranger, body);
    expect((await createInvoice(stranger)).paymentMethods[0]?.status).toBe("ACTIVE");
    expectOk(await remove(wallet), 200);
    await removeWallets(stranger);
  });
});

describe("rotating an extended key", () => {
  test("works by disabling it, letting its invoices end, deleting it and registering the new key, which starts at index 0", async () => {
    const [oldKey, newKey] = [extendedKey(), extendedKey()];
    const old = await registerWallet(shop, xpubWallet(oldKey));
    const invoices = [await createInvoice(shop), await createInvoice(shop)];
    expectOk(await shop.patch(`/wallets/${old.id}`, { isEnabled: false }), 200);
    await expectTied(old);
    for (const invoice of invoices) await cancel(invoice);
    expectOk(await remove(old), 200);
    const next = await registerWallet(shop, xpubWallet(newKey));
    expect(next).toMatchObject({ lastUsedIndex: 0, nextIndex: 0, gap: 0, firstAddress: newKey.address(0) });
    expect((await createInvoice(shop)).paymentMethods[0]?.address).toBe(newKey.address(0));
  });

  test("back to a key used earlier continues at that key's next index, so that no address is used twice", async () => {
    const key = extendedKey();
    const old = await registerWallet(shop, xpubWallet(key));
    for (const invoice of [await createInvoice(shop), await createInvoice(shop)]) await cancel(invoice);
    expectOk(await remove(old), 200);
    expect(await registerWallet(shop, xpubWallet(key))).toMatchObject({ lastUsedIndex: 0, nextIndex: 2 });
    expect((await createInvoice(shop)).paymentMethods[0]?.address).toBe(key.address(2));
  });
});
