// A row that cannot be decoded must affect its own merchant only. A read that finds it credits all other invoices, logs the row, and leaves transfers
// that could be meant for it UNMATCHED.
import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { BTC, btcKey, ETH, ethAddress, marketShop } from "../../support/market-shop.ts";
import { unitsOf } from "../../support/shared-place.ts";
import { testDb } from "../../support/worker-merchant.ts";

const HELD = { status: "UNMATCHED", invoiceId: null } as const;

afterEach(() => vi.restoreAllMocks());

/** Collects alerts that are logged from now on. */
function alerts(): () => readonly string[] {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  return () => log.mock.calls.map(([line]) => String(line));
}

const POISONS: readonly [string, (id: InvoiceId) => PromiseLike<unknown>][] = [
  ["an invoice whose amount", (id) => testDb.run(sql`update invoices set amount_micros = 'ten' where id = ${id}`)],
  [
    "an invoice whose tolerance",
    (id) => testDb.run(sql`update invoices set underpaid_tolerance_micros = 1.5 where id = ${id}`),
  ],
  [
    "a method whose amount",
    (id) => testDb.run(sql`update payment_methods set amount_units = 'ten' where invoice_id = ${id}`),
  ],
  [
    "a method whose quote",
    (id) => testDb.run(sql`update payment_methods set quote_for_micros = 'ten' where invoice_id = ${id}`),
  ],
];

describe.each(POISONS)("%s is not a number", (_, poison) => {
  it("does not prevent credits to other invoices in the same read, and its own payment is UNMATCHED", async () => {
    const shop = await marketShop(BTC, btcKey());
    const [bad, good] = [await shop.invoice(100), await shop.invoice(100)];
    await poison(bad.id);
    const logged = alerts();
    const [lost, paid] = [shop.transfer(bad.address, 5_000_000n), shop.transfer(good.address, 5_000_000n)];
    expect(await shop.look([lost, paid])).toMatchObject({ ok: true });
    expect(await shop.invoiceState(good.id)).toMatchObject({ status: "PAID", received: 100 });
    const row = await shop.payment(lost);
    expect(row).toMatchObject({ ...HELD, merchantId: shop.merchantId });
    expect(JSON.parse(row?.evidence ?? "").candidates).toEqual([{ invoiceId: bad.id, reason: "AMBIGUOUS" }]);
    expect(logged().filter((line) => line.includes(bad.id) && !line.includes("ten"))).toHaveLength(1);
    expect(await shop.look([lost, paid])).toEqual({ ok: true, value: { invoices: [] } });
  });

  it("at a shared address allows credits to other invoices by their exact amount only, until it has expired", async () => {
    const shop = await marketShop(ETH, ethAddress());
    const [bad, good] = [await shop.invoice(300), await shop.invoice(100)];
    await poison(bad.id);
    const logged = alerts();
    const units = unitsOf(good.amount, 18);
    const near = shop.transfer(good.address, units - 1_000_000_000n);
    const own = shop.transfer(good.address, unitsOf(bad.amount, 18));
    const exact = shop.transfer(good.address, units);
    expect(await shop.look([near, own, exact])).toMatchObject({ ok: true });
    for (const each of [near, own]) {
      const row = await shop.payment(each);
      expect(row).toMatchObject(HELD);
      expect(JSON.parse(row?.evidence ?? "").candidates).toContainEqual({ invoiceId: bad.id, reason: "AMBIGUOUS" });
    }
    expect(await shop.payment(exact)).toMatchObject({ invoiceId: good.id, matchedBy: "EXACT_AMOUNT" });
    expect(logged().filter((line) => line.includes(bad.id))).toHaveLength(2);
    await testDb.run(sql`update invoices set expires_at_ms = 1, monitor_until_ms = 1 where id = ${bad.id}`);
    const third = shop.transfer(good.address, units - 2_000_000_000n);
    await shop.look([third]);
    expect((await shop.payment(third))?.invoiceId).toBe(good.id);
  });
});

