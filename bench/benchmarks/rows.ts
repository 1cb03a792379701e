// Whether cost grows with the number of invoices: the first page of 20, a late page, and a create, in a large table compared with a table of 1,000
// invoices.
import { encodeCursor } from "../../src/lib/pagination.ts";
import type { Context } from "../context.ts";
import { interleave, type Target, target } from "../interleave.ts";
import { type Merchant, type Product, serveProduct } from "../product.ts";
import type { Figure, Outcome } from "../report.ts";
import { type SeededRange, seedInvoices } from "../seed-invoices.ts";
import { createTarget, merchantWithTwoWallets } from "./create-targets.ts";
import { latency, throughput } from "./figures.ts";

export const SMALL_ROWS = 1_000;
const LIMIT = 20;
/** Relations of a listed invoice, each read as a row of its own: customer, product, payments, timeline, payment methods. */
const RELATIONS = 5;
/** Rows that authentication reads: the key and the merchant. */
const AUTHENTICATION_ROWS = 2;

export interface Filled {
  readonly product: Product;
  readonly merchant: Merchant;
  readonly range: SeededRange;
  readonly rows: number;
}

async function filled(context: Context, name: string, rows: number): Promise<Filled> {
  const product = await context.product(name);
  const merchant = await merchantWithTwoWallets(product);
  const range = await seedInvoices(product.database, merchant.merchantId, rows, (text) => context.progress(text));
  return { product, merchant, range, rows };
}

const filledOnce = new WeakMap<Context, Promise<readonly [Filled, Filled]>>();

/** The small and the large table, filled on first use. */
export function tables(context: Context): Promise<readonly [Filled, Filled]> {
  const known = filledOnce.get(context);
  if (known !== undefined) return known;
  const made = (async () =>
    [await filled(context, "small", SMALL_ROWS), await filled(context, "large", context.options.largeRows)] as const)();
  filledOnce.set(context, made);
  return made;
}

/** The page that starts after invoice number `n`, counted from the oldest. */
function pagePath({ merchant, range }: Filled, n?: number): string {
  const cursor = n === undefined ? "" : encodeCursor(range.positionOf(n));
  return merchant.path(`/invoices?limit=${LIMIT}&cursor=${cursor}`);
}

function pageTarget(table: Filled, label: string, n?: number): Target {
  const shape = { method: "GET", path: pagePath(table, n), headers: table.merchant.headers } as const;
  return target(`${label} at ${table.rows}`, table.product.served, shape);
}

export async function list(context: Context): Promise<Outcome> {
  const [small, large] = await tables(context);
  const deep = (table: Filled) => Math.floor(table.rows / 10);
  for (const table of [small, large]) {
    await assertPage(table, table.rows - 1);
    await assertPage(table, deep(table) - 1, deep(table));
  }
  const targets = [
    pageTarget(large, "first page"),
    pageTarget(small, "first page"),
    pageTarget(large, "deep page", deep(large)),
    pageTarget(small, "deep page", deep(small)),
  ] as const;
  const window = { ...context.plan, connections: 1 };
  const [firstLarge, firstSmall, deepLarge, deepSmall] = await interleave(context, targets, window);
  const rows = large.rows.toLocaleString("en");
  const baseline = `the same at ${SMALL_ROWS.toLocaleString("en")}`;
  const atMost = { atMost: 1.3 };
  return {
    figures: [
      latency({
        what: `list, first ${LIMIT} of ${rows}`,
        ours: firstLarge,
        baseline,
        theirs: firstSmall,
        target: atMost,
      }),
      latency({ what: `list, ${LIMIT} deep in ${rows}`, ours: deepLarge, baseline, theirs: deepSmall, target: atMost }),
      ...(await rowsRead(context)),
    ],
  };
}

/** Checks that the page holds exactly the 20 invoices from `newest` down, in order. */
async function assertPage(table: Filled, newest: number, after?: number): Promise<void> {
  const answer = await table.product.served.fetch(pagePath(table, after), { headers: table.merchant.headers });
  const page: { data?: { id: string }[] } = JSON.parse(await answer.text());
  const expected = Array.from({ length: LIMIT }, (_, i) => table.range.positionOf(newest - i).id);
  if (JSON.stringify(page.data?.map((invoice) => invoice.id)) !== JSON.stringify(expected)) {
    throw new Error(`a page of ${table.rows} invoices is not the ${LIMIT} newest (${answer.status})`);
  }
}

const COUNTED_ENTRY = `
import worker from "./src/app/worker.ts";
export * from "./src/app/worker.ts";
import { counted } from "./bench/counted-database.ts";
export default { fetch: (request, env, ctx) => counted(env, (wrapped) => worker.fetch(request, wrapped, ctx)) };
`;
const COUNTED_ROWS = 50_000;

/** Rows that a page reads, counted by the database itself in a separate build that is not timed. */
async function rowsRead(context: Context): Promise<Figure[]> {
  context.progress("counting rows read");
  const product = await serveProduct({ entry: { text: COUNTED_ENTRY } });
  await context.keep(Promise.resolve(product.served));
  const merchant = await merchantWithTwoWallets(product);
  const range = await seedInvoices(product.database, merchant.merchantId, COUNTED_ROWS, (text) =>
    context.progress(text),
  );
  const table: Filled = { product, merchant, range, rows: COUNTED_ROWS };
  const bound = (LIMIT + 1) * (1 + RELATIONS) + AUTHENTICATION_ROWS;
  const pages = [["first", undefined] as const, ["deep", COUNTED_ROWS / 10] as const];
  return Promise.all(
    pages.map(async ([name, after]) => {
      const answer = await product.served.fetch(pagePath(table, after), { headers: merchant.headers });
      const [rows, calls] = ["x-bench-rows-read", "x-bench-d1-calls"].map((header) =>
        Number(answer.headers.get(header)),
      );
      if (answer.status !== 200 || rows === undefined || rows < LIMIT)
        throw new Error(`${rows} rows were read for ${LIMIT}`);
      const ratio = rows / bound;
      return {
        what: `list, ${name} page, rows read`,
        baseline: `(limit + 1) x (1 + ${RELATIONS} relations) + key and merchant`,
        ratio: { median: ratio, low: ratio, high: ratio },
        target: { atMost: 1 },
        measured: `${rows} of ${bound}, in ${calls} D1 calls`,
      };
    }),
  );
}

export async function createAtManyRows(context: Context): Promise<Outcome> {
  const [small, large] = await tables(context);
  const targets = [
    createTarget("create, large table", large.product, large.merchant),
    createTarget("create, small table", small.product, small.merchant),
  ] as const;
  const [ours, theirs] = await interleave(context, targets, { ...context.plan, connections: 16 });
  const what = `create at ${large.rows.toLocaleString("en")} invoices, c = 16`;
  const baseline = `at ${SMALL_ROWS.toLocaleString("en")}`;
  return {
    figures: [
      latency({ what, ours, baseline, theirs, target: { atMost: 1.4 } }),
      throughput({ what, ours, baseline, theirs }),
    ],
  };
}
