// Addresses are public, so registering one proves nothing. A merchant's rank on a shared address comes from payments that it received there itself
// (decisions 12, "Shared addresses and keys").
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { encodeBase58check } from "../../../src/chains/encodings/address-text.ts";
import { PROVEN, UNPROVEN } from "../../../src/commerce/ranks/rank.ts";
import { addressProofs } from "../../../src/platform/db/schema/address-proofs.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { freeAmounts } from "../../support/amounts.ts";
import { inTens } from "../../support/public-shop.ts";
import {
  amountsAt,
  expectStatus,
  holderOf,
  holdersOf,
  type Ordered,
  ordered,
  paid,
  prove,
  takeAll,
  unitsOf,
  vanish,
} from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const DAY_SECONDS = 86_400;
const btcWallet = () => {
  const hash = crypto.getRandomValues(new Uint8Array(20));
  return { walletType: "DIRECT_WALLET", ...BTC, address: encodeBase58check(Uint8Array.from([0, ...hash])) };
};

/** Creates invoices, ten at a time; returns the amount and address of each, or the reason why it has none. */
async function orders(count: number, of: (n: number) => Promise<Ordered>): Promise<string[]> {
  const got = await inTens(count, of);
  return got.map(({ status, reason, amount, address }) => (status === "ACTIVE" ? `${amount} ${address}` : reason));
}

describe("strangers who take all the amounts or addresses they can", () => {
  it.each([2, 20])(
    "leave a proven merchant 200 invoices of one price when %i of them share its address",
    async (count) => {
      const wallet = directWallet();
      const shop = await holderOf(wallet);
      await prove(shop, USDT, { usd: 60, decimals: 6 });
      const strangers = await holdersOf(count, wallet);
      const taken = await Promise.all(strangers.map((stranger) => takeAll(stranger, USDT, 10, 40)));
      expect(taken.map(({ length }) => length)).toEqual(Array(count).fill(8));
      const mine = await orders(200, () => ordered(shop, USDT, 10));
      expect(new Set(mine).size).toBe(200);
      expect(mine.filter((each) => !/^\d/.test(each))).toEqual([]);
    },
  );

  it("can hold only a quarter of an address's amounts when there are few amounts, and leave a proven merchant every amount of its price", async () => {
    const wallet = btcWallet();
    const shop = await holderOf(wallet);
    await prove(shop, BTC, { usd: 60, decimals: 8 });
    const strangers = await holdersOf(6, wallet);
    await Promise.all(strangers.map((stranger) => takeAll(stranger, BTC, 10, 40)));
    const theirs = (await amountsAt(wallet.address)).filter(({ rank }) => rank === UNPROVEN);
    // 10 USD is 14,706 satoshi. 147 amounts lie within half a percent, 74 of them at or below the price. One more amount belongs to the shop's first
    // invoice, of 60 USD.
    expect(theirs.filter(({ merchantId }) => merchantId !== shop.merchantId)).toHaveLength(36);
    for (let n = 0; n < 74; n++) expect(await ordered(shop, BTC, 10)).toMatchObject({ status: "ACTIVE" });
    expect(await ordered(shop, BTC, 10)).toMatchObject({ status: "UNAVAILABLE", reason: "AMOUNTS_EXHAUSTED" });
  });

  it("leave an unproven merchant its own amounts at each of 25 prices", async () => {
    const wallet = directWallet();
    const shop = await holderOf(wallet);
    const strangers = await holdersOf(20, wallet);
    await Promise.all(strangers.map((stranger) => takeAll(stranger, USDT, 10, 40)));
    const mine = await orders(200, (n) => ordered(shop, USDT, 10 + Math.floor(n / 8)));
    expect(mine.filter((each) => !/^\d/.test(each))).toEqual([]);
    expect(await ordered(shop, USDT, 10)).toMatchObject({ status: "UNAVAILABLE", reason: "LIMIT_REACHED" });
  });

  it("can each hold only two addresses of a key, even if there are twenty strangers, and leave 200 addresses to a proven merchant", async () => {
    const wallet = xpubWallet();
    const shop = await holderOf(wallet);
    await prove(shop, BTC, { usd: 60, decimals: 8 });
    const strangers = await holdersOf(20, wallet);
    const taken = await Promise.all(strangers.map((stranger) => takeAll(stranger, BTC, 10, 10)));
    expect(taken.map(({ length }) => length)).toEqual(Array(20).fill(2));
    const mine = await orders(200, () => ordered(shop, BTC, 10));
    const addresses = mine.map((each) => each.split(" ")[1]);
    expect(addresses.filter((each) => each === undefined)).toEqual([]);
    expect(new Set([...addresses, ...taken.flat().map(({ address }) => address)]).size).toBe(240);
  });

  it("get no more amounts by requesting them all at once", async () => {
    const wallet = btcWallet();
    const strangers = await holdersOf(6, wallet);
    const asked = strangers.flatMap((stranger) => Array.from({ length: 12 }, () => stranger));
    const body = { name: "Order", rawAmount: 10, paymentMethods: [BTC] };
    const answers = await Promise.all(asked.map((stranger) => stranger.post("/invoices", body)));
    expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 503)).toEqual([]);
    const rows = await amountsAt(wallet.address);
    expect(rows.length).toBeLessThanOrEqual(36);
    for (const held of Map.groupBy(rows, ({ merchantId }) => merchantId).values())
      expect(held.length).toBeLessThanOrEqual(8);
  });
});

