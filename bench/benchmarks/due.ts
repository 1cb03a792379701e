// Many invoices due in the same minute: how fast the queue's jobs expire them, alone and during creates, and how much that slows down the creates.
import type { JobMessage } from "../../src/app/jobs.ts";
import type { Context } from "../context.ts";
import { interleaveOnce, type Measured, pauseUntil, type Target, together } from "../interleave.ts";
import type { Merchant, Product } from "../product.ts";
import type { Figure, Outcome } from "../report.ts";
import { seedDueInvoices } from "../seed-invoices.ts";
import { spread } from "../statistics.ts";
import { createTarget, merchantWithTwoWallets } from "./create-targets.ts";
import { latency, tail, throughput } from "./figures.ts";

const DUE = 100_000;
const QUICK_DUE = 20_000;
/** The number of merchants, among whom the due invoices are divided evenly. */
const MERCHANTS = 10;
/** Concurrency of the creates. */
const CONNECTIONS = 16;
const ASKED_EVERY_MS = 50;
/** A wait longer than any run, so that a run in progress when the job was paused has ended. */
const RUN_MS = 2_000;
/** The invoices per second that performance.md requires. */
const WANTED = { beside: 200, alone: 600 };
const FOREVER_MS = Number.MAX_SAFE_INTEGER;

/** The due invoices, and the job that expires them. */
class Backlog {
  readonly #product: Product;
  readonly #merchants: readonly Merchant[];

  constructor(product: Product, merchants: readonly Merchant[]) {
    this.#product = product;
    this.#merchants = merchants;
  }

  /** The number of invoices that have not expired yet, from the merchants' own counters. */
  async left(): Promise<number> {
    const row = await this.#ofMerchants<{ left: number }>(
      "SELECT sum(active_invoices) AS left FROM merchants WHERE id",
    );
    return row.left;
  }

  /** Starts a chain of runs, as the cron does each minute. */
  async begin(): Promise<void> {
    await this.#database.prepare("UPDATE job_runs SET leased_until_ms = 0 WHERE job = 'expire'").run();
    const message: JobMessage = { job: "expire", minuteMs: Date.now(), runs: 0 };
    await this.#product.served.sendToQueue("JOB_QUEUE", [message]);
  }

  /** Ends the chain: its next run finds the job leased, and sends no message. */
  async pause(): Promise<void> {
    await this.#database
      .prepare(
        `INSERT INTO job_runs (job, run_id, leased_until_ms, began_at_ms) VALUES ('expire', 'bench', ?1, 0)
         ON CONFLICT DO UPDATE SET run_id = 'bench', leased_until_ms = ?1`,
      )
      .bind(FOREVER_MS)
      .run();
    let before = await this.left();
    await pauseUntil(RUN_MS, async () => {
      const left = await this.left();
      const isStill = left === before;
      before = left;
      return isStill;
    });
  }

  /** Checks that every invoice has expired once, with its timeline item and its event, and that the merchants' counters are correct. */
  async assertExpired(count: number): Promise<void> {
    const found = await this.#ofMerchants<Record<string, number>>(
      `SELECT count(*) AS invoices, sum(status = 'EXPIRED') AS expired, sum(timeline_position = 2) AS moved,
         (SELECT count(*) FROM timeline_items WHERE payment_status = 'EXPIRED') AS items,
         (SELECT count(DISTINCT invoice_id) FROM events WHERE type = 'invoice.expired') AS named,
         (SELECT count(*) FROM events WHERE type = 'invoice.expired') AS events,
         (SELECT count(*) FROM unsettled_invoices) AS unsettled FROM invoices WHERE merchant_id`,
    );
    const { unsettled, ...counts } = found;
    const isRight = unsettled === 0 && Object.values(counts).every((each) => each === count);
    const left = await this.left();
    if (!isRight || left !== 0)
      throw new Error(`of ${count} due: ${JSON.stringify(found)}, ${left} active by counters`);
  }

  get #database() {
    return this.#product.database;
  }

  /** Runs a statement about the backlog's merchants and returns its only row. `sql` ends with the column that is compared with their ids. */
  async #ofMerchants<Row>(sql: string): Promise<Row> {
    const ids = JSON.stringify(this.#merchants.map(({ merchantId }) => merchantId));
    const row = await this.#database.prepare(`${sql} IN (SELECT value FROM json_each(?1))`).bind(ids).first<Row>();
    if (row === null) throw new Error("a count returned no row");
    return row;
  }
}

