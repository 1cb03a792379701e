// A restored database has lost invoices whose payers know an address or an amount. The allocators are not restored with it.
import { expect, it } from "vitest";
import { copyDatabase } from "../../support/copy-database.ts";
import { inTens } from "../../support/public-shop.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant } from "../../support/worker-merchant.ts";

/** Creates an invoice; returns its new address, and its amount at the shared address. */
async function shown(shop: TestMerchant): Promise<{ readonly own: string; readonly amount: string }> {
  const body = { name: "Order", rawAmount: 10, paymentMethods: [USDT, BTC] };
  const { paymentMethods } = await expectStatus(shop.post("/invoices", body), 201);
  const [direct, own] = [USDT, BTC].map((pair) =>
    paymentMethods.find((each: { network: string }) => each.network === pair.network),
  );
  expect([direct.status, own.status]).toEqual(["ACTIVE", "ACTIVE"]);
  return { own: own.address, amount: direct.amount };
}

it("a hundred new invoices on both kinds of wallet reuse no address and no amount of a lost invoice", async () => {
  const shop = await freshMerchant();
  await expectStatus(shop.post("/wallets", directWallet()), 201);
  await expectStatus(shop.post("/wallets", xpubWallet()), 201);
  const before = await inTens(10, () => shown(shop));
  const putBack = await copyDatabase();
  const lost = await inTens(40, () => shown(shop));
  await putBack();
  const { data } = await expectStatus(shop.get("/invoices?limit=100"), 200);
  expect(data).toHaveLength(before.length);
  const after = await inTens(100, () => shown(shop));
  const all = [...before, ...lost, ...after];
  expect(new Set(all.map(({ own }) => own)).size).toBe(all.length);
  expect(new Set(all.map(({ amount }) => amount)).size).toBe(all.length);
});
