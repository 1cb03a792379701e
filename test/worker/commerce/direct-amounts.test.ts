// Amounts on shared addresses while rates move: each invoice finds and keeps its own, a warning is sent when few are left, and creates are refused
// when none is left (decisions 4, chains.md 4).
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { encodeBase58check } from "../../../src/chains/encodings/address-text.ts";
import { candidateUnits } from "../../../src/commerce/amounts/direct-amount.ts";
import { parseQuotes } from "../../../src/commerce/quotes/quotes.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { seedKey } from "../../support/access.ts";
import { freeAmounts, occupy } from "../../support/amounts.ts";
import { testDb } from "../../support/worker-merchant.ts";
import {
  type Body,
  freshEvmAddress,
  freshShop,
  held,
  randomBytes,
  register,
  renewed,
  SATOSHI,
  statusesOf,
  TINY,
  USDC,
} from "./amounts-harness.ts";
import { freshKey } from "./wallets-harness.ts";

const BTC = { cryptocurrency: "BTC", network: "BTC" };

const LTC = { cryptocurrency: "LTC", network: "LTC" };
const freshBtcAddress = () => encodeBase58check(Uint8Array.from([0, ...randomBytes(20)]));

describe("invoices for one product while the rate moves", () => {
  it("each get a different amount, even if the possible amounts of their prices overlap", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, BTC, freshBtcAddress());
    for (let i = 0; i < 60; i++) {
      // The rate stays within 65 of 68,000, so 10 USD are between 14,692 and 14,720 satoshi.
      shop.usd.BTC = String(68_000 + (((i * 37) % 11) - 5) * 13);
      const { status, json } = await shop.create(10, BTC);
      expect([status, json.code, json.paymentMethods?.[0].status]).toEqual([201, undefined, "ACTIVE"]);
    }
    const rows = await held(address);
    expect(rows).toHaveLength(60);
    for (const { units, priceUnits } of rows)
      expect(units <= priceUnits && (priceUnits - units) * 200n <= priceUnits).toBe(true);
  });

  it("each get a different amount when they are created at once", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, BTC, freshBtcAddress());
    await occupy({ ...BTC, address }, candidateUnits(14_706n, SATOSHI, { from: 0, to: 20 }));
    shop.usd.BTC = "68000";
    const answers = await Promise.all(Array.from({ length: 12 }, () => shop.create(10, BTC)));
    expect(answers.map(statusesOf)).toEqual(Array(12).fill([201, "ACTIVE"]));
  });

  it("get the nearest free amount when another price has taken the plain one", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, BTC, freshBtcAddress());
    await occupy({ ...BTC, address }, ["14706", "14705", "14703"]);
    const { json } = await shop.create(10, BTC);
    expect(json.paymentMethods[0].amount).toBe("0.00014704");
  });
});

describe("a price whose distinct amounts are all taken", () => {
  it("makes a new invoice's method UNAVAILABLE and a pick fail with 409, until an amount is released", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, USDC, freshEvmAddress());
    await occupy({ ...USDC, address }, candidateUnits(TINY.priceUnits, SATOSHI, { from: 0, to: TINY.capacity }));
    const made = await shop.create(TINY.rawAmount, USDC);
    expect(statusesOf(made)).toEqual([201, "AMOUNTS_EXHAUSTED"]);
    const pick = () => shop.post(`/invoices/${made.json.id}/payment-methods`, USDC);
    const refused = await pick();
    expect([refused.status, refused.json.code]).toEqual([409, "AMOUNTS_EXHAUSTED"]);
    await freeAmounts({ ...USDC, address }, [1_993n]);
    const picked = await pick();
    expect([picked.status, picked.json.amount]).toEqual([201, "0.001993"]);
    expect(statusesOf(await shop.create(TINY.rawAmount, USDC))).toEqual([201, "AMOUNTS_EXHAUSTED"]);
  });

  it("gives browsers at most half of the amounts, and the merchant's server the rest", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, USDC, freshEvmAddress());
    const browser = await seedKey(shop.merchantId, { kind: "PUBLIC" });
    const body = { name: "Order", rawAmount: TINY.rawAmount, paymentMethods: [USDC] };
    const bought = () => shop.send("/invoices", { method: "POST", key: browser, body });
    const forBrowsers = Math.floor(TINY.capacity / 2);
    for (let n = 0; n < forBrowsers; n++) expect(statusesOf(await bought())).toEqual([201, "ACTIVE"]);
    expect(statusesOf(await bought())).toEqual([201, "LIMIT_REACHED"]);
    for (let n = forBrowsers; n < TINY.capacity; n++)
      expect(statusesOf(await shop.create(TINY.rawAmount, USDC))).toEqual([201, "ACTIVE"]);
    expect(await held(address)).toHaveLength(TINY.capacity);
  });

  it("gives all its amounts to invoices created at once, and no amount to the next invoice", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, USDC, freshEvmAddress());
    let tries = 0;
    while ((await held(address)).length < TINY.capacity && tries++ < 10) {
      const answers = await Promise.all([1, 2, 3, 4].map(() => shop.create(TINY.rawAmount, USDC)));
      for (const answer of answers) expect([201, 503]).toContain(answer.status);
    }
    expect(new Set((await held(address)).map(({ units }) => units)).size).toBe(TINY.capacity);
    expect(statusesOf(await shop.create(TINY.rawAmount, USDC))).toEqual([201, "AMOUNTS_EXHAUSTED"]);
  });

  it("is detected only after every candidate has been tried", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, BTC, freshBtcAddress());
    const at = { ...BTC, address };
    // 1,360 USD at 68,000 are two million satoshi, for which there are 10,001 amounts.
    const candidates = candidateUnits(2_000_000n, SATOSHI, { from: 0, to: 10_001 });
    const spare = [3_000, 10_000];
    await occupy(
      at,
      candidates.filter((_, salt) => !spare.includes(salt)),
    );
    for (const salt of spare) {
      const { json } = await shop.create(1_360, BTC);
      expect(Number(json.paymentMethods[0].amount)).toBe(Number(candidates[salt]) / 1e8);
    }
    expect(statusesOf(await shop.create(1_360, BTC))).toEqual([201, "AMOUNTS_EXHAUSTED"]);
  });
});

