import { describe, expect, it } from "vitest";
import { seedKey, send } from "../../support/access.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant } from "../../support/worker-merchant.ts";
import { added, created, wallet } from "./audit-harness.ts";

describe("a request that is refused or changes nothing", () => {
  it("writes no audit entry", async () => {
    const shop = await freshMerchant();
    const { id } = await wallet(shop);
    const paid = await created(shop, { paymentMethods: [USDT], externalId: "one" });
    const gone = await created(shop);
    await expectStatus(shop.post(`/invoices/${gone.id}/cancel`), 200);
    const weak = await seedKey(shop.merchantId, { permissions: ["WALLET_VIEW"] });
    const path = `/api/v1/merchants/merchant/${shop.merchantId}`;
    const refused: readonly [number, () => Promise<{ readonly status: number }>][] = [
      [409, () => shop.post("/wallets", directWallet())],
      [400, () => shop.post("/wallets", { ...directWallet(), address: "0x12" })],
      [400, () => shop.patch(`/wallets/${id}`, {})],
      [200, () => shop.patch(`/wallets/${id}`, { isEnabled: true })],
      [409, () => shop.delete(`/wallets/${id}`)],
      [404, () => shop.delete("/wallets/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV")],
      [409, () => shop.post("/invoices", { name: "Order", rawAmount: 1, externalId: "one" })],
      [422, () => shop.post("/invoices", { name: "Order", rawAmount: 1, paymentMethods: [BTC] })],
      [200, () => shop.patch(`/invoices/${paid.id}`, { name: "Order" })],
      [422, () => shop.patch(`/invoices/${gone.id}`, { name: "Another" })],
      [422, () => shop.post(`/invoices/${gone.id}/cancel`)],
      [422, () => shop.post(`/invoices/${gone.id}/payment-methods`, USDT)],
      [200, () => shop.post(`/invoices/${paid.id}/payment-methods`, USDT)],
      [403, () => send(`${path}/wallets/${id}`, { method: "DELETE", key: weak })],
      [401, () => send(`${path}/wallets/${id}`, { method: "DELETE", key: "letmein" })],
    ];
    for (const [status, ask] of refused) {
      const { result, entries } = await added(shop, ask);
      expect([(result as Answer).status, entries], ask.toString()).toEqual([status, []]);
    }
  });

  it("writes no further entry when it repeats an Idempotency-Key", async () => {
    const shop = await freshMerchant();
    const key = { "idempotency-key": "again" };
    const { entries } = await added(shop, async () => {
      const ask = () => shop.post("/invoices", { name: "Order", rawAmount: 10 }, key);
      await Promise.all([ask(), ask(), ask()]);
      await expectStatus(ask(), 201);
    });
    expect(entries.map(({ action }) => action)).toEqual(["invoice.created"]);
  });
});
