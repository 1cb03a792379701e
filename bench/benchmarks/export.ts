// An export of many payments: whether its memory grows with its length, how long it takes, whether it contains every payment exactly once, and
// whether its sums are those of the report and of a recount.
import * as z from "zod";
import type { Context } from "../context.ts";
import { type Merchant, type Product, serveProduct } from "../product.ts";
import type { Figure, Outcome } from "../report.ts";
import { seedInvoices } from "../seed-invoices.ts";
import type { BenchDatabase } from "../serve.ts";

/** Rows per statement. */
const CHUNK = 10_000;
const SAMPLE_MS = 100;
const MIB = 2 ** 20;
/** Allows for one page of rows more or less, and for memory that the runtime has not collected yet. */
const MOST_GROWTH = 1.2;

export async function exportOfPayments(context: Context): Promise<Outcome> {
  const product = await serveProduct();
  await context.keep(Promise.resolve(product.served));
  const shop = await seededShop(context, product, context.options.largeRows);
  const statement = `statement.csv?month=${MONTH.from.slice(0, 7)}`;
  const runs: Exported[] = [];
  for (const name of ["payments.csv", "payments.csv", "payments.jsonl", statement])
    runs.push(await exported(context, product, shop, name));
  const columns = ["file", "payments", "seconds", "payments a second", "MiB sent"];
  const ofMemory = ["RSS before, MiB", "most in the first half", "most in the last half"];
  return {
    // The first run warms up the runtime.
    figures: runs.slice(1).map(growth),
    listings: [{ title: "Exports of payments", columns: [...columns, ...ofMemory], rows: runs.map(cellsOf) }],
  };
}

/** The last full month. All payments are seeded into it. */
const MONTH = monthBefore(Date.now());

function monthBefore(nowMs: number) {
  const now = new Date(nowMs);
  const startMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1);
  const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { startMs, endMs, from: dayOf(startMs), to: dayOf(endMs - 1) };
}

interface Sums {
  readonly payments: number;
  /** The sum of all values in micro-units. The sum of all amounts in base units is the same number. */
  readonly sum: bigint;
}

interface Shop extends Sums {
  readonly merchant: Merchant;
}

/** A merchant whose invoices have a payment each. */
async function seededShop(context: Context, product: Product, rows: number): Promise<Shop> {
  const merchant = await product.newMerchant();
  const { database } = product;
  await seedInvoices(database, merchant.merchantId, rows, (text) => context.progress(text));
  const stepMs = Math.floor((MONTH.endMs - MONTH.startMs) / rows);
  for (let from = 0; from < rows; from += CHUNK) {
    context.progress(`seeding payments, ${from} of ${rows}`);
    const values = [from, Math.min(from + CHUNK, rows), merchant.merchantId, MONTH.startMs, stepMs];
    await database
      .prepare(INSERT_PAYMENTS)
      .bind(...values)
      .run();
  }
  await database.prepare(INSERT_BUCKETS).run();
  const shop = { merchant, payments: rows, sum: (BigInt(rows) * BigInt(rows + 1)) / 2n };
  expectSums("the recount", await recounted(database), shop);
  expectSums("the report", await reported(product, merchant), shop);
  return shop;
}

/** Number n has n + 1 base units and a value of n + 1 micro-units, so the sums are known. */
const INSERT_PAYMENTS = `INSERT INTO payments (id, merchant_id, invoice_id, network, cryptocurrency, tx_hash, output_index, from_address, to_address,
    amount_units, fiat_micros, weighed_by, status, confirmations, required_confirmations, is_late, matched_by, received_at_ms, confirmed_at_ms,
    created_at_ms, updated_at_ms)
  WITH RECURSIVE numbers(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2)
  SELECT 'pay_01' || printf('%024d', n), ?3, 'inv_01' || printf('%024d', n), 'ETH', 'USDT', '0x' || printf('%064x', n), '0', '0x' || printf('%040x', n),
    '0x' || printf('%040x', 7), printf('%d', n + 1), n + 1, 'MARKET_RATE', 'CONFIRMED', 20, 20, 0, 'ADDRESS', ?4 + n * ?5, ?4 + n * ?5 + 60000,
    ?4 + n * ?5, ?4 + n * ?5 FROM numbers`;

/** The report rows that the product would have written, one per quarter of an hour. The sums are small, so the higher digit groups are 0. */
const INSERT_BUCKETS = `INSERT INTO report_buckets (merchant_id, starts_at_ms, currency, network, cryptocurrency, created, paid, overpaid, underpaid,
    expired, cancelled, timed, seconds_to_paid, payments, unpriced, units_low, units_mid, units_high, fiat_low, fiat_high)
  SELECT merchant_id, received_at_ms - received_at_ms % 900000, 'USD', network, cryptocurrency, 0, 0, 0, 0,
    0, 0, 0, 0, count(*), 0, sum(cast(amount_units AS integer)), 0, 0, sum(fiat_micros), 0 FROM payments GROUP BY 1, 2`;

async function recounted(database: BenchDatabase): Promise<readonly Sums[]> {
  const row = await database
    .prepare(
      "SELECT count(*) payments, sum(fiat_micros) micros, sum(cast(amount_units AS integer)) units FROM payments",
    )
    .first<{ readonly payments: number; readonly micros: number; readonly units: number }>();
  if (row === null) throw new Error("there is no recount");
  const { payments, micros, units } = row;
  return [micros, units].map((sum) => ({ payments, sum: BigInt(sum) }));
}

