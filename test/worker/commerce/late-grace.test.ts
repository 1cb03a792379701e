// A merchant's grace period after an invoice's end: a payment within it counts as if it were on time, at the price that was locked.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../src/lib/time.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { BTC, btcKey, ETH, ethAddress, marketShop } from "../../support/market-shop.ts";
import { ageQuotes } from "../../support/quotes.ts";
import { testDb } from "../../support/worker-merchant.ts";

type Shop = Awaited<ReturnType<typeof marketShop>>;
const GRACE_MINUTES = 45;

/** A shop whose rates are locked until an invoice ends, and whose grace period after that is 45 minutes. */
async function gracious(pair: typeof ETH, wallet: object): Promise<Shop> {
  const shop = await marketShop(pair, wallet);
  const body = { lateGraceSeconds: GRACE_MINUTES * 60, rateLockSeconds: 86_400 };
  expect((await shop.send("/settings", { method: "PATCH", body })).status).toBe(200);
  return shop;
}

/** Moves the invoice's times back, so that it ended this many minutes ago. */
async function ended(id: `inv_${string}`, minutes: number): Promise<void> {
  const [row] = await testDb.select().from(invoices).where(eq(invoices.id, id));
  if (row === undefined) throw new Error("no invoice");
  const byMs = row.expiresAtMs - (Date.now() - minutes * MINUTE_MS);
  await ageQuotes(testDb, id, byMs);
  const graceMs = row.lateGraceUntilMs === null ? null : row.lateGraceUntilMs - byMs;
  const times = { expiresAtMs: row.expiresAtMs - byMs, monitorUntilMs: row.monitorUntilMs - byMs };
  await testDb
    .update(invoices)
    .set({ ...times, lateGraceUntilMs: graceMs })
    .where(eq(invoices.id, id));
}

const shown = async (shop: Shop, id: string) => (await shop.send(`/invoices/${id}`)).json;
const resolve = (shop: Shop, id: string, action: string) =>
  shop.send(`/invoices/${id}/resolve`, { method: "POST", body: { action, reason: "They called us" } });
const eventsOf = async (id: `inv_${string}`) => {
  const rows = await testDb.select({ type: events.type }).from(events).where(eq(events.invoiceId, id));
  return rows.map(({ type }) => type);
};

describe.each([
  ["its own address", BTC, btcKey, 10n ** 8n],
  ["a shared address", ETH, ethAddress, 10n ** 18n],
] as const)("an invoice at %s whose coin has lost half its price", (_, pair, wallet, decimals) => {
  it("is paid by the requested amount within the grace period, although it has expired", async () => {
    const shop = await gracious(pair, wallet());
    const { id, address } = await shop.invoice(100);
    await ended(id, GRACE_MINUTES - 1);
    const expired = await shown(shop, id);
    expect(expired.status).toBe("EXPIRED");
    expect(Date.parse(expired.lateGraceUntil) - Date.parse(expired.expiresAt)).toBe(GRACE_MINUTES * MINUTE_MS);
    shop.rate.usd = "1000";
    const transfer = shop.transfer(address, decimals / 20n);
    await shop.look([transfer]);
    const paid = await shown(shop, id);
    expect(paid).toMatchObject({ status: "PAID", amountConfirmed: "100.000000", isLate: false, needsReview: false });
    expect(await shop.payment(transfer)).toMatchObject({ weighedBy: "EXACT_UNITS", fiatMicros: 100_000_000n });
    const types = await eventsOf(id);
    expect(types).toEqual(expect.arrayContaining(["invoice.expired", "invoice.paid"]));
    expect(types).not.toContain("invoice.payment_late");
  });

  it("needs a decision about a payment after the grace period", async () => {
    const shop = await gracious(pair, wallet());
    const { id, address } = await shop.invoice(100);
    await ended(id, GRACE_MINUTES + 1);
    shop.rate.usd = "1000";
    await shop.look([shop.transfer(address, decimals / 20n)]);
    const late = await shown(shop, id);
    expect(late).toMatchObject({ status: "EXPIRED", amountReceived: "0.000000", isLate: true, needsReview: true });
    expect(await eventsOf(id)).toContain("invoice.payment_late");
  });

  it("without a grace period needs a decision about any payment after its end", async () => {
    const shop = await gracious(pair, wallet());
    const { id, address } = await shop.invoice(100);
    // The previous release writes rows without a grace period.
    await testDb.update(invoices).set({ lateGraceUntilMs: null }).where(eq(invoices.id, id));
    await ended(id, 1);
    await shop.look([shop.transfer(address, decimals / 20n)]);
    const late = await shown(shop, id);
    expect(late).toMatchObject({ status: "EXPIRED", isLate: true, needsReview: true, lateGraceUntil: null });
  });
});

describe("the grace period", () => {
  it("applies the locked price to a partial payment and to the payment of the rest", async () => {
    const shop = await gracious(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    await ended(id, GRACE_MINUTES - 1);
    shop.rate.usd = "1000";
    await shop.look([shop.transfer(address, 3_000_000n)]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "UNDERPAID", received: 60, needsReview: false });
    await shop.look([shop.transfer(address, 2_000_000n)]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100, needsReview: false });
  });

  it("ends once money has been sent back: earlier payments count, and later ones need a decision", async () => {
    const shop = await gracious(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    await ended(id, 5);
    await shop.look([shop.transfer(address, 3_000_000n)]);
    const returned = await resolve(shop, id, "RETURNED");
    expect(returned.json).toMatchObject({ status: "UNDERPAID", amountReceived: "60.000000", lateGraceUntil: null });
    await shop.look([shop.transfer(address, 2_000_000n)]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "UNDERPAID", received: 60, needsReview: true });
    expect((await resolve(shop, id, "RETURNED")).status).toBe(200);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "UNDERPAID", received: 60, needsReview: false });
  });

  it("does not apply to a cancelled invoice", async () => {
    const shop = await gracious(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    const cancelled = await shop.send(`/invoices/${id}/cancel`, { method: "POST", body: {} });
    expect(cancelled.json).toMatchObject({ status: "CANCELLED", lateGraceUntil: null });
    await shop.look([shop.transfer(address, 5_000_000n)]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "CANCELLED", received: 0, needsReview: true });
  });

  it("of an invoice is fixed when it is created, even if the setting changes later", async () => {
    const shop = await gracious(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    expect((await shop.send("/settings", { method: "PATCH", body: { lateGraceSeconds: 0 } })).status).toBe(200);
    await ended(id, 5);
    await shop.look([shop.transfer(address, 5_000_000n)]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100, needsReview: false });
  });

  it("does not apply to a payment of exactly the rest that the page asks for at today's price", async () => {
    const shop = await gracious(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    await shop.look([shop.transfer(address, 2_500_000n)]);
    await ended(id, 30);
    expect((await shown(shop, id)).status).toBe("UNDERPAID");
    shop.rate.usd = "4000";
    expect((await resolve(shop, id, "ASK_FOR_REST")).status).toBe(200);
    const [method] = (await shown(shop, id)).paymentMethods;
    expect(method.amountDue).toBe("0.0125");
    await shop.look([shop.transfer(address, 1_250_000n, Date.now() + 1_000)]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
  });
});
