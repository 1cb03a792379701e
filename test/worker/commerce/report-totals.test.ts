import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { BUCKET_MS, type ReportEntry } from "../../../src/commerce/reports/bucket.ts";
import { addEntries, selectPeriodSums } from "../../../src/commerce/reports/store.ts";
import { applyTransfers, type Findings } from "../../../src/detection/matching/apply-transfers.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { joinStatements } from "../../../src/platform/db/joined-statements.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { planOf } from "../../support/query-plan.ts";
import { RECOUNT_SQL, type RecountRow, recountProblem, recountTables } from "../../support/report-recount.ts";
import { directWallet, randomHex, USDT } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
/** Yesterday, today and tomorrow, because a test may run past midnight. */
const around = () =>
  [-1, 1].map((days) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)) as [string, string];

async function totals(shop: TestMerchant, query: Readonly<Record<string, string>> = {}) {
  const [from, to] = around();
  const answer = await shop.get(`/reports/totals?${new URLSearchParams({ from, to, ...query })}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function freshShop(): Promise<TestMerchant> {
  const shop = await freshMerchant();
  expect((await shop.post("/wallets", directWallet())).status).toBe(201);
  return shop;
}

async function created(shop: TestMerchant, more: object = {}) {
  const { status, body } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [], ...more });
  expect(status).toBe(201);
  return body;
}

interface Shown {
  readonly id: InvoiceId;
  readonly paymentMethods: readonly { readonly address: string; readonly amount: string }[];
}

function transferTo({ paymentMethods: [method] }: Shown): Transfer {
  if (method === undefined) throw new Error("no payment method");
  const amountUnits = BigInt(Math.round(Number(method.amount) * 1e6));
  return {
    cryptocurrency: "USDT",
    txHash: `0x${randomHex(32)}`,
    outputIndex: "0",
    fromAddress: `0x${randomHex(20)}`,
    toAddress: method.address,
    amountUnits,
    spends: [],
    raw: "{}",
    block: { height: 100, hash: "h100", timeMs: Date.now() },
  };
}

async function look(found: Partial<Pick<Findings, "transfers" | "seen">>, tipHeight = 200): Promise<void> {
  const network = networkNamed("ETH");
  if (network === undefined) throw new Error("no network");
  const deps = invoiceDependencies(env, { db: testDb, nowMs: Date.now(), sleep });
  const heights = { tipHeight, finalizedHeight: null };
  expect((await applyTransfers(deps, { network, heights, transfers: [], seen: [], ...found })).ok).toBe(true);
}

/** The problem that a recount finds in this merchant's buckets, if any. */
async function miscounted({ merchantId }: TestMerchant): Promise<string | undefined> {
  const read = new Map<string, readonly RecountRow[]>();
  for (const text of Object.values(RECOUNT_SQL)) read.set(text, (await env.DB.prepare(text).all<RecountRow>()).results);
  const tables = recountTables((text) => read.get(text) ?? []);
  const own = new Set(tables.invoices.filter((row) => row.merchant_id === merchantId).map(({ id }) => id));
  return recountProblem({
    invoices: tables.invoices.filter(({ id }) => own.has(id)),
    timeline: tables.timeline,
    methods: tables.methods,
    payments: tables.payments.filter(({ invoice_id }) => own.has(invoice_id)),
    buckets: tables.buckets.filter(({ merchant_id }) => merchant_id === merchantId),
  });
}

const NOTHING = {
  invoices: { created: 0, paid: 0, overpaid: 0, underpaid: 0, expired: 0, cancelled: 0 },
  timeToPaid: { invoices: 0, seconds: "0" },
  payments: 0,
  unpriced: 0,
  received: [],
  coins: [],
};

describe("a merchant's totals", () => {
  it("are zero before anything happened, and contain every day of the span", async () => {
    const { body } = await (await freshMerchant()).get("/reports/totals?from=2026-10-31&to=2026-11-02");
    const day = (date: string, next: string) => ({
      from: date,
      to: date,
      startsAt: `${date}T00:00:00.000Z`,
      endsAt: `${next}T00:00:00.000Z`,
      ...NOTHING,
    });
    expect(body).toEqual({
      from: "2026-10-31",
      to: "2026-11-02",
      by: "day",
      timezone: "UTC",
      currency: null,
      total: NOTHING,
      periods: [day("2026-10-31", "2026-11-01"), day("2026-11-01", "2026-11-02"), day("2026-11-02", "2026-11-03")],
    });
  });

  it("count created, paid and cancelled invoices, and sum the money received, by currency and coin", async () => {
    const [shop, other] = [await freshShop(), await freshShop()];
    const paid: Shown = await created(shop, { rawAmount: 25, paymentMethods: [USDT] });
    const inEuros: Shown = await created(shop, { rawAmount: 30, currency: "EUR", paymentMethods: [USDT] });
    const cancelled: Shown = await created(shop);
    await created(other);
    await look({ transfers: [transferTo(paid), transferTo(inEuros)] });
    expect((await shop.post(`/invoices/${cancelled.id}/cancel`)).status).toBe(200);
    const { total, periods } = await totals(shop, { by: "month" });
    const units = [paid, inEuros].reduce((sum, shown) => sum + transferTo(shown).amountUnits, 0n);
    const received = [
      { currency: "EUR", amount: "30.000000" },
      { currency: "USD", amount: "25.000000" },
    ];
    expect(total).toEqual({
      invoices: { created: 3, paid: 2, overpaid: 0, underpaid: 0, expired: 0, cancelled: 1 },
      timeToPaid: { invoices: 2, seconds: expect.stringMatching(/^\d+$/) },
      payments: 2,
      unpriced: 0,
      received,
      coins: [
        {
          network: "ETH",
          cryptocurrency: "USDT",
          isTest: false,
          payments: 2,
          units: `${units}`,
          amount: expect.any(String),
          received,
        },
      ],
    });
    expect(periods.reduce((sum: number, each: { payments: number }) => sum + each.payments, 0)).toBe(2);
    expect((await totals(shop, { currency: "eur" })).total).toMatchObject({
      invoices: { created: 1, paid: 1 },
      received: [{ currency: "EUR", amount: "30.000000" }],
    });
    expect((await totals(other)).total).toEqual({ ...NOTHING, invoices: { ...NOTHING.invoices, created: 1 } });
    expect(await miscounted(shop)).toBeUndefined();
  });

  it("exclude a payment once it leaves the chain, even if its invoice can no longer be read", async () => {
    const shop = await freshShop();
    const [sound, damaged]: Shown[] = [
      await created(shop, { rawAmount: 25, paymentMethods: [USDT] }),
      await created(shop, { rawAmount: 26, paymentMethods: [USDT] }),
    ];
    if (sound === undefined || damaged === undefined) throw new Error("no invoices");
    await look({ transfers: [transferTo(sound), transferTo(damaged)] });
    expect((await totals(shop)).total).toMatchObject({ payments: 2, invoices: { paid: 2 } });
    await testDb.update(paymentMethods).set({ quotes: "[" }).where(eq(paymentMethods.invoiceId, damaged.id));
    for (const { id } of [sound, damaged]) {
      const rows = await testDb.select().from(payments).where(eq(payments.invoiceId, id));
      await look({ seen: rows.map((payment) => ({ payment, observation: { kind: "unknown" } })) });
    }
    // The damaged invoice itself is not changed, so it still counts as paid.
    expect((await totals(shop)).total).toMatchObject({ payments: 0, invoices: { paid: 1 }, coins: [{ units: "0" }] });
    expect(await miscounted(shop)).toBeUndefined();
  });

  it("count each of 40 invoices once, although all are created at once and each request is sent twice and repeated until it is answered", async () => {
    const shop = await freshMerchant();
    const keys = Array.from({ length: 40 }, () => crypto.randomUUID());
    const insist = async (key: string): Promise<number> => {
      const body = { name: "Order", rawAmount: 10, paymentMethods: [] };
      const { status } = await shop.post("/invoices", body, { "idempotency-key": key });
      return status === 503 ? insist(key) : status;
    };
    const statuses = await Promise.all([...keys, ...keys].map(insist));
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect((await totals(shop)).total.invoices.created).toBe(40);
    expect(await miscounted(shop)).toBeUndefined();
  });
});

describe("a query for totals", () => {
  it.each([
    ["without a first day", { to: "2026-11-02" }, "from"],
    ["with a day that does not exist", { from: "2026-02-30", to: "2026-11-02" }, "from"],
    ["with a time", { from: "2026-11-01T00:00:00Z", to: "2026-11-02" }, "from"],
    ["before 2000", { from: "1999-12-31", to: "2026-11-02" }, "from"],
    ["with the last day before the first", { from: "2026-11-02", to: "2026-11-01" }, "to"],
    ["of 401 days", { from: "2026-01-01", to: "2027-02-05" }, "to"],
    ["by hour", { from: "2026-11-01", to: "2026-11-02", by: "hour" }, "by"],
    ["in an unknown currency", { from: "2026-11-01", to: "2026-11-02", currency: "XYZ" }, "currency"],
    ["in an unknown time zone", { from: "2026-11-01", to: "2026-11-02", timezone: "Mars/Olympus" }, "timezone"],
    ["with an offset as its time zone", { from: "2026-11-01", to: "2026-11-02", timezone: "+02:00" }, "timezone"],
  ])("%s is refused", async (_, query, path) => {
    const shop = await freshMerchant();
    const { status, body } = await shop.get(`/reports/totals?${new URLSearchParams(query)}`);
    expect([status, body.code, body.details[0].path]).toEqual([400, "VALIDATION_FAILED", path]);
  });

  it("of 400 days by day is answered, in any time zone", async () => {
    const shop = await freshMerchant();
    const { periods } = await totals(shop, { from: "2026-01-01", to: "2027-02-04", timezone: "Australia/Lord_Howe" });
    expect(periods).toHaveLength(400);
    expect(periods.at(0).startsAt).toBe("2025-12-31T13:00:00.000Z");
    const hours = periods.map(({ startsAt, endsAt }: Record<string, string>) => {
      return (Date.parse(endsAt ?? "") - Date.parse(startsAt ?? "")) / 3_600_000;
    });
    expect(Object.fromEntries(new Set(hours).entries())).toEqual({ 24: 24, 24.5: 24.5, 23.5: 23.5 });
  });
});

describe("the buckets of totals", () => {
  const entry = (invoiceId: InvoiceId, nth: number, more: Partial<ReportEntry> = {}): ReportEntry => ({
    invoiceId,
    network: "",
    cryptocurrency: "",
    startsAtMs: NOON + nth * BUCKET_MS,
    sums: { created: 1n },
    ...more,
  });
  const asked = (buckets: number) => ({ periods: [{ startsAtMs: NOON, endsAtMs: NOON + buckets * BUCKET_MS }] });
  const rowsReadOf = async (query: ReturnType<typeof selectPeriodSums>): Promise<number> => {
    const { sql: text, params } = query.toSQL();
    return (
      await env.DB.prepare(text)
        .bind(...params)
        .all()
    ).meta.rows_read;
  };

  it("add amounts exactly, even beyond what a JavaScript number or 64 bits can hold", async () => {
    const shop = await freshShop();
    const { id } = await created(shop);
    const eth = { network: "ETH", cryptocurrency: "ETH" };
    const units = 123_456_789_012_345_678_901_234_567_890n;
    const fiatMicros = 9_007_199_254_740_991n;
    const sums = { payments: 1n, units, fiatMicros };
    const entries = Array.from({ length: 7 }, (_, n) => entry(id, n % 2, { ...eth, sums }));
    await batch(testDb, [...addEntries(testDb, entries.slice(0, 3)), ...addEntries(testDb, entries.slice(3))]);
    const { total } = await totals(shop, { from: "2026-11-21", to: "2026-11-21" });
    expect(total.coins).toEqual([
      {
        ...eth,
        isTest: false,
        payments: 7,
        units: `${units * 7n}`,
        amount: "864197523086.41975230864197523",
        received: [{ currency: "USD", amount: "63050394783.186937" }],
      },
    ]);
    const back = entries.map(({ sums: { payments: _, ...each }, ...at }) => ({
      ...at,
      sums: { payments: -1n, units: -(each.units ?? 0n), fiatMicros: -(each.fiatMicros ?? 0n) },
    }));
    await batch(testDb, [...addEntries(testDb, back)]);
    expect((await totals(shop, { from: "2026-11-21", to: "2026-11-21" })).total.coins).toMatchObject([
      { payments: 0, units: "0" },
    ]);
  });

  it("are updated by one statement that writes one row for a group of new invoices", async () => {
    const shop = await freshShop();
    const { id } = await created(shop);
    const lists = Array.from({ length: 64 }, () => addEntries(testDb, [entry(id, 0)]));
    const joined = joinStatements(lists);
    expect(joined).toHaveLength(1);
    const [first] = joined as unknown as [{ toSQL(): { sql: string; params: unknown[] } }];
    const { sql: text, params } = first.toSQL();
    const { meta } = await env.DB.prepare(text)
      .bind(...params)
      .run();
    expect(meta.rows_written).toBe(1);
    expect((await totals(shop, { from: "2026-11-21", to: "2026-11-21" })).total.invoices.created).toBe(64);
  });

  it("are read by their key, and only those of the period, however many invoices and other buckets there are", async () => {
    const shop = await freshShop();
    const { id } = await created(shop);
    await batch(testDb, [
      ...addEntries(
        testDb,
        Array.from({ length: 300 }, (_, n) => entry(id, n)),
      ),
    ]);
    const query = () => selectPeriodSums(testDb, shop.merchantId, asked(100));
    const plan = await planOf({ toSQL: () => query().toSQL() });
    expect(plan).toMatch(/SEARCH bucket USING PRIMARY KEY \(merchant_id=\? AND starts_at_ms>\? AND starts_at_ms<\?\)/);
    expect(plan).not.toMatch(/SCAN bucket/);
    // Each bucket is read twice: once to find it, and once for its period's sum.
    const rows = (buckets: number) => 2 * buckets + 2;
    expect(await rowsReadOf(query())).toBe(rows(100));
    const numbers = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)`;
    const columns = sql.raw(
      (
        await env.DB.prepare("select name from pragma_table_info('invoices') where name <> 'id'").all<{
          name: string;
        }>()
      ).results
        .map(({ name }) => name)
        .join(", "),
    );
    await testDb.run(sql`insert into invoices (id, ${columns}) ${numbers} select 'inv_' || ${randomHex(8)} || i, ${columns}
      from n, invoices where invoices.id = ${id}`);
    expect(await rowsReadOf(query())).toBe(rows(100));
    expect(await rowsReadOf(selectPeriodSums(testDb, shop.merchantId, asked(200)))).toBe(rows(200));
  });
});