describe("an unproven merchant", () => {
  it("is not limited at an address that no other merchant has", async () => {
    const shop = await holderOf(btcWallet());
    const long = { expiresInSeconds: 30 * DAY_SECONDS };
    for (let n = 0; n < 74; n++) expect(await ordered(shop, BTC, 10, long)).toMatchObject({ status: "ACTIVE" });
  });

  it("is not limited by a wallet of a deleted merchant", async () => {
    const wallet = btcWallet();
    const before = await holderOf(wallet);
    const shop = await holderOf(wallet);
    await testDb.update(merchants).set({ deletedAtMs: Date.now() }).where(eq(merchants.id, before.merchantId));
    for (let n = 0; n < 20; n++) expect(await ordered(shop, BTC, 10)).toMatchObject({ status: "ACTIVE" });
  });

  it("learns about each limit that it reaches, and nothing about other merchants", async () => {
    const wallet = directWallet();
    const [shop] = await Promise.all([holderOf(wallet), holderOf(wallet)]);
    const picked = async (invoice: Ordered) =>
      expectStatus(shop.post(`/invoices/${invoice.invoiceId}/payment-methods`, USDT), 422);
    const long = await ordered(shop, USDT, 10, { expiresInSeconds: DAY_SECONDS + 1 });
    expect(long).toMatchObject({ status: "UNAVAILABLE", reason: "LIMIT_REACHED", address: null });
    expect(await picked(long)).toMatchObject({ name: "lifetimeSecondsWithoutProof", limit: DAY_SECONDS });
    expect(await takeAll(shop, USDT, 10, 40)).toHaveLength(8);
    const ninth = await picked(await ordered(shop, USDT, 10));
    expect(ninth).toMatchObject({ code: "LIMIT_REACHED", name: "amountsWithoutProof", limit: 8 });
    expect(JSON.stringify(ninth)).not.toMatch(/shared|other|another/i);
  });

  it("keeps its amounts at a shared address reserved for at most a day", async () => {
    const wallet = directWallet();
    const [shop] = await Promise.all([holderOf(wallet), holderOf(wallet)]);
    const { invoiceId } = await ordered(shop, USDT, 10, { expiresInSeconds: DAY_SECONDS });
    const [row] = await testDb.select().from(methodAmounts).where(eq(methodAmounts.invoiceId, invoiceId));
    expect((row?.heldUntilMs ?? 0) - (row?.createdAtMs ?? 0)).toBeLessThanOrEqual(DAY_SECONDS * 1_000);
  });

  it("becomes proven with 50 USD paid exactly as requested, in several payments, and unproven again when those payments are gone", async () => {
    const wallet = directWallet();
    const [shop] = await Promise.all([holderOf(wallet), holderOf(wallet)]);
    await prove(shop, USDT, { usd: 30, decimals: 6 });
    const nextRank = async () => {
      const { invoiceId } = await ordered(shop, USDT, 5);
      const [row] = await testDb.select().from(methodAmounts).where(eq(methodAmounts.invoiceId, invoiceId));
      return row?.rank;
    };
    expect(await nextRank()).toBe(UNPROVEN);
    const second = await prove(shop, USDT, { usd: 20, decimals: 6 });
    expect(await nextRank()).toBe(PROVEN);
    await vanish(USDT, second);
    expect(await nextRank()).toBe(UNPROVEN);
    const proofs = await testDb.select().from(addressProofs).where(eq(addressProofs.merchantId, shop.merchantId));
    expect(proofs.map(({ confirmedUsdMicros }) => confirmedUsdMicros)).toEqual([30_000_000n]);
  });
});