describe("a renewed quote", () => {
  it.each([
    ["one direct method", [USDC]],
    ["two direct methods", [USDC, BTC]],
  ])("keeps the amounts of %s in five renewals at the same price, and reserves nothing", async (_, pairs) => {
    const shop = await freshShop();
    const addresses = [freshEvmAddress(), freshBtcAddress()].slice(0, pairs.length);
    const wallets = await Promise.all(pairs.map((pair, i) => register(shop, pair, addresses[i] ?? "")));
    // Other invoices hold the plain amounts, so this one gets a salted amount, which must be kept too.
    await shop.create(25, ...pairs);
    const { json: first } = await shop.create(25, ...pairs);
    const amounts = (body: Body) =>
      body.paymentMethods.map((method: Body) => `${method.network} ${method.amount}`).sort();
    for (let round = 0; round < 5; round++) {
      const body = await renewed(shop, first.id);
      expect(amounts(body)).toEqual(amounts(first));
    }
    for (const { address } of wallets) expect(await held(address)).toHaveLength(2);
    const rows = await testDb.select().from(paymentMethods).where(eq(paymentMethods.invoiceId, first.id));
    expect(rows.map(({ quotes }) => parseQuotes(quotes).length)).toEqual(pairs.map(() => 1));
  });

  it("has the new price's amount, keeps the old amount reserved, and uses the old amount again when the price returns", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, BTC, freshBtcAddress());
    const { json: first } = await shop.create(10, BTC);
    shop.usd.BTC = "60000";
    const moved = await renewed(shop, first.id);
    expect(moved.paymentMethods[0].amount).toBe("0.00016667");
    shop.usd.BTC = "68000";
    expect((await renewed(shop, first.id)).paymentMethods[0].amount).toBe("0.00014706");
    expect((await held(address)).map(({ units }) => units)).toEqual([14_706n, 16_667n]);
  });

  it("reuses an amount that its invoice reserved for another price, and keeps that amount at the next renewal", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, BTC, freshBtcAddress());
    await occupy({ ...BTC, address }, ["14720", "14719"]);
    const { json: first } = await shop.create(10, BTC);
    expect(first.paymentMethods[0].amount).toBe("0.00014706");
    await occupy({ ...BTC, address }, candidateUnits(14_718n, SATOSHI, { from: 0, to: 12 }));
    // 10 USD at 67,935 are 14,720 satoshi, rounded up: all amounts down to 14,707 are taken.
    shop.usd.BTC = "67935";
    expect((await renewed(shop, first.id)).paymentMethods[0].amount).toBe("0.00014706");
    await freeAmounts({ ...BTC, address }, [14_719n]);
    expect((await renewed(shop, first.id)).paymentMethods[0].amount).toBe("0.00014706");
    const own = (await held(address)).filter(({ merchantId }) => merchantId === shop.merchantId);
    expect(own).toMatchObject([{ units: 14_706n, priceUnits: 14_720n }]);
  });

  it("is AMOUNTS_EXHAUSTED while the new price has no free amount, even if another method of the invoice has a free amount", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, USDC, freshEvmAddress());
    await register(shop, BTC, freshBtcAddress());
    const { json: first } = await shop.create(TINY.rawAmount, USDC, BTC);
    shop.usd.USDC = "0.99";
    // 0.002 USD at 0.99 are 2,021 units, and the amounts for them are 2,021 down to 2,011.
    await occupy({ ...USDC, address }, candidateUnits(2_021n, SATOSHI, { from: 0, to: 11 }));
    const reasons = (body: Body) =>
      Object.fromEntries(body.paymentMethods.map((method: Body) => [method.cryptocurrency, method.reason]));
    expect(reasons(await renewed(shop, first.id))).toEqual({ BTC: null, USDC: "AMOUNTS_EXHAUSTED" });
    const pick = await shop.post(`/invoices/${first.id}/payment-methods`, USDC);
    expect([pick.status, pick.json.code]).toEqual([409, "AMOUNTS_EXHAUSTED"]);
    const listed = await shop.send(`/invoices/${first.id}/payment-methods`);
    expect(reasons({ paymentMethods: listed.json.data })).toEqual({ BTC: null, USDC: "AMOUNTS_EXHAUSTED" });
    await freeAmounts({ ...USDC, address }, [2_013n]);
    const { json: mended } = await shop.send(`/invoices/${first.id}`);
    expect(reasons(mended)).toEqual({ BTC: null, USDC: null });
  });

  it("gives each of many invoices its own amount, which is the plain one if no other invoice has its price", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, BTC, freshBtcAddress());
    const { address: other } = await register(shop, USDC, freshEvmAddress());
    const made: Body[] = [];
    for (let i = 0; i < 4; i++) made.push((await shop.create(10 + i, USDC, ...(i < 3 ? [BTC] : []))).json);
    shop.usd.BTC = "60000";
    shop.usd.USDC = "0.9";
    const bodies = await Promise.all(made.map(({ id }) => renewed(shop, id)));
    for (const body of bodies)
      for (const method of body.paymentMethods) expect([method.status, method.reason]).toEqual(["ACTIVE", null]);
    expect(await held(address)).toHaveLength(6);
    // Each USDC price belongs to a single invoice.
    for (const { units, priceUnits } of await held(other)) expect(units).toBe(priceUnits);
    expect(await held(other)).toHaveLength(8);
  });

  it("gives each of sixteen invoices that compete for one new price a separate amount", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, BTC, freshBtcAddress());
    const made: Body[] = [];
    for (let i = 0; i < 16; i++) made.push((await shop.create(10, BTC)).json);
    shop.usd.BTC = "60000";
    const bodies = await Promise.all(made.map(({ id }) => renewed(shop, id)));
    expect(new Set(bodies.map((body) => body.paymentMethods[0].amount)).size).toBe(16);
    expect(await held(address)).toHaveLength(32);
  });
});

