import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { exportPayments } from "../../../src/commerce/exports/export-rows.ts";
import { INVOICE_COLUMNS } from "../../../src/commerce/exports/invoice-line.ts";
import { PAYMENT_COLUMNS } from "../../../src/commerce/exports/payment-line.ts";
import { STATEMENT_COLUMNS } from "../../../src/commerce/exports/statement.ts";
import { bucketOf } from "../../../src/commerce/reports/bucket.ts";
import { addEntries } from "../../../src/commerce/reports/store.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { formatMicros } from "../../../src/lib/money.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const NOVEMBER = Date.UTC(2026, 10, 1);
const HOUR = 3_600_000;

async function createdInvoice(shop: TestMerchant, more: object = {}): Promise<InvoiceId> {
  const { status, body } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [], ...more });
  expect(status).toBe(201);
  return body.id;
}

interface Rows {
  readonly count: number;
  readonly invoiceId?: InvoiceId | null;
  readonly status?: string;
  /** When the first payment was received; each further payment was received a second later. */
  readonly receivedAtMs?: number;
  readonly createdAtMs?: number;
  readonly fiatMicros?: number | null;
  readonly network?: string;
}

/** Inserts payments directly. Three at a time have the same `createdAtMs`. */
async function writePayments({ merchantId }: TestMerchant, rows: Rows): Promise<void> {
  const { count, invoiceId = null, status = "CONFIRMED", receivedAtMs = NOVEMBER, fiatMicros = 1_250_000 } = rows;
  const { createdAtMs = NOVEMBER, network = "ETH" } = rows;
  const mark = randomHex(4).toUpperCase();
  await testDb.run(sql`insert into payments (id, merchant_id, invoice_id, network, cryptocurrency, tx_hash, output_index, to_address,
      amount_units, fiat_micros, weighed_by, status, confirmations, required_confirmations, is_late, received_at_ms, created_at_ms, updated_at_ms)
    with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${count})
    select 'pay_01KA' || ${mark} || printf('%014d', i), ${merchantId}, ${invoiceId}, ${network}, 'USDT', '0x' || ${mark} || i, '0', '0xto',
      '1000000', ${fiatMicros}, 'MARKET_RATE', ${status}, 20, 20, 0, ${receivedAtMs} + i * 1000, ${createdAtMs} + i / 3, 0 from n`);
}

/** The lines of an export, without the byte order mark of CSV, which decoding removes. */
async function linesOf(shop: TestMerchant, path: string) {
  const { status, text, headers } = await shop.get(`/reports/${path}`);
  expect(status, text).toBe(200);
  expect(text === "" || text.endsWith("\n")).toBe(true);
  const lines = text.split("\n").slice(0, -1);
  return { lines, headers, parsed: () => lines.map((line) => JSON.parse(line)) };
}

const asOf = ({ headers }: { readonly headers: Headers }) => headers.get("export-as-of") ?? "";

