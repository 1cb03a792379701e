// How much of the shared database's capacity one merchant's exports may take, and how long one export may continue.
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { type ExportDependencies, exportPayments } from "../../../src/commerce/exports/export-rows.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { MINUTE_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { seedKey, send } from "../../support/access.ts";
import { inTens } from "../../support/public-shop.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const EVERYTHING = { fromMs: 0, beforeMs: Number.MAX_SAFE_INTEGER, asOfMs: Date.now(), isCounted: false };

async function writePayments({ merchantId }: TestMerchant, count: number): Promise<void> {
  const mark = randomHex(4).toUpperCase();
  await testDb.run(sql`insert into payments (id, merchant_id, network, cryptocurrency, tx_hash, output_index, to_address, amount_units,
      status, confirmations, required_confirmations, is_late, received_at_ms, created_at_ms, updated_at_ms)
    with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${count})
    select 'pay_01KA' || ${mark} || printf('%014d', i), ${merchantId}, 'ETH', 'USDT', '0x' || ${mark} || i, '0', '0xto', '1',
      'CONFIRMED', 20, 20, 0, i, i, 0 from n`);
}

/** Reads an export to its end; returns its row count, or the error that ended it. */
async function readAll(deps: ExportDependencies, shop: TestMerchant): Promise<number | string> {
  const pages = await exportPayments(deps, shop.merchantId, EVERYTHING);
  if (!pages.ok) return pages.error.code;
  let rows = 0;
  try {
    for await (const page of pages.value) rows += page.length;
    return rows;
  } catch (error) {
    return String(error);
  }
}

it("a merchant can start a limited number of exports a minute, across all keys and formats; others are not affected", async () => {
  const [shop, other] = [await freshMerchant(), await freshMerchant()];
  const keys = await Promise.all([1, 2, 3].map(() => seedKey(shop.merchantId)));
  const names = ["payments.csv", "payments.jsonl", "invoices.csv", "invoices.jsonl", "statement.csv?month=2026-11"];
  const path = (n: number) => `/api/v1/merchants/merchant/${shop.merchantId}/reports/${names[n % names.length]}`;
  const most = LIMITS.exportsPerMerchantAndMinute;
  const answers = await inTens(most + 5, (n) => send(path(n), { key: keys[n % 3] }));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(most);
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { status, json, headers } of refused) {
    expect([status, json?.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await other.get("/reports/payments.csv")).status).toBe(200);
});

it("a long export counts repeatedly against the limit while it runs, and pauses instead of ending", async () => {
  const shop = await freshMerchant();
  await writePayments(shop, 26_000);
  const waits: number[] = [];
  const turns = [7, 5, 0];
  const asked: string[] = [];
  const deps: ExportDependencies = {
    db: testDb,
    // Shorter waits are time limits of reads, not pauses.
    sleep: async (ms, cancellation) => {
      if (ms >= 5 * SECOND_MS) waits.push(ms);
      else await sleep(ms, cancellation);
    },
    clock: () => 0,
    waitOf: async (merchantId) => {
      asked.push(merchantId);
      return turns.shift() ?? 0;
    },
  };
  expect(await readAll(deps, shop)).toBe(26_000);
  expect(waits).toEqual([7 * SECOND_MS, 5 * SECOND_MS]);
  expect(asked).toEqual(Array.from({ length: 3 }, () => shop.merchantId));
});

it("an export to a slow reader ends after a quarter of an hour, so that a caller who lost the permission must ask again", async () => {
  const shop = await freshMerchant();
  await writePayments(shop, 6_000);
  const read = (msAPage: number) => {
    let nowMs = 0;
    const clock = () => {
      nowMs += msAPage;
      return nowMs;
    };
    return readAll({ db: testDb, sleep, clock, waitOf: async () => 0 }, shop);
  };
  expect(await read(MINUTE_MS)).toBe(6_000);
  expect(await read(16 * MINUTE_MS)).toMatch(/goes on after pay_/);
});
