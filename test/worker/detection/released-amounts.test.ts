// A payment is matched as of the time it was made, whenever it is read, even if the amounts reserved at that time have been released since.
import { env } from "cloudflare:workers";
import { and, eq, isNotNull, isNull } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { release } from "../../support/amounts.ts";
import { holderOf, ordered, unitsOf } from "../../support/shared-place.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import { type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt, look, rowsOf, transferTo } from "./transfers-harness.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MONTH_SECONDS = 30 * 86_400;

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

async function sweep(nowMs: number): Promise<void> {
  await expireInvoices(invoiceDependencies(env, { db: testDb, nowMs, sleep }));
  await release(nowMs);
}

/** The stored row of a transaction that was made at `timeMs`, and that the merchant looks up at `nowMs`. */
async function named(
  { shop, address }: { readonly shop: TestMerchant; readonly address: string },
  of: { readonly units: bigint; readonly timeMs: number; readonly nowMs: number },
) {
  const transfer = transferTo(address, of.units, { block: blockAt(100, of.timeMs) });
  expect((await look([transfer], { nowMs: of.nowMs, askedBy: shop.merchantId })).ok).toBe(true);
  const [row, ...others] = await rowsOf(transfer.txHash);
  expect(others).toEqual([]);
  return row;
}

/** Two invoices at one address: one for 25 USD that lasts an hour, and one for a similar amount that lasts a month. */
async function twoOrders() {
  const shop = await holderOf(directWallet());
  const short = await ordered(shop, USDT, 25);
  const long = await ordered(shop, USDT, 25.1, { expiresInSeconds: MONTH_SECONDS });
  return { shop, address: String(short.address), short, long };
}

describe("a payment that is read after its amount was released", () => {
  it("pays the invoice that asked for exactly that amount at the payment's time", async () => {
    const { short, long, ...at } = await twoOrders();
    const [timeMs, nowMs] = [Date.now() + 10 * MINUTE_MS, Date.now() + 27 * HOUR_MS];
    await sweep(nowMs);
    expect(
      await testDb.$count(
        methodAmounts,
        and(eq(methodAmounts.address, at.address), isNull(methodAmounts.releasedAtMs)),
      ),
    ).toBe(1);
    const row = await named(at, { units: unitsOf(short.amount, 6), timeMs, nowMs });
    expect(row).toMatchObject({ invoiceId: short.invoiceId, matchedBy: "EXACT_AMOUNT", isLate: false });
    expect((await at.shop.get(`/invoices/${short.invoiceId}`)).body.status).toBe("PAID");
    expect((await at.shop.get(`/invoices/${long.invoiceId}`)).body.amountReceived).toBe("0.000000");
  });

  it.each([25_050_000n, 24_990_000n, 25_100_001n, 12_000_000n])(
    "is UNMATCHED if no invoice asked for exactly that amount and two invoices were open when it was made: %s units",
    async (units) => {
      const { short, long, ...at } = await twoOrders();
      const timeMs = Date.now() + 10 * MINUTE_MS;
      const before = await named(at, { units, timeMs, nowMs: timeMs + MINUTE_MS });
      const nowMs = Date.now() + 27 * HOUR_MS;
      await sweep(nowMs);
      const after = await named(at, { units, timeMs, nowMs });
      expect([before?.invoiceId, after?.invoiceId]).toEqual([null, null]);
      expect(JSON.parse(String(after?.evidence)).candidates).toMatchObject([{ invoiceId: long.invoiceId }]);
      expect(short.invoiceId).not.toBe(long.invoiceId);
    },
  );

  it("is matched only among the invoices that were still open when it was made", async () => {
    const { long, ...at } = await twoOrders();
    const nowMs = Date.now() + 27 * HOUR_MS;
    await sweep(nowMs);
    const row = await named(at, { units: 25_050_000n, timeMs: nowMs - HOUR_MS / 2, nowMs });
    expect(row).toMatchObject({ invoiceId: long.invoiceId, matchedBy: "TOLERANCE" });
  });

  it("pays the first invoice, even if another one has reserved the amount in the meantime", async () => {
    const { short, ...at } = await twoOrders();
    const [timeMs, nowMs] = [Date.now() + 10 * MINUTE_MS, Date.now() + 27 * HOUR_MS];
    await sweep(nowMs);
    const next = await ordered(at.shop, USDT, 25);
    expect(next.amount).toBe(short.amount);
    await testDb.update(methodAmounts).set({ createdAtMs: nowMs }).where(eq(methodAmounts.invoiceId, next.invoiceId));
    const row = await named(at, { units: unitsOf(short.amount, 6), timeMs, nowMs: nowMs + MINUTE_MS });
    expect(row).toMatchObject({ invoiceId: short.invoiceId, matchedBy: "EXACT_AMOUNT" });
  });
});

describe("the record of a released amount", () => {
  it("is kept for forty days; an older payment of that amount is UNMATCHED", async () => {
    const { short, long: _, ...at } = await twoOrders();
    const timeMs = Date.now() + 10 * MINUTE_MS;
    const kept = () =>
      testDb.$count(methodAmounts, and(eq(methodAmounts.address, at.address), isNotNull(methodAmounts.releasedAtMs)));
    const counts: number[] = [];
    // The one-month invoice's amount is released after 31 days.
    for (const afterMs of [27 * HOUR_MS, 41 * DAY_MS, 42 * DAY_MS, 80 * DAY_MS]) {
      await sweep(Date.now() + afterMs);
      counts.push(await kept());
    }
    expect(counts).toEqual([1, 2, 1, 0]);
    const nowMs = Date.now() + 42 * DAY_MS;
    const row = await named(at, { units: unitsOf(short.amount, 6), timeMs, nowMs });
    expect(row).toMatchObject({ invoiceId: null, status: "UNMATCHED" });
  });
});
