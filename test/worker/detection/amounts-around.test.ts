// Finding the invoices that an amount at a shared address could be meant for must read only the amounts close to it, not all that are reserved there.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { readAround } from "../../../src/detection/matching/around/read-around.ts";
import {
  selectChosen,
  selectOpenAround,
  selectOpenInvoices,
  selectOpenNearest,
  selectOverAround,
  type WantedAmount,
} from "../../../src/detection/matching/around/store.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import type { Rank } from "../../../src/platform/column-values.ts";
import { amountKey, amountKeySql, shelfSql, shelvesAt } from "../../../src/platform/db/amount-order.ts";
import { seedMerchant } from "../../support/access.ts";
import { planOf } from "../../support/query-plan.ts";
import { watchMethod } from "../../support/watched.ts";
import { testDb } from "../../support/worker-merchant.ts";

const NOW = 1_800_000_000_000;
const PAIR = { network: "ETH", cryptocurrency: "USDT" };
const [OPEN, ENDED, CROWDED, EMPTY, RANKED] = ["0xopen", "0xended", "0xcrowded", "0xempty", "0xranked"] as const;

/** Reserves `count` amounts at an address from `units` on, each for a separate invoice that ends at `endsMs`; with `one`, all for one invoice. */
async function hold(
  address: string,
  of: {
    readonly count: number;
    readonly units: number;
    readonly endsMs: number;
    readonly one?: string;
    readonly rank?: Rank;
  },
) {
  const merchantId = await seedMerchant();
  const template = await watchMethod(testDb, {
    merchantId,
    ...PAIR,
    address,
    nowMs: NOW - HOUR_MS,
    expiresAtMs: of.endsMs,
  });
  const columns = (table: string, named: Readonly<Record<string, string>>) =>
    env.DB.prepare(`select name from pragma_table_info('${table}')`)
      .all<{ name: string }>()
      .then(({ results }) => results.map(({ name }) => named[name] ?? `"${name}"`).join(", "));
  const count = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${of.count - 1})`;
  const id = of.one === undefined ? `'inv_${address}' || ${of.units} || '.' || i` : `'${template}'`;
  const copies =
    of.one !== undefined
      ? []
      : ([
          ["invoices", { id }],
          ["payment_methods", { invoice_id: id }],
        ] as const);
  for (const [table, named] of copies)
    await env.DB.prepare(
      `insert into ${table} ${count} select ${await columns(table, named)} from ${table}, n where ${table === "invoices" ? "id" : "invoice_id"} = '${template}'`,
    ).run();
  await env.DB.prepare(
    `insert into method_amounts (network, cryptocurrency, address, units, price_units, invoice_id, merchant_id, held_until_ms,
      release_after_ms, created_at_ms, open_until_ms, rank) ${count} select 'ETH', 'USDT', '${address}', cast(${of.units} + i * 1000 as text), '1', ${id}, 'mer_1',
      ${of.endsMs + DAY_MS}, ${of.endsMs + DAY_MS}, ${NOW - HOUR_MS}, ${of.endsMs}, ${of.rank ?? 3} from n`,
  ).run();
}

beforeAll(async () => {
  await hold(OPEN, { count: 5_000, units: 10_000_000, endsMs: NOW + 10 * MINUTE_MS });
  // 500 invoices that ended in each of ten hours, and three open ones.
  for (let hour = 1; hour <= 10; hour++)
    await hold(ENDED, { count: 500, units: 10_000_000 + hour, endsMs: NOW - hour * HOUR_MS });
  await hold(ENDED, { count: 3, units: 10_000_500, endsMs: NOW + 10 * MINUTE_MS });
  await hold(CROWDED, { count: 600, units: 12_500_001, endsMs: NOW + HOUR_MS, one: "invoice" });
  // The amounts of unproven merchants are closer than those of the proven one, both open and ended.
  await hold(RANKED, { count: 300, units: 12_400_000, endsMs: NOW + HOUR_MS });
  await hold(RANKED, { count: 300, units: 12_400_001, endsMs: NOW - HOUR_MS });
  await hold(RANKED, { count: 2, units: 14_000_000, endsMs: NOW + HOUR_MS, rank: 2 });
  await hold(RANKED, { count: 1, units: 15_000_000, endsMs: NOW - HOUR_MS, rank: 2 });
  await hold(CROWDED, { count: 2, units: 14_000_000, endsMs: NOW + HOUR_MS });
}, 120_000);

const wanted = (address: string, units = 12_500_000n): WantedAmount => ({
  key: `${address} ${units}`,
  cryptocurrency: "USDT",
  address,
  units,
  atMs: NOW,
  openFromMs: NOW + 30_000,
  slackMs: 120_000,
});

interface Template {
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}

async function rowsRead(query: Template): Promise<number> {
  const { sql: text, params } = query.toSQL();
  const { meta } = await env.DB.prepare(text)
    .bind(...params)
    .all();
  return meta.rows_read;
}

describe("reading the reserved amounts around an amount", () => {
  const ONE_PLACE = String.raw`\(network=\? AND cryptocurrency=\? AND address=\? AND rank=\?`;
  it.each([
    [
      "open amounts",
      selectOpenAround,
      `near USING INDEX method_amounts_open ${ONE_PLACE} AND <expr>=\\? AND <expr>[<>]\\?`,
    ],
    ["the other amounts", selectOverAround, `near USING INDEX method_amounts_amount ${ONE_PLACE} AND <expr>[<>]\\?`],
    ["the count of invoices", selectOpenInvoices, `held USING INDEX method_amounts_open ${ONE_PLACE} AND <expr>=\\?`],
  ] as const)("uses an index, in the index's order: %s", async (_, select, index) => {
    const plan = await planOf(select(testDb, "ETH", [wanted(OPEN)]));
    expect(plan).toMatch(new RegExp(`SEARCH ${index}`));
    expect(plan).not.toMatch(/SCAN (near|held|invoice)\b|ORDER BY/);
  });

  it("takes a bounded number of rows even if 5,000 amounts are reserved, open or ended", async () => {
    for (const address of [OPEN, ENDED]) {
      const of = [wanted(address)];
      const reads = [selectOpenAround, selectOverAround, selectOpenInvoices].map((select) =>
        rowsRead(select(testDb, "ETH", of)),
      );
      const all = await Promise.all(reads);
      expect([address, all.reduce((sum, rows) => sum + rows, 0)]).toSatisfy(
        ([, rows]: [string, number]) => rows < 3_000,
      );
    }
    const around = await readAround({ db: testDb, sleep }, "ETH", [wanted(OPEN), wanted(ENDED), wanted(EMPTY)]);
    if (!around.ok) throw new Error("no storage");
    const found = [OPEN, ENDED, EMPTY].map((address) => around.value.get(wanted(address).key));
    expect(found.map((each) => [each?.rows.length, each?.openInvoices[3]])).toEqual([
      [200, 2],
      [23, 2],
      [0, 0],
    ]);
    const units = (found[0]?.rows ?? []).map(({ reservedUnits }) => Number(reservedUnits)).toSorted((a, b) => a - b);
    expect([units[0], units.at(-1)]).toEqual([12_400_000, 12_599_000].map((each) => expect.closeTo(each, -4)));
    const rows = { ...wanted(OPEN), invoiceId: "inv_1" as InvoiceId, isOpen: true };
    expect(await rowsRead(selectChosen(testDb, "ETH", [rows]))).toBeLessThan(10);
  });

  it("finds every invoice even when one of them has hundreds of reserved amounts", async () => {
    const around = await readAround({ db: testDb, sleep }, "ETH", [wanted(CROWDED)]);
    const all = await selectOpenNearest(testDb, "ETH", [{ ...wanted(CROWDED), ranks: [3] }]);
    const [rows] = all.map(({ held }) => held.map(({ invoiceId }) => invoiceId).toSorted());
    if (!around.ok) throw new Error("no storage");
    const found = around.value.get(wanted(CROWDED).key);
    expect(found?.rows.map(({ invoiceId }) => invoiceId).toSorted()).toEqual(rows);
    expect([rows?.length, found?.openInvoices[3]]).toEqual([3, 2]);
  });
});

it("amounts of proven merchants do not displace those of unproven merchants, and unproven amounts do not displace proven ones", async () => {
  const around = await readAround({ db: testDb, sleep }, "ETH", [wanted(RANKED)]);
  const found = around.ok ? around.value.get(wanted(RANKED).key) : undefined;
  const held = (of: { readonly rank: Rank; readonly isOpen: boolean }) =>
    found?.rows.filter(({ rank, isOpen }) => rank === of.rank && isOpen === of.isOpen).length;
  expect([held({ rank: 2, isOpen: true }), held({ rank: 2, isOpen: false })]).toEqual([2, 1]);
  expect([held({ rank: 3, isOpen: true }), held({ rank: 3, isOpen: false })]).toEqual([200, 20]);
  expect(found?.openInvoices).toEqual({ 1: 0, 2: 2, 3: 2 });
});

it("the index sorts amounts numerically, and a search at any time while an amount was open covers the amount's time bucket", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          units: fc.bigInt({ min: 1n, max: 10n ** 31n }),
          bornMs: fc.integer({ min: NOW - 40 * DAY_MS, max: NOW }),
          lifeMs: fc.oneof(fc.integer({ min: 0, max: 2 * HOUR_MS }), fc.integer({ min: 0, max: 31 * DAY_MS })),
          at: fc.integer({ min: 0, max: 1_000 }),
        }),
        { minLength: 40, maxLength: 40 },
      ),
      async (amounts) => {
        const list = JSON.stringify(amounts.map(({ units, bornMs, lifeMs }) => [`${units}`, bornMs, bornMs + lifeMs]));
        const rows = await testDb.all<{ key: string; shelf: number }>(
          sql`select ${sql.raw(amountKeySql())} as key, ${sql.raw(shelfSql())} as shelf from (select value ->> 0 as units,
            value ->> 1 as created_at_ms, value ->> 2 as open_until_ms from json_each(${list}))`,
        );
        amounts.forEach(({ units, bornMs, lifeMs, at }, n) => {
          const atMs = bornMs + Math.floor((lifeMs * at) / 1_000);
          expect(rows[n]?.key).toBe(amountKey(units));
          expect(shelvesAt({ atMs, untilMs: atMs + 30_000 }).flatMap(({ each }) => each)).toContain(rows[n]?.shelf);
          // A block's time may be up to 30 seconds before its payment's amount was reserved.
          if (lifeMs > 0)
            expect(shelvesAt({ atMs: bornMs - 30_000, untilMs: bornMs }).flatMap(({ each }) => each)).toContain(
              rows[n]?.shelf,
            );
        });
      },
    ),
    { numRuns: 20 },
  );
});
