// A payment method whose row cannot be read must affect its own invoice only: payments of other invoices are credited and priced, its own are
// UNMATCHED, and at a shared address the rules that compare invoices credit no one.
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { pricePayments } from "../../../src/detection/matching/price-payments.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { BTC, btcKey, ETH, ethAddress, marketShop } from "../../support/market-shop.ts";
import { ageQuotes } from "../../support/quotes.ts";
import { unitsOf } from "../../support/shared-place.ts";
import { testDb } from "../../support/worker-merchant.ts";

/** Text that is not JSON, JSON that is not a list of quotes, and quotes without their members. */
const UNREADABLE = ["[", "7", "[null]", "[{}]"];
const HELD = { status: "UNMATCHED", invoiceId: null } as const;

const corruptQuotes = (id: InvoiceId, quotes = "[") =>
  testDb.update(paymentMethods).set({ quotes }).where(eq(paymentMethods.invoiceId, id));
async function alertsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await run();
  return log.mock.calls.map(([line]) => String(line));
}

afterEach(() => vi.restoreAllMocks());

describe.each(UNREADABLE)("a payment method whose stored quotes are %s", (quotes) => {
  it("does not prevent credits to other invoices in the same read, and its own payment is UNMATCHED", async () => {
    const shop = await marketShop(BTC, btcKey());
    const [bad, good] = [await shop.invoice(100), await shop.invoice(100)];
    await corruptQuotes(bad.id, quotes);
    const [lost, paid] = [shop.transfer(bad.address, 5_000_000n), shop.transfer(good.address, 5_000_000n)];
    const alerts = await alertsOf(async () => expect(await shop.look([lost, paid])).toMatchObject({ ok: true }));
    expect(await shop.invoiceState(good.id)).toMatchObject({ status: "PAID", received: 100 });
    const row = await shop.payment(lost);
    expect(row).toMatchObject({ ...HELD, merchantId: shop.merchantId });
    expect(JSON.parse(row?.evidence ?? "").candidates).toEqual([{ invoiceId: bad.id, reason: "AMBIGUOUS" }]);
    expect(alerts.filter((line) => line.includes(bad.id))).toHaveLength(1);
    // Reading both again changes nothing.
    expect(await shop.look([lost, paid])).toEqual({ ok: true, value: { invoices: [] } });
  });

  it("does not prevent later pricing of other invoices' payments", async () => {
    const shop = await marketShop(BTC, btcKey());
    const [first, bad, last] = [await shop.invoice(100), await shop.invoice(100), await shop.invoice(100)];
    for (const { id, address } of [first, bad, last]) {
      await ageQuotes(testDb, id, 3 * HOUR_MS);
      shop.rate.usd = null;
      await shop.look([shop.transfer(address, 5_000_000n)]);
      shop.rate.usd = "2000";
    }
    await corruptQuotes(bad.id, quotes);
    const alerts = await alertsOf(() => pricePayments(shop.dependencies()));
    expect(alerts.filter((line) => line.includes(bad.id))).toHaveLength(1);
    for (const { id } of [first, last])
      expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
    await testDb.delete(payments).where(eq(payments.invoiceId, bad.id));
  });

  it("at a shared address allows credits to other invoices by their exact amount only", async () => {
    const shop = await marketShop(ETH, ethAddress());
    const [bad, good] = [await shop.invoice(300), await shop.invoice(100)];
    await corruptQuotes(bad.id, quotes);
    const units = unitsOf(good.amount, 18);
    const near = shop.transfer(good.address, units - 1_000_000_000n);
    const own = shop.transfer(good.address, unitsOf(bad.amount, 18));
    const exact = shop.transfer(good.address, units);
    const alerts = await alertsOf(async () => {
      for (const each of [near, own, exact]) expect(await shop.look([each])).toMatchObject({ ok: true });
    });
    expect(await shop.payment(near)).toMatchObject(HELD);
    expect(await shop.payment(own)).toMatchObject(HELD);
    expect(await shop.payment(exact)).toMatchObject({ invoiceId: good.id, matchedBy: "EXACT_AMOUNT" });
    expect(alerts.filter((line) => line.includes(bad.id))).toHaveLength(2);
  });
});

it("an unreadable payment method of a cancelled invoice does not restrict matching at its address", async () => {
  const shop = await marketShop(ETH, ethAddress());
  const [bad, good] = [await shop.invoice(300), await shop.invoice(100)];
  expect((await shop.send(`/invoices/${bad.id}/cancel`, { method: "POST", body: {} })).status).toBe(200);
  await corruptQuotes(bad.id);
  const near = shop.transfer(good.address, unitsOf(good.amount, 18) - 1_000_000_000n);
  await shop.look([near]);
  expect(await shop.payment(near)).toMatchObject({ invoiceId: good.id, matchedBy: "TOLERANCE" });
});