async function reported({ served }: Product, { path, headers }: Merchant): Promise<readonly Sums[]> {
  const query = new URLSearchParams({ from: MONTH.from, to: MONTH.to, by: "month" });
  const answer = await served.fetch(path(`/reports/totals?${query}`), { headers });
  if (answer.status !== 200) throw new Error(`the report was refused: ${answer.status}`);
  const { total } = TOTALS.parse(await answer.json());
  return [
    ...total.received.map(({ amount }) => ({ payments: total.payments, sum: digitsOf(amount) })),
    ...total.coins.map(({ payments, units }) => ({ payments, sum: BigInt(units) })),
  ];
}

const TOTALS = z.object({
  total: z.object({
    payments: z.number(),
    received: z.array(z.object({ amount: z.string() })),
    coins: z.array(z.object({ payments: z.number(), units: z.string() })),
  }),
});

/** The digits of an amount with 6 decimals. */
function digitsOf(amount: string): bigint {
  return BigInt(amount.replace(".", ""));
}

/** There is only one currency and one coin, so every sum must be the same. */
function expectSums(of: string, all: readonly Sums[], { payments, sum }: Sums): void {
  const isRight = all.length > 0 && all.every((each) => each.payments === payments && each.sum === sum);
  const text = all.map((each) => `${each.sum} of ${each.payments}`).join(", ");
  if (!isRight) throw new Error(`${of} says ${text}, not ${sum} of ${payments} payments`);
}

interface Exported {
  readonly name: string;
  readonly rows: number;
  readonly seconds: number;
  readonly bytes: number;
  /** Resident memory of the runtime. The runtime does not return memory to the system, so an export is compared with its own first half. */
  readonly beforeBytes: number;
  readonly firstHalfBytes: number;
  readonly lastHalfBytes: number;
}

/** Reads an export as it arrives, and checks that it contains every payment exactly once: by count, sum of values, and order. */
async function exported(context: Context, product: Product, shop: Shop, name: string): Promise<Exported> {
  const { merchant, payments: rows } = shop;
  context.progress(`exporting ${rows} payments as ${name}`);
  const { served } = product;
  const samples: number[] = [];
  const sample = () => samples.push(served.memoryBytes() ?? 0);
  sample();
  const sampler = setInterval(sample, SAMPLE_MS);
  const startedMs = performance.now();
  try {
    const answer = await served.fetch(merchant.path(`/reports/${name}`), { headers: merchant.headers });
    if (answer.status !== 200 || answer.body === null) throw new Error(`an export was refused: ${answer.status}`);
    const { bytes, ...read } = await readLines(answer.body);
    const seconds = (performance.now() - startedMs) / 1_000;
    expectSums(name, [read, ...read.totals], shop);
    const expected = name.startsWith("statement") ? 2 : 0;
    if (read.totals.length !== expected) throw new Error(`${name} has ${read.totals.length} sums`);
    return { name: name.replace(/\?.*/, ""), rows, seconds, bytes, ...halvesOf(samples) };
  } finally {
    clearInterval(sampler);
  }
}

function halvesOf(samples: readonly number[]) {
  const half = Math.ceil(samples.length / 2);
  return {
    beforeBytes: samples[0] ?? 0,
    firstHalfBytes: Math.max(...samples.slice(0, half)),
    lastHalfBytes: Math.max(...samples.slice(half), samples.at(-1) ?? 0),
  };
}

interface Read extends Sums {
  readonly bytes: number;
  /** The sums in the last lines of a statement. */
  readonly totals: readonly Sums[];
}

async function readLines(body: ReadableStream<Uint8Array>): Promise<Read> {
  const decoder = new TextDecoder();
  const totals: Sums[] = [];
  let [rest, bytes, payments, sum, last] = ["", 0, 0, 0n, ""];
  for await (const chunk of body) {
    bytes += chunk.length;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const value = digitsOf(/USD"?,(?:"fiatAmount":")?(\d+\.\d{6})/.exec(line)?.[1] ?? "0");
      const [, id] = /(pay_[0-9A-Z]{26})/.exec(line) ?? [];
      if (/^(?:COIN|CURRENCY)_TOTAL,/.test(line)) totals.push({ payments: Number(line.split(",").at(-2)), sum: value });
      if (id === undefined) continue;
      if (id <= last) throw new Error(`${id} comes behind ${last}`);
      last = id;
      payments += 1;
      sum += value;
    }
  }
  return { bytes, payments, sum, totals };
}

const mib = (bytes: number) => (bytes / MIB).toFixed(1);

function growth({ name, rows, firstHalfBytes, lastHalfBytes }: Exported): Figure {
  const ratio = lastHalfBytes / firstHalfBytes;
  return {
    what: `export of ${rows.toLocaleString("en")} payments as ${name}, most memory in its last half`,
    baseline: "in its first half",
    ratio: { median: ratio, low: ratio, high: ratio },
    target: { atMost: MOST_GROWTH },
    measured: `${mib(lastHalfBytes)} MiB against ${mib(firstHalfBytes)} MiB`,
  };
}

function cellsOf({ name, rows, seconds, bytes, ...memory }: Exported): readonly string[] {
  return [
    name,
    rows.toLocaleString("en"),
    seconds.toFixed(1),
    Math.round(rows / seconds).toLocaleString("en"),
    ...[bytes, memory.beforeBytes, memory.firstHalfBytes, memory.lastHalfBytes].map(mib),
  ];
}