export async function due(context: Context): Promise<Outcome> {
  const count = context.options.isQuick ? QUICK_DUE : DUE;
  const product = await context.product("due");
  const shop = await merchantWithTwoWallets(product);
  const creates = createTarget("create", product, shop);
  const merchants = await Promise.all(Array.from({ length: MERCHANTS }, () => product.newMerchant()));
  const backlog = new Backlog(product, merchants);
  await backlog.pause();
  const ids = merchants.map(({ merchantId }) => merchantId);
  await seedDueInvoices(product.database, ids, count, (text) => context.progress(text));
  const { busy, calm, besidePerSecond } = await beside(context, backlog, creates);
  const alonePerSecond = await alone(context, backlog);
  await backlog.assertExpired(count);
  await assertCounter(product, shop);
  const what = `create beside ${count.toLocaleString("en")} invoices that expire, c = ${CONNECTIONS}`;
  const against = { what, ours: busy, baseline: "beside as many that wait", theirs: calm };
  return {
    figures: [
      latency({ ...against, target: { atMost: 2 } }),
      tail(against),
      throughput(against),
      rate(`expired beside creates, c = ${CONNECTIONS}, invoices/s`, besidePerSecond, WANTED.beside),
      rate("expired alone, invoices/s", alonePerSecond, WANTED.alone),
      againstCreates("expired alone, invoices/s", alonePerSecond, calm),
    ],
  };
}

/** Creates invoices while the job is paused and while it runs, in turn. */
async function beside(context: Context, backlog: Backlog, creates: Target) {
  const window = { ...context.plan, connections: CONNECTIONS };
  const rounds: { readonly busy: Measured[]; readonly calm: Measured[] } = { busy: [], calm: [] };
  const besidePerSecond: number[] = [];
  for (let round = 0; round < window.rounds; round++) {
    rounds.calm.push(await interleaveOnce(context, creates, window));
    const [before, beganMs] = [await backlog.left(), performance.now()];
    await backlog.begin();
    rounds.busy.push(await interleaveOnce(context, creates, window));
    const left = await backlog.left();
    besidePerSecond.push(((before - left) * 1_000) / (performance.now() - beganMs));
    if (left === 0) throw new Error("all had expired before the creates were measured: more must be due");
    await backlog.pause();
  }
  return { busy: together(rounds.busy), calm: together(rounds.calm), besidePerSecond };
}

/** Expired invoices per second, one value for each second until no due invoice is left. */
async function alone(context: Context, backlog: Backlog): Promise<readonly number[]> {
  const perSecond: number[] = [];
  let [left, atMs] = [await backlog.left(), performance.now()];
  await backlog.begin();
  while (left > 0) {
    const before = { left, atMs };
    await pauseUntil(ASKED_EVERY_MS, async () => {
      left = await backlog.left();
      return left === 0 || performance.now() - before.atMs >= 1_000;
    });
    atMs = performance.now();
    perSecond.push(((before.left - left) * 1_000) / (atMs - before.atMs));
    context.progress(`${left} invoices are due`);
  }
  return perSecond;
}

/** Checks that the counter of active invoices is right for the merchant of the creates. */
async function assertCounter({ database }: Product, { merchantId }: Merchant): Promise<void> {
  const row = await database
    .prepare(
      `SELECT active_invoices AS counted, (SELECT count(*) FROM invoices WHERE merchant_id = shop.id AND status = 'AWAITING_PAYMENT') AS active
       FROM merchants shop WHERE id = ?`,
    )
    .bind(merchantId)
    .first<{ counted: number; active: number }>();
  if (row === null || row.active === 0 || row.counted !== row.active)
    throw new Error(`${row?.counted} invoices are counted as active, and ${row?.active} are`);
}

function rate(what: string, perSecond: readonly number[], wanted: number): Figure {
  const { median } = spread(perSecond);
  return {
    what,
    baseline: `the bound of ${wanted} a second`,
    ratio: spread(perSecond.map((each) => each / wanted)),
    target: { atLeast: 1 },
    measured: `${median.toFixed(0)} /s`,
  };
}

/** Compares the rate with that of creates, because a busy machine slows down both. A fixed limit would mostly measure the load on the machine. */
function againstCreates(what: string, perSecond: readonly number[], creates: Measured): Figure {
  const createsPerSecond = spread(creates.perSecond).median;
  return {
    what,
    baseline: `creates a second, c = ${CONNECTIONS}, beside as many that wait`,
    ratio: spread(perSecond.map((each) => each / createsPerSecond)),
    measured: `${spread(perSecond).median.toFixed(0)} /s against ${createsPerSecond.toFixed(0)} /s`,
  };
}