describe("a shared address", () => {
  it("gives each of two unproven merchants half of the amounts for unproven merchants, counted across neighbouring prices", async () => {
    const [shop, other] = [await freshShop(), await freshShop()];
    const { address } = await register(shop, USDC, freshEvmAddress());
    await occupy({ ...USDC, address }, ["1999"], { merchantId: shop.merchantId });
    await register(other, USDC, address);
    // 19 amounts lie within half a percent of the cheapest price that could ask for 2,000 units. The limit is a quarter of them: four.
    expect(statusesOf(await shop.create(TINY.rawAmount, USDC))).toEqual([201, "ACTIVE"]);
    expect(statusesOf(await shop.create(TINY.rawAmount, USDC))).toEqual([201, "LIMIT_REACHED"]);
    // The merchant holds no amounts near this more distant price yet.
    expect(statusesOf(await shop.create(0.003, USDC))).toEqual([201, "ACTIVE"]);
    for (let i = 0; i < 2; i++) expect(statusesOf(await other.create(TINY.rawAmount, USDC))).toEqual([201, "ACTIVE"]);
    expect(statusesOf(await other.create(TINY.rawAmount, USDC))).toEqual([201, "LIMIT_REACHED"]);
  });
});

describe("the gap warning", () => {
  it("is sent for both extended keys of the same invoices when they reach their thresholds", async () => {
    const shop = await freshShop();
    for (const [pair, path] of [
      [BTC, "m/84'/0'/0'"],
      [LTC, "m/84'/2'/0'"],
    ] as const) {
      const wallet = { walletType: "XPUB_WALLET", ...pair, xpub: freshKey(path).zpub, derivationPath: path };
      expect((await shop.post("/wallets", wallet)).status).toBe(201);
    }
    for (let i = 0; i < 16; i++) expect(statusesOf(await shop.create(10, BTC, LTC))).toEqual([201, "ACTIVE,ACTIVE"]);
    const rows = await testDb.select().from(events).where(eq(events.merchantId, shop.merchantId));
    const warned = rows.filter(({ type }) => type === "wallet.gap_limit_warning").map(({ data }) => JSON.parse(data));
    expect(warned.map(({ network, gap }) => [network, gap]).sort()).toEqual([
      ["BTC", 15],
      ["LTC", 15],
    ]);
  });
});
