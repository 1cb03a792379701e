// An invoice that cannot be read or settled must affect only its own merchant: it is reported, and is retried less and less often.
import { env, exports } from "cloudflare:workers";
import { eq, inArray, sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { chunksOf } from "../../../src/lib/chunks.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { unsettledInvoices } from "../../../src/platform/db/schema/unsettled-invoices.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import { watchMethod } from "../../support/watched.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const NOW = Date.now();
const sweepAt = (nowMs: number) => expireInvoices(invoiceDependencies(env, { db: testDb, nowMs, sleep }));
const clear = () =>
  testDb.batch([testDb.delete(unsettledInvoices), testDb.delete(invoices), testDb.delete(paymentMethods)]);

beforeEach(clear);
afterEach(clear);

async function created(shop: TestMerchant): Promise<InvoiceId> {
  const { body } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] });
  await testDb
    .update(invoices)
    .set({ expiresAtMs: NOW - 1 })
    .where(eq(invoices.id, body.id));
  return body.id;
}

async function freshShop(): Promise<TestMerchant> {
  const shop = await freshMerchant();
  expect((await shop.post("/wallets", directWallet())).status).toBe(201);
  return shop;
}

const statusesOf = async (ids: readonly InvoiceId[]) =>
  (
    await testDb
      .select({ status: invoices.status })
      .from(invoices)
      .where(inArray(invoices.id, [...ids]))
  ).map(({ status }) => status);

const POISONS: readonly [string, (id: InvoiceId) => PromiseLike<unknown>][] = [
  ["whose amount is not a number", (id) => testDb.run(sql`update invoices set amount_micros = 'ten' where id = ${id}`)],
  [
    "whose method is on an unknown network",
    (id) => testDb.update(paymentMethods).set({ network: "MOON" }).where(eq(paymentMethods.invoiceId, id)),
  ],
  [
    "whose quotes are not JSON",
    (id) => testDb.update(paymentMethods).set({ quotes: "[" }).where(eq(paymentMethods.invoiceId, id)),
  ],
];

describe.each(POISONS)("an invoice %s", (_, poison) => {
  it("does not prevent the expiry of other merchants' invoices or the listing of other invoices", async () => {
    const [hurt, other] = [await freshShop(), await freshShop()];
    const bad = await created(hurt);
    const good = [await created(hurt), await created(other), await created(other)];
    await poison(bad);
    const { settled, left } = await sweepAt(NOW);
    expect(left).toEqual([{ invoiceId: bad, reason: expect.stringMatching(/^[A-Za-z]*Error$/) }]);
    expect(settled).toBe(3);
    expect(await statusesOf(good)).toEqual(["EXPIRED", "EXPIRED", "EXPIRED"]);
    expect(await listed(other)).toHaveLength(2);
  });
});

it("an invoice whose body cannot be built is left out of the list, and the rest of the list is returned", async () => {
  const shop = await freshShop();
  const [first, bad, last] = [await created(shop), await created(shop), await created(shop)];
  await testDb.update(paymentMethods).set({ network: "MOON" }).where(eq(paymentMethods.invoiceId, bad));
  expect((await listed(shop)).toSorted()).toEqual([first, last].toSorted());
});

it("180 failing invoices, some older and some younger, do not delay 60 healthy ones", {
  timeout: 120_000,
}, async () => {
  const [bad, good]: [InvoiceId[], InvoiceId[]] = [[], []];
  for (let n = 0; n < 240; n++) {
    const expiresAtMs = NOW - HOUR_MS + n;
    const of = { network: "ETH", cryptocurrency: "USDT", address: `0x${n}`, nowMs: NOW - 2 * HOUR_MS, expiresAtMs };
    (n < 120 || n >= 180 ? bad : good).push(await watchMethod(testDb, of));
  }
  for (const chunk of chunksOf(bad, 90))
    await testDb
      .update(paymentMethods)
      .set({ network: "MOON" })
      .where(inArray(paymentMethods.invoiceId, [...chunk]));
  await testDb.update(networkCursors).set({ isResting: true });
  let settled = 0;
  for (let run = 0; run < 4; run++) settled += (await sweepAt(NOW + run * MINUTE_MS)).settled;
  expect([settled, new Set(await statusesOf(good))]).toEqual([60, new Set(["EXPIRED"])]);
});

