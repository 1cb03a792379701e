// Invoices that anyone can create, with a public key or on a product's page. Whatever strangers do, the merchant's own server must keep its own
// limit, and no network may take more than its share.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { publicHolds } from "../../../src/platform/db/schema/public-holds.ts";
import { expectRefusal, type Answer as Sent, send } from "../../support/access.ts";
import { countOf, inTens, made, openShop, several, statusesOf } from "../../support/public-shop.ts";
import { holderOf, ordered } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const countsOf = async ({ merchantId }: TestMerchant) => {
  const [row] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
  return { active: row?.activeInvoices, public: row?.publicInvoices };
};

describe("public invoices", () => {
  it("from a hundred networks use up only the limit for public invoices, and the merchant's server can create all of its 200", async () => {
    const { shop, browse, buy } = await openShop({ maxPublicInvoices: 60, maxActiveInvoices: 200 });
    const strangers = await inTens(100, (n) => browse(`203.0.113.${n}`));
    expect([countOf(strangers, 201), countOf(strangers, 422)]).toEqual([60, 40]);
    for (const refused of strangers.filter(({ status }) => status === 422))
      expect(expectRefusal(refused, 422, "LIMIT_REACHED")).toMatchObject({ name: "maxPublicInvoices", limit: 60 });
    expect(await buy("203.0.113.200")).toBe(409);
    const own = await inTens(200, () => shop.post("/invoices", { name: "Order", rawAmount: 10 }));
    expect(statusesOf(own)).toEqual(new Array(200).fill(201));
    expect(await countsOf(shop)).toEqual({ active: 200, public: 60 });
    expect((await shop.post("/invoices", { name: "Order", rawAmount: 10 })).body.code).toBe("TOO_MANY_ACTIVE_INVOICES");
  });

  it("stay within their limit when many are created at once, and each invoice that ends makes room for another", async () => {
    const { shop, browse } = await openShop({ maxPublicInvoices: 5 });
    const first = await several(12, (n) => browse(`203.0.113.${n}`));
    expect([countOf(first, 201), countOf(first, 422)]).toEqual([5, 7]);
    const { id } = first.find(({ status }) => status === 201)?.json ?? {};
    expect((await shop.post(`/invoices/${id}/cancel`)).status).toBe(200);
    expect(statusesOf([await browse("203.0.113.50"), await browse("203.0.113.51")])).toEqual([201, 422]);
  });

  it("are limited to twenty for one network, whether created with a key or on a product's page, and other networks have their own twenty", async () => {
    const { browse, buy } = await openShop();
    const answers = await several(25, () => browse("203.0.113.1"));
    expect([countOf(answers, 201), countOf(answers, 422)]).toEqual([20, 5]);
    for (const refused of answers.filter(({ status }) => status === 422))
      expect(expectRefusal(refused, 422, "LIMIT_REACHED")).toMatchObject({ name: "publicInvoicesPerIp", limit: 20 });
    expect(await buy("203.0.113.1")).toBe(409);
    expect(await buy("203.0.113.2")).toBe(303);
    expect((await browse("203.0.113.3")).status).toBe(201);
  });

  it("are limited to eighty for a /48, from any of its networks", async () => {
    const { browse } = await openShop();
    const answers: Sent[] = [];
    for (let network = 0; network < 9; network++)
      answers.push(...(await several(10, (n) => browse(`2001:db8:7:${network}::${n}`))));
    expect([countOf(answers, 201), countOf(answers, 422)]).toEqual([80, 10]);
    expect((await browse("2001:db8:8::1")).status).toBe(201);
  });

  it("last a day at most, while a server's invoices last as long as the merchant has set", async () => {
    const { shop, browse } = await openShop({ invoiceLifetimeSeconds: 3 * 86_400 });
    const lifetimeOf = ({ createdAt, expiresAt }: Record<string, unknown>) =>
      (Date.parse(String(expiresAt)) - Date.parse(String(createdAt))) / 1_000;
    expect(lifetimeOf((await browse("203.0.113.1")).json ?? {})).toBe(86_400);
    expect(lifetimeOf(await made(shop, "/invoices", { name: "Order", rawAmount: 10 }))).toBe(3 * 86_400);
  });

  it("store only a hash of the caller's address, different for each merchant, and nothing once they have ended", async () => {
    const shops = [await openShop(), await openShop()];
    const rows: (readonly string[])[] = [];
    for (const { shop, browse } of shops) {
      expect((await browse("203.0.113.77")).status).toBe(201);
      const found = await testDb.select().from(publicHolds).where(eq(publicHolds.merchantId, shop.merchantId));
      rows.push(found.map(({ network }) => network));
      expect(JSON.stringify(found)).not.toContain("203.0.113");
    }
    expect(rows.flat()).toHaveLength(2);
    expect(new Set(rows.flat()).size).toBe(2);
    for (const { shop } of shops) {
      await testDb.update(invoices).set({ status: "EXPIRED" }).where(eq(invoices.merchantId, shop.merchantId));
      expect(await testDb.$count(publicHolds, eq(publicHolds.merchantId, shop.merchantId))).toBe(0);
    }
  });

  it("from a loopback address are not limited on a development server", async () => {
    const { shop, key } = await openShop();
    const ask = { method: "POST", key, body: { name: "Order", rawAmount: 10 }, headers: { "cf-connecting-ip": "::1" } };
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices`;
    expect(statusesOf(await several(22, () => send(path, ask)))).toEqual(new Array(22).fill(201));
  });

  it.each([
    { kind: "amounts of an address", wallet: directWallet(), pair: USDT, most: LIMITS.amountsWithoutProof },
    { kind: "addresses of a key", wallet: xpubWallet(), pair: BTC, most: LIMITS.addressesWithoutProof },
  ])(
    "take at most half of an unproven merchant's share of the $kind that others also use, and leave the rest to its server",
    async ({ wallet, pair, most }) => {
      const { shop, browse } = await openShop({}, { wallets: [wallet] });
      await holderOf(wallet);
      const asked = await inTens(12, (n) => browse(`203.0.113.${n}`, { paymentMethods: [pair] }));
      const statuses = asked.map(({ json }) => Object(json).paymentMethods[0].status);
      expect(statuses.filter((status) => status === "ACTIVE")).toHaveLength(most / 2);
      const own = await several(most / 2, () => ordered(shop, pair, 10));
      expect(own.map(({ status, reason }) => reason ?? status)).toEqual(new Array(most / 2).fill("ACTIVE"));
      expect(await ordered(shop, pair, 10)).toMatchObject({ status: "UNAVAILABLE", reason: "LIMIT_REACHED" });
    },
  );
});
