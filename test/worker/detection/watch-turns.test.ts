// Every merchant with an active payment method must get turns in the watch of its network, however many others are active.
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { lapOf, newQueueOf, selectLaps, selectNewQueues } from "../../../src/detection/passes/turns/store.ts";
import { addressesOf, turnsOf } from "../../../src/detection/passes/turns/turn.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { watchTurns } from "../../../src/platform/db/schema/network-cursors.ts";
import { holderOf, ordered } from "../../support/shared-place.ts";
import { BTC, xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

async function askedAt(nowMs: number): Promise<readonly string[]> {
  const page = { nowMs, after: "" };
  const [news, laps] = await batch(testDb, [selectNewQueues(testDb, "BTC", page), selectLaps(testDb, "BTC", page)]);
  return addressesOf(turnsOf(news.map(newQueueOf), laps.map(lapOf)));
}

describe("the watch of a network that is read by address", () => {
  it("reads a merchant's newest address in each pass, however many another merchant activates", async () => {
    const shop = await holderOf(xpubWallet());
    const mine = await ordered(shop, BTC, 10);
    const flood = await holderOf(xpubWallet());
    for (let n = 0; n < 20; n++) await ordered(flood, BTC, 10);
    for (const laterMs of [0, 60 * 60_000]) expect(await askedAt(Date.now() + laterMs)).toContain(mine.address);
  });

  it("reads the address of a payment method that was UNAVAILABLE and becomes ACTIVE", async () => {
    const shop = await holderOf(xpubWallet());
    const mine = await ordered(shop, BTC, 10);
    const own = and(eq(watchTurns.network, "BTC"), eq(watchTurns.merchantId, shop.merchantId));
    await testDb.delete(watchTurns).where(own);
    const method = eq(paymentMethods.invoiceId, mine.invoiceId);
    await testDb.update(paymentMethods).set({ status: "UNAVAILABLE" }).where(method);
    expect(await testDb.$count(watchTurns, own)).toBe(0);
    await testDb.update(paymentMethods).set({ status: "ACTIVE" }).where(method);
    expect(await testDb.$count(watchTurns, own)).toBe(1);
    expect(await askedAt(Date.now())).toContain(mine.address);
  });
});