describe("proven and unproven merchants at one address", () => {
  it.each(["with", "without"])(
    "get different amounts for one price while others are free (the merchant %s proof asks second)",
    async (which) => {
      const wallet = directWallet();
      const holders = [await holderOf(wallet), await holderOf(wallet)] as const;
      await prove(holders[0], USDT, { usd: 60, decimals: 6 });
      const [first, second] = which === "with" ? holders.toReversed() : holders;
      const theirs = await ordered(first ?? holders[0], USDT, 25);
      const mine = await ordered(second ?? holders[0], USDT, 25);
      expect([mine.status, mine.amount === theirs.amount]).toEqual(["ACTIVE", false]);
      const rows = await paid(USDT, mine.address, unitsOf(theirs.amount, 6));
      expect(rows.map(({ invoiceId, matchedBy }) => [invoiceId, matchedBy])).toEqual([
        [theirs.invoiceId, "EXACT_AMOUNT"],
      ]);
    },
  );

  it("get the same amount if no other is free; if the unproven merchant got it first, a payment is credited to neither", async () => {
    // At 0.40 USD in bitcoin, 589 satoshi, there are three amounts.
    const wallet = btcWallet();
    const shop = await holderOf(wallet);
    const mine = await ordered(shop, BTC, 0.4);
    for (let n = 0; n < 2; n++) expect(await ordered(shop, BTC, 0.4)).toMatchObject({ status: "ACTIVE" });
    const buyer = await holderOf(wallet);
    await prove(buyer, BTC, { usd: 60, decimals: 8 });
    const theirs = await ordered(buyer, BTC, 0.4);
    expect([mine.status, theirs.status, theirs.amount]).toEqual(["ACTIVE", "ACTIVE", mine.amount]);
    const rows = await paid(BTC, mine.address, unitsOf(mine.amount, 8));
    expect(rows.map(({ merchantId }) => merchantId).toSorted()).toEqual([shop.merchantId, buyer.merchantId].toSorted());
    expect(rows.map(({ status }) => status)).toEqual(["UNMATCHED", "UNMATCHED"]);
  });

  it("do not compete for a partial payment to the proven merchant, however close the amounts of the others' invoices are", async () => {
    const wallet = directWallet();
    const shop = await holderOf(wallet);
    await prove(shop, USDT, { usd: 60, decimals: 6 });
    const before = await amountsAt(wallet.address);
    await freeAmounts(
      { ...USDT, address: wallet.address },
      before.map(({ units }) => units),
    );
    await testDb.delete(methodAmounts).where(eq(methodAmounts.merchantId, shop.merchantId));
    const stranger = await holderOf(wallet);
    await ordered(stranger, USDT, 60.2);
    const mine = await ordered(shop, USDT, 100);
    const [payment] = await paid(USDT, mine.address, 60_100_000n);
    expect(payment).toMatchObject({ invoiceId: mine.invoiceId, matchedBy: "SOLE_CANDIDATE" });
  });

  it("get new amounts: a newly proven merchant does not reuse an amount that it held without proof", async () => {
    const wallet = directWallet();
    const [shop] = await Promise.all([holderOf(wallet), holderOf(wallet)]);
    const before = await ordered(shop, USDT, 10);
    await prove(shop, USDT, { usd: 60, decimals: 6 });
    const after = await ordered(shop, USDT, 10);
    expect(after.status).toBe("ACTIVE");
    expect(after.amount).not.toBe(before.amount);
  });
});
