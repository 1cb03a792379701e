// A block that pays many invoices: what it costs to credit them, and that none of them depends on another.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, expect, it } from "vitest";
import type { Network } from "../../../src/chains/registry/networks.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { Meter } from "../../../src/platform/db/meter.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { StatementBudget } from "../../../src/platform/db/statement-budget.ts";
import { network } from "../../support/named-network.ts";
import { BTC, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { useEmptyTables } from "./network-pass-harness.ts";
import { blockAt, invoiceOf, shopAt, shown, transferTo } from "./transfers-harness.ts";

useEmptyTables();

const ETH = network("ETH");
/** The number of statements that a scan may use (PASS_STATEMENTS). */
const BUDGET = 350;

type Shop = Awaited<ReturnType<typeof shopAt>>;
interface Order {
  readonly shop: Shop;
  readonly id: string;
  readonly units: bigint;
}

let shops: readonly Shop[] = [];
beforeEach(async () => {
  shops = await Promise.all(Array.from({ length: 4 }, () => shopAt()));
});

async function ordersOf(each: number): Promise<readonly Order[]> {
  const orders: Order[] = [];
  for (const shop of shops)
    for (let n = 0; n < each; n++) orders.push({ shop, ...(await invoiceOf(shop.merchant, 20 + n)) });
  return orders;
}

const paying = ({ shop, units }: Order) => transferTo(shop.address, units);

interface Applying {
  readonly of?: Network;
  readonly tip?: number;
  readonly budget?: number;
  /** Called before each batch, with its number of statements. */
  readonly onBatch?: (statements: number) => Promise<void>;
}

/** Applies the transfers; returns the result and its cost. */
async function applying(
  transfers: ReturnType<typeof paying>[],
  { of = ETH, tip = 100, budget = BUDGET, onBatch }: Applying = {},
) {
  const meter = new Meter();
  const d1 = new Proxy(env.DB, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name !== "batch" || onBatch === undefined) return member.bind(target);
      return async (statements: D1PreparedStatement[]) => {
        await onBatch(statements.length);
        return target.batch(statements);
      };
    },
  });
  const db = openDb(d1, {}, undefined, meter);
  const answer = await applyTransfers(invoiceDependencies(env, { db, nowMs: Date.now(), sleep }), {
    network: of,
    heights: { tipHeight: tip, finalizedHeight: null },
    transfers,
    seen: [],
    budget: new StatementBudget(meter, budget),
  });
  return { answer, meter };
}

const statusesOf = async (orders: readonly Order[]) =>
  Promise.all(orders.map(async ({ shop, id }) => (await shown(shop.merchant, id)).status));

/** The types of an invoice's events with their sequence numbers. */
async function eventsOf({ shop, id }: Order) {
  const { body } = await shop.merchant.get(`/events?invoiceId=${id}&limit=100`);
  const rows: readonly { type: string; sequence: number }[] = body.data;
  return rows.map(({ type, sequence }) => `${sequence} ${type}`).toSorted();
}

it("sixty invoices paid in one block are credited with at most 12 calls in all and 2 statements per invoice", async () => {
  const orders = await ordersOf(15);
  const { answer, meter } = await applying(orders.map((order) => paying(order)));
  expect(answer).toMatchObject({ ok: true });
  expect(answer.ok && answer.value.invoices.toSorted()).toEqual(orders.map(({ id }) => id).toSorted());
  expect(await statusesOf(orders)).toEqual(orders.map(() => "PAID"));
  expect(meter.calls).toBeLessThanOrEqual(12);
  expect(meter.statements).toBeLessThanOrEqual(2 * orders.length);
  const [one, ...others] = await Promise.all(orders.map(eventsOf));
  expect(one?.length).toBeGreaterThan(1);
  expect(others).toEqual(others.map(() => one));
});

it("a pass that has spent its budget leaves the remaining batches to the next pass, and each invoice is credited once", async () => {
  const orders = await ordersOf(15);
  const transfers = orders.map((order, n) => ({ ...paying(order), block: blockAt(90 + (n % 10)) }));
  const seen = new Set<string>();
  for (let looks = 1; ; looks++) {
    const { answer } = await applying(transfers, { budget: 1 });
    if (!answer.ok) throw new Error(answer.error.code);
    expect(answer.value.invoices.filter((id) => seen.has(id))).toEqual([]);
    for (const id of answer.value.invoices) seen.add(id);
    if (answer.value.leftFrom === undefined) break;
    expect([answer.value.invoices.length > 0, looks < 10]).toEqual([true, true]);
  }
  expect(await statusesOf(orders)).toEqual(orders.map(() => "PAID"));
});

