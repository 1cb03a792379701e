// Payments of the lost time: whoever read them before the lost invoices were back, they are credited to the invoices that they were made for.
import { expect, it } from "vitest";
import { copyDatabase } from "../../support/copy-database.ts";
import { importLost, restoredEnv } from "../../support/restores.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant } from "../../support/worker-merchant.ts";
import { invoiceOf, look, rowsOf, shopAt, shown, transferTo } from "../detection/transfers-harness.ts";

it("a payment that the old deployment could not match is credited, also at an address that another merchant has registered", async () => {
  const { merchant: owner, address } = await shopAt();
  const { merchant: other } = await shopAt(address);
  const putBack = await copyDatabase();
  const restoredToMs = Date.now();
  const lost = await invoiceOf(owner, 25);
  await putBack();
  const transfer = transferTo(address, lost.units);
  await look([transfer]);
  const merchants = (await rowsOf(transfer.txHash)).map(({ merchantId }) => merchantId);
  expect(new Set(merchants)).toEqual(new Set([owner.merchantId, other.merchantId]));
  await importLost(restoredEnv(restoredToMs));
  await look([transfer]);
  expect(await shown(owner, lost.id)).toMatchObject({ status: "PAID", amountReceived: "25.000000" });
  expect(await rowsOf(transfer.txHash)).toMatchObject([{ merchantId: owner.merchantId, invoiceId: lost.id }]);
});

it("a payment to a lost invoice's own address that the old deployment had left out is credited", async () => {
  const shop = await freshMerchant();
  await expectStatus(shop.post("/wallets", xpubWallet()), 201);
  const putBack = await copyDatabase();
  const restoredToMs = Date.now();
  const lost = await expectStatus(shop.post("/invoices", { name: "Order", rawAmount: 25, paymentMethods: [BTC] }), 201);
  await putBack();
  const [{ address, amount }] = lost.paymentMethods;
  const units = BigInt(Math.round(Number(amount) * 1e8));
  const transfer = transferTo(address, units, { cryptocurrency: "BTC" });
  // A watcher that is kept awake still has the address among its recipients.
  await look([transfer], { network: "BTC" });
  expect(await rowsOf(transfer.txHash)).toEqual([]);
  await importLost(restoredEnv(restoredToMs));
  await look([transfer], { network: "BTC" });
  expect(await rowsOf(transfer.txHash)).toMatchObject([{ merchantId: shop.merchantId, invoiceId: lost.id }]);
});