describe("an export", () => {
  it("of a merchant without data is a header line in CSV, and empty in JSON lines", async () => {
    const shop = await freshMerchant();
    for (const [name, columns] of [
      ["payments", PAYMENT_COLUMNS],
      ["invoices", INVOICE_COLUMNS],
    ] as const) {
      expect((await shop.get(`/reports/${name}.csv`)).text).toBe(`${columns.join(",")}\r\n`);
      expect((await shop.get(`/reports/${name}.jsonl`)).text).toBe("");
    }
  });

  it("has every row once and in order across all pages, and exactly the documented columns", async () => {
    const shop = await freshMerchant();
    const externalId = `ORDER-${randomHex(4)}`;
    const invoiceId = await createdInvoice(shop, { externalId, customerEmail: "buyer@example.com", currency: "EUR" });
    await writePayments(shop, { count: 6_000, invoiceId });
    const { parsed, headers } = await linesOf(shop, "payments.jsonl");
    const all = parsed();
    expect(new Set(all.map(({ id }) => id)).size).toBe(6_000);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted());
    expect(Object.keys(all[0])).toEqual([...PAYMENT_COLUMNS]);
    expect(all[0]).toMatchObject({
      externalId,
      invoiceId,
      currency: "EUR",
      fiatAmount: "1.250000",
      amount: "1",
      rate: "1.25000000",
      status: "CONFIRMED",
      network: "ETH",
      cryptocurrency: "USDT",
      receivedAt: "2026-11-01T00:00:00.000Z",
    });
    expect(all[0].customerId).toMatch(/^cus_/);
    expect(headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    expect(headers.get("content-disposition")).toBe('attachment; filename="payments.jsonl"');
  });

  it("can continue after any line, and both parts add up to the whole", async () => {
    const shop = await freshMerchant();
    await writePayments(shop, { count: 5_001 });
    const whole = await linesOf(shop, "payments.csv");
    const ids = whole.lines.slice(1).map((line) => line.split(",")[0] ?? "");
    const asOf = whole.headers.get("export-as-of") ?? "";
    for (const place of [0, 2_498, 2_499, 2_500, 4_999, 5_000]) {
      const rest = await linesOf(shop, `payments.csv?${new URLSearchParams({ after: ids[place] ?? "", asOf })}`);
      expect([...whole.lines.slice(0, place + 2), ...rest.lines]).toEqual(whole.lines);
      expect(rest.headers.get("export-as-of")).toBe(asOf);
    }
  });

  it("neither loses nor repeats a row that changes during the export, and leaves out rows created during the export", async () => {
    const shop = await freshMerchant();
    await writePayments(shop, { count: 6_000 });
    const asOfMs = NOVEMBER + HOUR;
    const range = { fromMs: 0, beforeMs: Number.MAX_SAFE_INTEGER, asOfMs, isCounted: false };
    const pages = await exportPayments(
      { db: testDb, sleep, clock: () => 0, waitOf: async () => 0 },
      shop.merchantId,
      range,
    );
    if (!pages.ok) throw new Error("no pages");
    const seen: string[] = [];
    for await (const page of pages.value) {
      seen.push(...page.map(({ id }) => id));
      await testDb.run(sql`update payments set received_at_ms = received_at_ms - 100000000, status = 'REORGED', updated_at_ms = 1
        where merchant_id = ${shop.merchantId}`);
      await writePayments(shop, { count: 10, createdAtMs: asOfMs + 1 });
    }
    expect(seen).toHaveLength(6_000);
    expect(new Set(seen).size).toBe(6_000);
  });

  it("counts days in the requested time zone, and has no other merchant's rows", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    for (const each of [shop, other]) await writePayments(each, { count: 49, receivedAtMs: NOVEMBER - 24_000 });
    const days = (from: string, to: string) => `payments.jsonl?from=${from}&to=${to}&timezone=`;
    const countOf = async (path: string) => (await linesOf(shop, path)).lines.length;
    expect(await countOf(`${days("2026-11-01", "2026-11-01")}UTC`)).toBe(25);
    expect(await countOf(`${days("2026-10-31", "2026-10-31")}UTC`)).toBe(24);
    expect(await countOf(`${days("2026-11-01", "2026-11-01")}Europe/Berlin`)).toBe(49);
    expect(await countOf(`${days("2026-11-02", "2026-11-30")}UTC`)).toBe(0);
  });

  it("escapes hostile texts so no spreadsheet runs them", async () => {
    const shop = await freshMerchant();
    const names = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", 'say "hi", twice', "two\r\nlines", "Grün"];
    for (const name of names) await createdInvoice(shop, { name, customerName: name });
    const { text } = await shop.get("/reports/invoices.csv");
    for (const cell of ["'=HYPERLINK(1)", "'+1", "'-1", "'@SUM(1)", "'\t'=1", "Grün"])
      expect(text).toContain(`,${cell},`);
    expect(text).toContain("\"'\r'=1\"");
    expect(text).toContain('"say ""hi"", twice"');
    expect(text).toContain('"two\r\nlines"');
    const { parsed } = await linesOf(shop, "invoices.jsonl");
    expect(parsed().map(({ name }) => name)).toEqual(names);
    expect(Object.keys(parsed()[0])).toEqual([...INVOICE_COLUMNS]);
  });

  it("of invoices has their transactions and the amounts received", async () => {
    const shop = await freshMerchant();
    const id = await createdInvoice(shop, { customerEmail: "buyer@example.com" });
    await writePayments(shop, { count: 2, invoiceId: id });
    await writePayments(shop, { count: 1, invoiceId: id, status: "DROPPED" });
    const { parsed } = await linesOf(shop, "invoices.jsonl");
    expect(parsed()).toMatchObject([
      { id, customerEmail: "buyer@example.com", amount: "10.000000", status: "AWAITING_PAYMENT" },
    ]);
    expect(parsed()[0].txHashes).toHaveLength(2);
    expect(parsed()[0]).toMatchObject({ cryptocurrencies: ["USDT"], networks: ["ETH"], isTest: false, paidAt: null });
    const days = await linesOf(shop, "invoices.jsonl?to=2020-01-01");
    expect(days.lines).toEqual([]);
  });

  it("of invoices says when they were paid, on which networks, and whether all of these are test networks", async () => {
    const shop = await freshMerchant();
    const [unpaid, mixed, test] = [await createdInvoice(shop), await createdInvoice(shop), await createdInvoice(shop)];
    await writePayments(shop, { count: 1, invoiceId: mixed, network: "ETH_SEPOLIA" });
    await writePayments(shop, { count: 1, invoiceId: mixed, receivedAtMs: NOVEMBER + HOUR });
    await writePayments(shop, { count: 2, invoiceId: test, network: "ETH_SEPOLIA" });
    const paidAtMs = Date.now() + HOUR;
    for (const [status, position, timeMs] of [
      ["PAID", 11, paidAtMs],
      ["UNDERPAID", 12, paidAtMs + 1],
    ] as const) {
      await testDb.run(sql`insert into timeline_items (id, invoice_id, position, payment_status, time_ms)
        values (${freshId("itl")}, ${test}, ${position}, ${status}, ${timeMs})`);
    }
    await testDb.update(invoices).set({ status: "PAID" }).where(eq(invoices.id, test));
    const { parsed } = await linesOf(shop, "invoices.jsonl");
    const of = parsed().map(({ id, paidAt, networks, isTest }) => [id, paidAt, networks, isTest]);
    expect(of).toEqual([
      [unpaid, null, [], false],
      [mixed, null, ["ETH_SEPOLIA", "ETH"], false],
      [test, new Date(paidAtMs).toISOString(), ["ETH_SEPOLIA"], true],
    ]);
    const csv = await linesOf(shop, "invoices.csv");
    expect(csv.lines[0]).toMatch(/,paidAt,cryptocurrencies,networks,isTest\r$/);
    expect(csv.lines[2]).toMatch(/,,USDT,ETH_SEPOLIA ETH,false\r$/);
  });

  it.each([
    ["payments.csv?after=pay_01ARZ3NDEKTSV4RRFFQ69G5FAV", "after"],
    ["payments.csv?from=2026-11-02&to=2026-11-01", "to"],
    ["invoices.jsonl?timezone=Mars/Olympus", "timezone"],
    ["statement.csv", "month"],
    ["statement.csv?month=2026-13", "month"],
    ["statement.jsonl?month=2026-11&asOf=soon", "asOf"],
  ])("refuses %s", async (path, member) => {
    const { status, body } = await (await freshMerchant()).get(`/reports/${path}`);
    expect([status, body.code, body.details[0].path]).toEqual([400, "VALIDATION_FAILED", member]);
  });

  it("does not continue after another merchant's line", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    await writePayments(other, { count: 1 });
    const [line] = (await linesOf(other, "payments.jsonl")).parsed();
    expect((await shop.get(`/reports/payments.jsonl?after=${line.id}`)).status).toBe(400);
  });
});