it.each([
  ["does not block a merchant with more proof of the address", { bad: 3, good: 2 }],
  ["blocks a merchant with less proof of the address", { bad: 2, good: 3 }],
])("an unreadable invoice %s", async (_, ranks) => {
  const shop = await marketShop(ETH, ethAddress());
  const [bad, good] = [await shop.invoice(300), await shop.invoice(100)];
  await testDb.run(sql`update method_amounts set rank = ${ranks.bad} where invoice_id = ${bad.id}`);
  await testDb.run(sql`update method_amounts set rank = ${ranks.good} where invoice_id = ${good.id}`);
  await testDb.run(sql`update invoices set amount_micros = 'ten' where id = ${bad.id}`);
  const near = shop.transfer(good.address, unitsOf(good.amount, 18) - 1_000_000_000n);
  alerts();
  expect(await shop.look([near])).toMatchObject({ ok: true });
  const expected = ranks.good < ranks.bad ? { invoiceId: good.id, matchedBy: "TOLERANCE" } : HELD;
  expect(await shop.payment(near)).toMatchObject(expected);
});

it.each([
  ["blocks an exact payment if it asked for that amount first", -1, HELD],
  ["does not block an exact payment if it asked later", 1, { matchedBy: "EXACT_AMOUNT" }],
])("an unreadable invoice of a merchant without proof %s", async (_, laterMs, expected) => {
  const shop = await marketShop(ETH, ethAddress());
  const [bad, good] = [await shop.invoice(300), await shop.invoice(100)];
  const units = unitsOf(good.amount, 18);
  const atMs = Date.now() - 60_000;
  const held = sql`units = ${String(units)}`;
  await testDb.run(sql`update method_amounts set rank = 2, created_at_ms = ${atMs} where invoice_id = ${good.id}`);
  await testDb.run(
    sql`update method_amounts set rank = 3, created_at_ms = ${atMs + laterMs}, ${held} where invoice_id = ${bad.id}`,
  );
  await testDb.run(sql`update invoices set amount_micros = 'ten' where id = ${bad.id}`);
  alerts();
  const exact = shop.transfer(good.address, units);
  expect(await shop.look([exact])).toMatchObject({ ok: true });
  expect(await shop.payment(exact)).toMatchObject(expected);
});

it("a reserved amount that is not a number does not prevent credits at its address", async () => {
  const shop = await marketShop(ETH, ethAddress());
  const [bad, good] = [await shop.invoice(300), await shop.invoice(100)];
  const near = unitsOf(good.amount, 18) - 1_000_000_000n;
  const text = `${String(near).slice(0, -1)}x`;
  await testDb.run(sql`update method_amounts set units = ${text} where invoice_id = ${bad.id}`);
  const transfer = shop.transfer(good.address, near);
  expect(await shop.look([transfer])).toMatchObject({ ok: true });
  expect(await shop.payment(transfer)).toMatchObject({ invoiceId: good.id, matchedBy: "TOLERANCE" });
});

it("a stored payment that cannot be decoded is logged and left unchanged, and does not prevent other credits", async () => {
  const shop = await marketShop(BTC, btcKey());
  const [first, second] = [await shop.invoice(100), await shop.invoice(100)];
  const [known, fresh] = [shop.transfer(first.address, 5_000_000n), shop.transfer(second.address, 5_000_000n)];
  await shop.look([known]);
  const { id } = (await shop.payment(known)) ?? {};
  await testDb.run(sql`update payments set usd_micros = 'ten' where id = ${id}`);
  const logged = alerts();
  expect(await shop.look([known, fresh])).toMatchObject({ ok: true });
  expect(await shop.invoiceState(second.id)).toMatchObject({ status: "PAID" });
  expect(logged().filter((line) => line.includes(String(id)))).toHaveLength(1);
  expect(await testDb.$count(payments, eq(payments.txHash, known.txHash))).toBe(1);
  await testDb.run(sql`update payments set usd_micros = null where id = ${id}`);
});
