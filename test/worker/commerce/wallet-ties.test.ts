// An active invoice prevents the deletion of a direct wallet with the same address (Interface 4.3). One EVM address is one account on every network.
import { describe, expect, it } from "vitest";
import { selectTiedInvoices } from "../../../src/commerce/wallet-records/store.ts";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { planOf } from "../../support/query-plan.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const direct = (cryptocurrency: string, network: string, address: string) => ({
  walletType: "DIRECT_WALLET",
  cryptocurrency,
  network,
  address,
});

async function registered(shop: TestMerchant, body: object): Promise<string> {
  const { status, text, body: wallet } = await shop.post("/wallets", body);
  expect(status, text).toBe(201);
  return wallet.id;
}

async function invoiceOn(shop: TestMerchant, ...paymentMethods: readonly object[]): Promise<string> {
  const { status, text, body } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods });
  expect([status, body.paymentMethods?.[0]?.status], text).toEqual([201, "ACTIVE"]);
  return body.id;
}

const blockersOf = async (shop: TestMerchant, walletId: string): Promise<string[]> =>
  (await shop.delete(`/wallets/${walletId}`)).body.invoiceIds;

const outcomeOf = async (shop: TestMerchant, walletId: string) => {
  const { status, body } = await shop.delete(`/wallets/${walletId}`);
  return [status, body.code];
};

const TIED = [409, "WALLET_HAS_ACTIVE_PAYMENTS"];
const DELETED = [200, undefined];

describe("a direct wallet", () => {
  it.each([
    ["USDT", "POL"],
    ["USDC", "BNB"],
    ["ETH", "ETH"],
  ])(
    "of %s on %s cannot be deleted while a USDT/ETH invoice to the same address is open",
    async (cryptocurrency, network) => {
      const shop = await freshMerchant();
      const address = `0x${randomHex(20)}`;
      const elsewhere = await registered(shop, direct(cryptocurrency, network, address));
      await registered(shop, direct("USDT", "ETH", address));
      const invoice = await invoiceOn(shop, { cryptocurrency: "USDT", network: "ETH" });
      expect(await outcomeOf(shop, elsewhere)).toEqual(TIED);
      expect((await shop.post(`/invoices/${invoice}/cancel`)).status).toBe(200);
      expect(await outcomeOf(shop, elsewhere)).toEqual(DELETED);
    },
  );

  it("can be deleted despite an invoice to another address, or another merchant's invoice to the same one", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const address = `0x${randomHex(20)}`;
    const mine = await registered(shop, direct("USDT", "POL", address));
    await registered(shop, direct("USDT", "ETH", `0x${randomHex(20)}`));
    await registered(other, direct("USDT", "ETH", address));
    for (const each of [shop, other]) await invoiceOn(each, { cryptocurrency: "USDT", network: "ETH" });
    expect(await outcomeOf(shop, mine)).toEqual(DELETED);
  });

  it("names the invoices that block its deletion, none of them twice, and at most ten", async () => {
    const shop = await freshMerchant();
    const address = `0x${randomHex(20)}`;
    const wallet = await registered(shop, direct("USDT", "ETH", address));
    await registered(shop, direct("USDC", "ETH", address));
    const pairs = ["USDT", "USDC"].map((cryptocurrency) => ({ cryptocurrency, network: "ETH" }));
    const open = [await invoiceOn(shop, ...pairs)];
    expect(await blockersOf(shop, wallet)).toEqual(open);
    while (open.length < 11) open.push(await invoiceOn(shop, ...pairs.slice(0, 1)));
    const named = await blockersOf(shop, wallet);
    expect(named.length).toBeLessThanOrEqual(10);
    expect(open).toEqual(expect.arrayContaining(named));
    expect(new Set(named).size).toBe(named.length);
  });

  it("is checked against the merchant's own active invoices only, however many others use the address", async () => {
    const wallet = { walletType: "DIRECT_WALLET", address: "0xa", network: "POL", cryptocurrency: "USDT", id: "wal_1" };
    const of = { ...wallet, merchantId: "mer_1" as MerchantId } as Parameters<typeof selectTiedInvoices>[1];
    const details = await planOf(selectTiedInvoices(testDb, of, 10));
    expect(details).toContain("invoices_by_status (merchant_id=? AND status=?)");
    expect(details).toMatch(/SEARCH method USING INDEX sqlite_autoindex_payment_methods_1 \(invoice_id=\?\)/);
  });
});