it("invoices of one price that are half paid in the same block get different amounts for the rest", async () => {
  const [shop] = shops;
  if (shop === undefined) throw new Error("no shop");
  const { merchant } = shop;
  expect((await merchant.post("/wallets", xpubWallet())).status).toBe(201);
  const orders = [];
  for (let n = 0; n < 8; n++) {
    const made = await merchant.post("/invoices", { name: "Order", rawAmount: 50, paymentMethods: [BTC, USDT] });
    const { address, amount } = made.body.paymentMethods.find((each: typeof BTC) => each.network === "BTC");
    // Every third invoice is paid in full, by an output to its own address.
    const units = BigInt(Math.round(Number(amount) * 1e8)) / (n % 3 === 0 ? 1n : 2n);
    orders.push({ id: String(made.body.id), transfer: { ...transferTo(address, units), cryptocurrency: "BTC" } });
  }
  const bitcoin = { of: network("BTC"), tip: 200 };
  const gaps = async () => (await testDb.select().from(wallets).where(sql`network = 'BTC'`)).map(({ gap }) => gap);
  await applying(
    orders.filter((_, n) => n % 3 === 0).map(({ transfer }) => transfer),
    bitcoin,
  );
  // The last of the eight addresses has received nothing.
  expect(await gaps()).toEqual([1]);
  const { answer } = await applying(
    orders.map(({ transfer }) => transfer),
    bitcoin,
  );
  expect(answer).toMatchObject({ ok: true });
  const read = await Promise.all(orders.map(({ id }) => shown(merchant, id)));
  expect(read.map(({ status, payments }) => [status, payments.length])).toEqual(
    orders.map((_, n) => [n % 3 === 0 ? "PAID" : "AWAITING_PAYMENT", 1]),
  );
  const rests = await testDb
    .select({ units: paymentMethods.remainderUnits })
    .from(paymentMethods)
    .where(sql`network = 'ETH' and remainder_units is not null`);
  const halfPaid = read.filter(({ status }) => status !== "PAID").length;
  expect([rests.length, new Set(rests.map(({ units }) => units)).size]).toEqual([halfPaid, halfPaid]);
  expect(await gaps()).toEqual([0]);
});

it("an invoice that cannot be read does not prevent other invoices of its block from being paid", async () => {
  const orders = await ordersOf(3);
  const broken = orders[4];
  if (broken === undefined) throw new Error("no order");
  await testDb.update(invoices).set({ metadata: "{" }).where(sql`id = ${broken.id}`);
  const { answer } = await applying(orders.map((order) => paying(order)));
  expect(answer).toMatchObject({ ok: true });
  const others = orders.filter((order) => order !== broken);
  expect(await statusesOf(others)).toEqual(others.map(() => "PAID"));
  const left = await testDb.select().from(payments).where(sql`invoice_id is null`);
  expect(left.map(({ status }) => status)).toEqual(["UNMATCHED"]);
});

/** More statements than a change of one invoice has, but fewer than a change of twenty. */
const LONG_BATCH = 20;

it("invoices are credited one by one if the database never answers their joint batch", async () => {
  const orders = await ordersOf(5);
  let lost = 0;
  const { answer } = await applying(
    orders.map((order) => paying(order)),
    {
      onBatch: async (statements) => {
        if (statements < LONG_BATCH) return;
        lost++;
        throw new Error("Network connection lost.");
      },
    },
  );
  expect([answer.ok, lost]).toEqual([true, 3]);
  expect(await statusesOf(orders)).toEqual(orders.map(() => "PAID"));
});

it("a database that answers no write is sent the joint batch and two single invoices, and nothing counts as stored", async () => {
  const orders = await ordersOf(5);
  const lost: number[] = [];
  const { answer } = await applying(
    orders.map((order) => paying(order)),
    {
      onBatch: async (statements) => {
        // Skips reads, which have fewer statements.
        if (statements < 8) return;
        lost.push(statements);
        throw new Error("Network connection lost.");
      },
    },
  );
  expect(answer).toEqual({ ok: false, error: { code: "STORAGE_UNAVAILABLE" } });
  // Each write is sent three times.
  expect(lost.map((statements) => statements >= LONG_BATCH)).toEqual([...Array(3).fill(true), ...Array(6).fill(false)]);
  expect(await statusesOf(orders)).toEqual(orders.map(() => "AWAITING_PAYMENT"));
});

it("an invoice is credited even if another writer changes it while its block is credited, and no event is written twice", async () => {
  const orders = await ordersOf(3);
  const raced = orders[7];
  if (raced === undefined) throw new Error("no order");
  let isRaced = false;
  const { answer, meter } = await applying(
    orders.map((order) => paying(order)),
    {
      onBatch: async (statements) => {
        // Skips reads, which have few statements; the first long batch writes all invoices.
        if (statements < orders.length || isRaced) return;
        isRaced = (await raced.shop.merchant.patch(`/invoices/${raced.id}`, { name: "Renamed" })).status === 200;
      },
    },
  );
  expect([isRaced, answer]).toMatchObject([true, { ok: true }]);
  expect(await statusesOf(orders)).toEqual(orders.map(() => "PAID"));
  // The whole batch was refused, and then each invoice was credited alone.
  expect(meter.calls).toBeGreaterThan(2 * orders.length);
  for (const order of orders) {
    const sequences = (await eventsOf(order)).map((each) => Number(each.split(" ")[0])).toSorted((a, b) => a - b);
    expect(sequences).toEqual(sequences.map((_, n) => n + 1));
  }
});