it("a failing invoice is retried at growing intervals and shown in /healthz, until it is settled", async () => {
  const shop = await freshShop();
  const bad = await created(shop);
  const break_ = (network: string) =>
    testDb.update(paymentMethods).set({ network }).where(eq(paymentMethods.invoiceId, bad));
  await break_("MOON");
  const tries: number[] = [];
  const minutes = [
    ...Array.from({ length: 40 }, (_, minute) => minute),
    ...[1, 2, 3, 4, 10, 11, 12, 24].map((h) => h * 60),
  ];
  for (const minute of minutes) {
    const { left } = await sweepAt(NOW + minute * MINUTE_MS);
    if (left.length > 0) tries.push(minute);
  }
  expect(tries).toEqual([0, 1, 3, 7, 15, 31, 120, 240, 600, 1_440]);
  expect(await health()).toMatchObject({
    status: "ok",
    unsettledInvoices: 1,
    warnings: expect.arrayContaining(["INVOICES_UNSETTLED"]),
  });
  await break_("ETH");
  const { left } = await sweepAt(NOW + 40 * HOUR_MS);
  expect([left, await statusesOf([bad])]).toEqual([[], ["EXPIRED"]]);
  expect(await testDb.$count(unsettledInvoices)).toBe(0);
  expect((await health()).warnings).not.toContain("INVOICES_UNSETTLED");
});

/** Runs the sweep with a database that is reset by each read of at least `least` invoices; returns the number of those reads. */
async function sweptBeside(least: number, nowMs = NOW) {
  let resets = 0;
  const heavy = new Set<D1PreparedStatement>();
  const prepare = (query: string) => {
    const statement = env.DB.prepare(query);
    if (!/from "invoices" where "(invoices"."id|id)" in \(select value from json_each/.test(query)) return statement;
    const bind = (...params: unknown[]) => {
      const bound = statement.bind(...params);
      if (JSON.parse(String(params.at(-1))).length >= least) heavy.add(bound);
      return bound;
    };
    return { bind };
  };
  const batch = async (statements: D1PreparedStatement[]) => {
    if (!statements.some((statement) => heavy.has(statement))) return env.DB.batch(statements);
    resets += 1;
    throw new Error("D1_ERROR: D1 DB exceeded its CPU time limit and was reset.");
  };
  const d1 = new Proxy(env.DB, {
    get: (target, name) => ({ prepare, batch })[String(name)] ?? Reflect.get(target, name).bind(target),
  });
  const swept = await expireInvoices(invoiceDependencies(env, { db: openDb(d1), nowMs, sleep }));
  return { ...swept, resets };
}

it("if reading several invoices at once resets the database, a run makes two attempts, and later runs read one invoice at a time", async () => {
  const shop = await freshShop();
  const ids: InvoiceId[] = [];
  for (let n = 0; n < 60; n++) ids.push(await created(shop));
  const first = await sweptBeside(2);
  expect([first.resets, first.settled, first.left.length]).toEqual([2, 0, 50]);
  expect(new Set(first.left.map(({ reason }) => reason))).toEqual(new Set(["STORAGE_WAS_RESET"]));
  // After that, ten invoices per minute are settled, and none of them is held back by another.
  let minute = 1;
  for (; minute < 10 && (await testDb.$count(unsettledInvoices)) > 0; minute++)
    await sweptBeside(2, NOW + minute * MINUTE_MS);
  expect(new Set(await statusesOf(ids))).toEqual(new Set(["EXPIRED"]));
});

async function listed(shop: TestMerchant): Promise<string[]> {
  const { status, body } = await shop.get("/invoices");
  expect(status).toBe(200);
  return body.data.map(({ id }: { id: string }) => id);
}

async function health() {
  const answer = await exports.default.fetch(new Request("http://localhost:8787/healthz"));
  return (await answer.json()) as { status: string; warnings: string[]; unsettledInvoices: number };
}