describe("a monthly statement", () => {
  interface Paid {
    readonly receivedAtMs: number;
    readonly fiatMicros: number | null;
  }

  /** Creates an invoice with these payments, and adds them to the report's totals. */
  async function sold(shop: TestMerchant, currency: string, payments: readonly Paid[]): Promise<InvoiceId> {
    const invoiceId = await createdInvoice(shop, { currency });
    const entries = payments.map(({ receivedAtMs, fiatMicros }) => ({
      invoiceId,
      network: "ETH",
      cryptocurrency: "USDT",
      startsAtMs: bucketOf(receivedAtMs),
      sums: {
        payments: 1n,
        units: 1_000_000n,
        ...(fiatMicros === null ? { unpriced: 1n } : { fiatMicros: BigInt(fiatMicros) }),
      },
    }));
    await batch(testDb, [...addEntries(testDb, entries)]);
    for (const each of payments) await writePayments(shop, { count: 1, invoiceId, ...each });
    return invoiceId;
  }

  it.each(["UTC", "Europe/Berlin", "Pacific/Kiritimati", "America/St_Johns"])(
    "in %s has the payments that the totals count, and sums equal to the totals and a recount",
    async (timezone) => {
      const shop = await freshMerchant();
      const times = [-15, -14, -4, -1, 0, 1, 3, 4, 24, 500, 700, 716, 719, 720, 724].map(
        (hours) => NOVEMBER + hours * HOUR,
      );
      const paid = times.flatMap((atMs, n) => [
        { receivedAtMs: atMs - 1, fiatMicros: 7_000_001 * (n + 1) },
        { receivedAtMs: atMs, fiatMicros: n % 5 === 0 ? null : 3_333_333 * n },
      ]);
      await sold(
        shop,
        "EUR",
        paid.filter((_, n) => n % 3 !== 0),
      );
      await sold(
        shop,
        "USD",
        paid.filter((_, n) => n % 3 === 0),
      );
      // Unmatched payments count in no total.
      await writePayments(shop, { count: 3, receivedAtMs: NOVEMBER + 48 * HOUR, status: "UNMATCHED" });
      const { parsed } = await linesOf(shop, `statement.jsonl?month=2026-11&timezone=${timezone}`);
      const lines = parsed();
      const query = new URLSearchParams({ from: "2026-11-01", to: "2026-11-30", timezone });
      const { periods, total } = (await shop.get(`/reports/totals?${query}`)).body;

      const payments = lines.filter(({ line }) => line === "PAYMENT");
      expect(payments).toHaveLength(total.payments);
      for (const day of periods) {
        expect(payments.filter(({ date }) => date === day.from)).toHaveLength(day.payments);
      }
      const currencies = lines.filter(({ line }) => line === "CURRENCY_TOTAL");
      expect(currencies.map(({ currency, fiatAmount }) => ({ currency, amount: fiatAmount }))).toEqual(total.received);
      const coins = lines.filter(({ line }) => line === "COIN_TOTAL");
      expect(coins.map(({ currency, fiatAmount }) => ({ currency, amount: fiatAmount }))).toEqual(
        total.coins[0].received,
      );
      expect(coins.reduce((sum, { unpriced }) => sum + unpriced, 0)).toBe(total.unpriced);

      // The offsets of these zones at both ends of the month.
      const offset = { UTC: 0, "Europe/Berlin": 1, "Pacific/Kiritimati": 14, "America/St_Johns": -2.5 }[timezone] ?? 0;
      const endOffset = timezone === "America/St_Johns" ? -3.5 : offset;
      const isIn = (atMs: number) =>
        atMs >= NOVEMBER - offset * HOUR && atMs < Date.UTC(2026, 11, 1) - endOffset * HOUR;
      const recount = paid.filter(({ receivedAtMs }, n) => n % 3 !== 0 && isIn(receivedAtMs));
      const euros = recount.reduce((sum, { fiatMicros }) => sum + BigInt(fiatMicros ?? 0), 0n);
      expect(currencies.find(({ currency }) => currency === "EUR")).toMatchObject({
        fiatAmount: formatMicros(euros),
        payments: recount.length,
      });
    },
  );

  it("continues after a line, with the sums of all payments", async () => {
    const shop = await freshMerchant();
    const invoiceId = await createdInvoice(shop);
    await writePayments(shop, { count: 3_000, invoiceId });
    const whole = await linesOf(shop, "statement.csv?month=2026-11");
    expect(whole.lines[0]).toBe(`${STATEMENT_COLUMNS.join(",")}\r`);
    expect(whole.lines.slice(-2)).toEqual([
      "COIN_TOTAL,,,,,,,,ETH,USDT,3000,USD,3750.000000,,,3000,0\r",
      "CURRENCY_TOTAL,,,,,,,,,,,USD,3750.000000,,,3000,0\r",
    ]);
    const after = whole.lines[2_700]?.split(",")[3] ?? "";
    const rest = await linesOf(shop, `statement.csv?month=2026-11&after=${after}&asOf=${asOf(whole)}`);
    expect([...whole.lines.slice(0, 2_701), ...rest.lines]).toEqual(whole.lines);
  });

  it.each([
    ["left the chain", { status: "DROPPED" as const }],
    ["got a value", { fiatMicros: 99_000_000n }],
    ["was assigned to another invoice", { invoiceId: null }],
    ["moved to another day", { receivedAtMs: NOVEMBER - DAY_MS }],
  ])(
    "does not continue after a line once a payment before that line has changed (it %s), because the sums would not match the lines",
    async (_, change) => {
      const shop = await freshMerchant();
      await writePayments(shop, { count: 10, invoiceId: await createdInvoice(shop) });
      const whole = await linesOf(shop, "statement.csv?month=2026-11");
      const [first = "", place = "", last = ""] = [1, 5, 9].map((n) => whole.lines[n]?.split(",")[3] ?? "");
      const goOn = () => shop.get(`/reports/statement.csv?month=2026-11&after=${place}&asOf=${asOf(whole)}`);
      const changed = async (id: string) => {
        const where = eq(payments.id, id as `pay_${string}`);
        await testDb
          .update(payments)
          .set({ ...change, updatedAtMs: Date.now() })
          .where(where);
      };
      // A payment that is listed after the line may have changed since.
      await changed(last);
      expect((await goOn()).status).toBe(200);
      await changed(first);
      const { status, body } = await goOn();
      expect([status, body.details]).toEqual([400, [{ path: "after", message: expect.stringContaining("beginning") }]]);
    },
  );

  it("continues only if the request repeats the `asOf` time of the first part", async () => {
    const shop = await freshMerchant();
    await writePayments(shop, { count: 2, invoiceId: await createdInvoice(shop) });
    const { lines } = await linesOf(shop, "statement.csv?month=2026-11");
    const { status, body } = await shop.get(`/reports/statement.csv?month=2026-11&after=${lines[1]?.split(",")[3]}`);
    expect([status, body.details?.[0]?.path]).toEqual([400, "asOf"]);
  });
});
