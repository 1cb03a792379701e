// Regression tests for bugs that were hard to notice and could have cost a payer or a shop a payment.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { formatUnits } from "../../../src/lib/money.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { expectRefusal } from "../../support/access.ts";
import {
  api,
  freshOrder,
  leadsTo,
  type Order,
  orderOf,
  page,
  put,
  putInStatus,
  sendForm,
} from "../../support/checkouts.ts";
import { seedCursor } from "../../support/payments.ts";
import { BTC, randomHex, USDT } from "../../support/wallet-bodies.ts";
import { type TestMerchant, testDb } from "../../support/worker-merchant.ts";

describe("a method on a shared address, picked after a partial payment by another method", () => {
  it("asks for the rest with an amount that no other invoice has", async () => {
    const order = await freshOrder({ paymentMethods: [BTC] });
    const { address } = await orderOf(order.shop, { rawAmount: 6, paymentMethods: [USDT] });
    await put(order, { receivedMicros: 4_000_000n });
    const { json } = await api(order, "/payment-methods", { method: "POST", body: USDT });
    expect([json?.status, json?.address, json?.amount]).toEqual(["ACTIVE", address, "10"]);
    const held = await testDb.select().from(methodAmounts).where(eq(methodAmounts.invoiceId, order.id));
    expect(held.map(({ units }) => formatUnits(BigInt(units), 6))).toContain(json?.amountDue);
    expect((await page(order, "/state?method=USDT_ETH")).text).toContain(`data-copy="${json?.amountDue}"`);
  });
});

describe("an expired invoice whose network has not been read up to its expiry", () => {
  it("offers no other method, so that nobody gets an address to pay too late", async () => {
    const network = "BNB_TESTNET";
    const slow = { walletType: "DIRECT_WALLET", cryptocurrency: "BNB", network, address: `0x${randomHex(20)}` };
    const pair = { cryptocurrency: "BNB", network };
    const order = await freshOrder({ paymentMethods: [pair] }, [
      slow,
      { walletType: "DIRECT_WALLET", ...USDT, address: `0x${randomHex(20)}` },
    ]);
    const expiresAtMs = Date.now() - 1_000;
    await seedCursor(network, { passedMs: expiresAtMs - 1, lastMovedAtMs: Date.now(), isResting: false });
    await put(order, { expiresAtMs });
    expect((await page(order)).text).toContain('data-stage="checking"');
    expectRefusal(await api(order, "/payment-methods", { method: "POST", body: USDT }), 422, "INVOICE_NOT_PAYABLE");
    expect(leadsTo(await sendForm(order, "/methods", { method: "USDT_ETH" }))).toContain("note=closed");
    const rows = await testDb.select().from(paymentMethods).where(eq(paymentMethods.invoiceId, order.id));
    expect(rows.filter(({ status }) => status === "ACTIVE")).toHaveLength(1);
  });
});

describe("the rest of an expired invoice", () => {
  const shownTo = async (order: Order) => {
    const { json } = await api(order);
    const text = (await page(order, "/state?method=USDT_ETH")).text;
    return [
      text.includes(`data-copy="${order.address}"`),
      JSON.stringify(json?.paymentMethods).includes(order.address),
    ];
  };

  it.each([
    ["disabled", (shop: TestMerchant, id: string) => shop.patch(`/wallets/${id}`, { isEnabled: false })],
    ["deleted", (shop: TestMerchant, id: string) => shop.delete(`/wallets/${id}`)],
  ])("is asked for when late payments are accepted, until its wallet is %s", async (_, end) => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    await putInStatus(order, "UNDERPAID");
    await put(order, { receivedMicros: 4_000_000n, latePaymentPolicy: "ACCEPT", expiresAtMs: Date.now() - 1_000 });
    const rest = { remainderUnits: 6_000_000n };
    await testDb.update(paymentMethods).set(rest).where(eq(paymentMethods.invoiceId, order.id));
    expect(await shownTo(order)).toEqual([true, true]);
    const [wallet] = (await order.shop.get("/wallets")).body.filter(
      ({ network }: { readonly network: string }) => network === USDT.network,
    );
    expect((await end(order.shop, wallet.id)).status).toBe(200);
    expect(await shownTo(order)).toEqual([false, false]);
  });
});

describe("changing the language", () => {
  it("of a receipt leads to the receipt, not to another page", async () => {
    const order = await freshOrder({ paymentMethods: [USDT], redirectUrl: "https://shop.example/thanks" });
    await putInStatus(order, "PAID");
    const { text } = await page(order, "/receipt");
    expect(/<form[^>]* data-language/.exec(text)?.[0]).toContain(`action="/pay/${order.id}/receipt"`);
  });
});
