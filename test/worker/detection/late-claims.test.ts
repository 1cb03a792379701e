// Payments at a shared address are public before they are read. An invoice that asks for an amount after it was paid must not take the payment from
// another invoice.
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { holderOf, type Ordered, ordered, prove, unitsOf } from "../../support/shared-place.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import { type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt, look, rowsOf, transferTo } from "./transfers-harness.ts";

const SECOND_MS = 1_000;

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

/** Changes an invoice's amount as if it had been allocated at that time. */
async function askedAt({ invoiceId }: Ordered, createdAtMs: number): Promise<void> {
  await testDb.update(methodAmounts).set({ createdAtMs }).where(eq(methodAmounts.invoiceId, invoiceId));
}

/** Applies a transfer in a block of this time; returns, for each merchant there, the invoice that was credited, or null. */
async function read(address: string, units: bigint, timeMs: number) {
  const transfer = transferTo(address, units, { block: blockAt(100, timeMs) });
  expect((await look([transfer], { nowMs: timeMs + 15 * SECOND_MS })).ok).toBe(true);
  const rows = await rowsOf(transfer.txHash);
  return new Map(rows.map(({ merchantId, invoiceId }) => [merchantId, invoiceId]));
}

async function shops(isProven: boolean): Promise<readonly [TestMerchant, TestMerchant]> {
  const wallet = directWallet();
  const shop = await holderOf(wallet);
  if (isProven) await prove(shop, USDT, { usd: 60, decimals: 6 });
  return [shop, await holderOf(wallet)];
}

describe.each([true, false])(
  "a payment that differs from the requested amount (its merchant has proof: %s)",
  (isProven) => {
    it("is UNMATCHED for both merchants if another merchant asked for exactly the paid amount after the payment", async () => {
      const [shop, stranger] = await shops(isProven);
      const mine = await ordered(shop, USDT, 100);
      const theirs = await ordered(stranger, USDT, 97);
      const timeMs = Date.now();
      await askedAt(mine, timeMs - 60 * SECOND_MS);
      await askedAt(theirs, timeMs + 10 * SECOND_MS);
      const rows = await read(mine.address, 97_000_000n, timeMs);
      expect(rows).toEqual(
        new Map([
          [shop.merchantId, null],
          [stranger.merchantId, null],
        ]),
      );
    });
  },
);

describe("a payment whose amount was reserved just after it was made", () => {
  it("is credited to the invoice that reserved it when nobody else asked for a similar amount", async () => {
    const [shop, stranger] = await shops(false);
    const mine = await ordered(shop, USDT, 97);
    const theirs = await ordered(stranger, USDT, 2_000);
    const timeMs = Date.now();
    await askedAt(theirs, timeMs - 60 * SECOND_MS);
    await askedAt(mine, timeMs + 10 * SECOND_MS);
    expect([...(await read(mine.address, 97_000_000n, timeMs)).values()]).toEqual([mine.invoiceId]);
  });

  it("is credited to the invoice that reserved it even if its merchant has other invoices", async () => {
    const shop = await holderOf(directWallet());
    const [first, second] = [await ordered(shop, USDT, 100), await ordered(shop, USDT, 97)];
    const timeMs = Date.now();
    await askedAt(first, timeMs - 60 * SECOND_MS);
    await askedAt(second, timeMs + 10 * SECOND_MS);
    expect([...(await read(first.address, 97_000_000n, timeMs)).values()]).toEqual([second.invoiceId]);
  });

  it("is UNMATCHED when a merchant without proof reserved the amount before the payment, and one with proof after it", async () => {
    const [shop, stranger] = await shops(true);
    const theirs = await ordered(stranger, USDT, 25);
    const mine = await ordered(shop, USDT, 25);
    // Gives the shop's invoice the stranger's amount, as if no other amount close to the price had been free.
    await testDb
      .update(methodAmounts)
      .set({ units: unitsOf(theirs.amount, 6) })
      .where(eq(methodAmounts.invoiceId, mine.invoiceId));
    const timeMs = Date.now();
    await askedAt(theirs, timeMs - 60 * SECOND_MS);
    await askedAt(mine, timeMs + 10 * SECOND_MS);
    const units = unitsOf(theirs.amount, 6);
    expect([...(await read(mine.address, units, timeMs)).values()]).toEqual([null, null]);
    // A payment made after the proven merchant asked is UNMATCHED too: proof can be bought, and the other invoice asked first.
    const after = await read(mine.address, units, timeMs + 10 * SECOND_MS);
    expect([...after.values()]).toEqual([null, null]);
  });
});
