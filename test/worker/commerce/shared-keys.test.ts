// An unproven merchant holds at most two unpaid addresses of a key that another merchant also has (decisions 12). An address counts as paid when it
// received a payment, not when its invoice was paid in another way.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const MAX_UNPAID = 2;

const registered = (shop: TestMerchant, body: object) => expectStatus(shop.post("/wallets", body), 201);
const created = (shop: TestMerchant, pairs: readonly object[] = [BTC]) =>
  expectStatus(shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: pairs }), 201);
const methodOn = (invoice: Answer["body"], pair: typeof BTC) =>
  invoice.paymentMethods.find((method: Answer["body"]) => method.network === pair.network);

/** A payment as the watcher would write it. */
async function pay(
  shop: TestMerchant,
  invoice: Answer["body"],
  pair: typeof BTC,
  changes: Partial<typeof payments.$inferInsert> = {},
): Promise<void> {
  await testDb.insert(payments).values({
    id: freshId("pay"),
    merchantId: shop.merchantId,
    invoiceId: invoice.id,
    ...pair,
    txHash: randomHex(32),
    outputIndex: "0",
    toAddress: methodOn(invoice, pair).address,
    amountUnits: 1n,
    status: "CONFIRMED",
    confirmations: 1,
    requiredConfirmations: 1,
    isLate: false,
    receivedAtMs: 0,
    createdAtMs: 0,
    updatedAtMs: 0,
    ...changes,
  });
}

/** A second merchant with the first one's key, who holds as many of its addresses as allowed. */
async function secondHolder(pairs: readonly object[] = [BTC]) {
  const [elder, shop] = [await freshMerchant(), await freshMerchant()];
  const key = xpubWallet();
  await registered(elder, key);
  const wallet = await registered(shop, key);
  if (pairs.length > 1) await registered(shop, directWallet());
  const made: Answer["body"][] = [];
  for (let n = 0; n < MAX_UNPAID; n++) made.push(await created(shop, pairs));
  expect(made.map((each) => methodOn(each, BTC).status)).toEqual(new Array(MAX_UNPAID).fill("ACTIVE"));
  return { elder, shop, key, wallet, made };
}

const SHARED = { status: "UNAVAILABLE", reason: "LIMIT_REACHED", address: null };

async function expectNoMore(shop: TestMerchant): Promise<void> {
  const refused = await created(shop);
  expect(methodOn(refused, BTC)).toMatchObject(SHARED);
  const refusal = await expectStatus(shop.post(`/invoices/${refused.id}/payment-methods`, BTC), 422);
  expect(refusal).toMatchObject({ code: "LIMIT_REACHED", name: "addressesWithoutProof", limit: MAX_UNPAID });
}

describe("an unproven merchant that uses another merchant's key", () => {
  it("gets another address for each paid one, and no more", async () => {
    const { elder, shop, made } = await secondHolder();
    await expectNoMore(shop);
    await pay(shop, made[0], BTC);
    await pay(shop, made[1], BTC, { status: "DETECTED" });
    // A second payment to the same address does not count twice.
    await pay(shop, made[1], BTC);
    for (let n = 0; n < 2; n++) expect(methodOn(await created(shop), BTC)).toMatchObject({ status: "ACTIVE" });
    await expectNoMore(shop);
    expect(methodOn(await created(elder), BTC)).toMatchObject({ status: "ACTIVE" });
  });

  it("keeps its paid and unpaid counts when the wallet is deleted and registered again", async () => {
    const { shop, key, wallet, made } = await secondHolder();
    const again = async (id: string) => {
      await expectStatus(shop.delete(`/wallets/${id}`), 200);
      return registered(shop, key);
    };
    for (const { id } of made) await expectStatus(shop.post(`/invoices/${id}/cancel`), 200);
    const second = await again(wallet.id);
    // Nothing was paid, so registering again does not allow two more addresses.
    await expectNoMore(shop);
    for (const invoice of made) await pay(shop, invoice, BTC);
    await again(second.id);
    const more: Answer["body"][] = [];
    for (let n = 0; n < MAX_UNPAID; n++) more.push(await created(shop));
    const addresses = [...made, ...more].map((each) => methodOn(each, BTC).address);
    expect(addresses).not.toContain(null);
    expect(new Set(addresses).size).toBe(2 * MAX_UNPAID);
    await expectNoMore(shop);
  });

  it("gets no additional address for invoices paid by another method, to another address, or by a payment that disappeared", async () => {
    const { shop, made } = await secondHolder([BTC, USDT]);
    for (const invoice of made) {
      await pay(shop, invoice, USDT);
      const paid = { receivedMicros: 10_000_000n, confirmedMicros: 10_000_000n, status: "PAID" as const };
      await testDb.update(invoices).set(paid).where(eq(invoices.id, invoice.id));
    }
    await expectNoMore(shop);
    await pay(shop, made[0], BTC, { toAddress: "1BoatSLRHtKNngkdXEeobR76b53LETtpyT" });
    await pay(shop, made[1], BTC, { status: "DROPPED" });
    await pay(shop, made[1], BTC, { status: "REORGED" });
    await expectNoMore(shop);
  });

  it("gets no additional address for the other merchant's paid addresses", async () => {
    const { elder, shop } = await secondHolder();
    const theirs = await created(elder);
    await pay(elder, theirs, BTC);
    await expectNoMore(shop);
  });

  it("is limited even if it registered the key first", async () => {
    const { elder } = await secondHolder();
    for (let n = 0; n < MAX_UNPAID; n++)
      expect(methodOn(await created(elder), BTC)).toMatchObject({ status: "ACTIVE" });
    await expectNoMore(elder);
  });
});
