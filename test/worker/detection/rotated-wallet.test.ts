// A merchant first registers one address of its wallet, and later the wallet's extended public key, whose first address is the same.
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { expectStatus, holderOf, ordered, paid, unitsOf } from "../../support/shared-place.ts";
import { BTC, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

/** An expired invoice of the direct wallet at the key's first address, and the invoice that now has this address as its own. */
async function rotated() {
  const wallet = xpubWallet();
  const other = await holderOf(wallet);
  const [{ id }] = await expectStatus(other.get("/wallets"), 200);
  const preview = await expectStatus(other.get(`/wallets/${id}/addresses?from=0&count=1`), 200);
  await expectStatus(other.delete(`/wallets/${id}`), 200);
  const shop = await freshMerchant();
  const direct = { walletType: "DIRECT_WALLET", ...BTC, address: preview.data[0].address };
  const { id: walletId } = await expectStatus(shop.post("/wallets", direct), 201);
  const old = await ordered(shop, BTC, 25);
  await testDb.update(invoices).set({ status: "EXPIRED" }).where(eq(invoices.id, old.invoiceId));
  await expectStatus(shop.delete(`/wallets/${walletId}`), 200);
  await expectStatus(shop.post("/wallets", wallet), 201);
  const own = await ordered(shop, BTC, 25.05);
  expect(own.address).toBe(old.address);
  return { old, own, direct };
}

it("a late payment of exactly the amount that an invoice of the old wallet asked for is credited to that invoice", async () => {
  const { old, own } = await rotated();
  const rows = await paid(BTC, old.address, unitsOf(old.amount, 8));
  expect(rows).toMatchObject([{ invoiceId: old.invoiceId, matchedBy: "EXACT_AMOUNT" }]);
  const other = await paid(BTC, own.address, unitsOf(own.amount, 8));
  expect(other).toMatchObject([{ invoiceId: own.invoiceId, matchedBy: "ADDRESS" }]);
});

it("another merchant that registers the address and asks for the same amount is credited nothing", async () => {
  const { own, direct } = await rotated();
  const stranger = await holderOf(direct);
  const theirs = await ordered(stranger, BTC, 25.05);
  expect(theirs.status).toBe("ACTIVE");
  const rows = await paid(BTC, own.address, unitsOf(theirs.amount, 8));
  expect(rows).toMatchObject([{ invoiceId: own.invoiceId, matchedBy: "ADDRESS" }]);
});

it("a payment for the old wallet's invoice is credited to it even if it is dated before the new invoice was active", async () => {
  const { old, own } = await rotated();
  const hourMs = 3_600_000;
  const createdAtMs = Date.now() - 2 * hourMs;
  await testDb.update(methodAmounts).set({ createdAtMs }).where(eq(methodAmounts.invoiceId, old.invoiceId));
  // The new invoice's payment method is active only an hour from now.
  const activatedAtMs = Date.now() + hourMs;
  await testDb.update(paymentMethods).set({ activatedAtMs }).where(eq(paymentMethods.invoiceId, own.invoiceId));
  const rows = await paid(BTC, old.address, unitsOf(old.amount, 8));
  expect(rows).toMatchObject([{ invoiceId: old.invoiceId, matchedBy: "EXACT_AMOUNT" }]);
});
