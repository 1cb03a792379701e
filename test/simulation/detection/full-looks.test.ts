// Passes and invoices at their limits, one below and one above. Nothing beyond a limit may be lost, memory must stay within a Worker's limit, and no
// cursor may skip anything.
import { expect, it } from "vitest";
import { pairOf } from "../../../src/chains/registry/pair.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { MOST_BY_RULES, MOST_EVER_BY_RULES } from "../../../src/commerce/payments/payment.ts";
import { type Applied, applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { CAMPAIGN_LIMIT_MS } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { multiplyRows, numbered } from "../engine/multiply-rows.ts";
import { World } from "../engine/world.ts";
import {
  BTC,
  type ETHER,
  EVM_ADDRESS,
  effectsOf,
  NOW_MS,
  ORDERS,
  OWN,
  OWN_ADDRESS,
  stockTill,
  USDT,
} from "./payments-till.ts";
import { instantSleep } from "./reorg-shop.ts";

const lab = new Lab();
/** The rows read in one pass, and the most rows changed by one batch. */
const counted = { read: 0, mostWritten: 0 };

async function inTill(work: () => Promise<void>): Promise<void> {
  const world = new World({ seed: 1, faultChance: 0, isTraced: false, onEviction: () => {} });
  await lab.schedule(world, work);
}

async function look(pair: typeof ETHER | typeof USDT | typeof BTC, transfers: readonly Transfer[]): Promise<Applied> {
  Object.assign(counted, { read: 0, mostWritten: 0 });
  const db = lab.db(async (point, work) => {
    const changesBefore = changes();
    const answers = work();
    if (Array.isArray(answers)) for (const { results } of answers) counted.read += results?.length ?? 0;
    if (point === "d1 write") counted.mostWritten = Math.max(counted.mostWritten, changes() - changesBefore);
    return answers;
  });
  const { world } = lab;
  const deps = {
    ...effectsOf(
      lab,
      world,
      world.client(() => {}),
    ),
    db,
    sleep: instantSleep,
  };
  const heights = { tipHeight: 5_000, finalizedHeight: null };
  const applied = await applyTransfers(deps, { network: pairOf(pair).network, heights, transfers, seen: [] });
  if (!applied.ok) throw new Error(applied.error.code);
  return applied.value;
}

const changes = () => Number(lab.rows("select total_changes() as n")[0]?.n);

function transferOf(pair: typeof ETHER | typeof USDT | typeof BTC, n: number, of: Partial<Transfer>): Transfer {
  const block = { height: 100 + n, hash: `new ${n}`, timeMs: NOW_MS - 20_000 };
  return {
    cryptocurrency: pair.cryptocurrency,
    txHash: `t${n}`,
    outputIndex: "0",
    fromAddress: null,
    toAddress: EVM_ADDRESS,
    amountUnits: 7_000_000n,
    spends: [],
    raw: "{}",
    block,
    ...of,
  };
}

const ROOMS = [0, 1, 2, 4].flatMap((room) => [
  { seen: MOST_BY_RULES - room, gone: 0, room },
  { seen: 5, gone: MOST_EVER_BY_RULES - 5 - room, room },
  { seen: MOST_BY_RULES - room, gone: MOST_EVER_BY_RULES - MOST_BY_RULES, room },
]);

it.each(ROOMS)(
  "an invoice is credited with payments up to its maximum number, and further payments are left to a user: %s",
  ({ seen, gone, room }) =>
    inTill(async () => {
      await stockTill(lab, ORDERS);
      const to = { toAddress: OWN_ADDRESS, amountUnits: 3_000n };
      await look(BTC, [transferOf(BTC, 9_999, to)]);
      const copy = { id: "tx_hash = 't9999'", table: "payments" };
      if (seen > 1)
        multiplyRows(lab, { ...copy, count: seen - 1, as: { id: numbered("pay"), tx_hash: "'seen' || n" } });
      const left = { status: "'DROPPED'", block_hash: "null", block_height: "null", block_time_ms: "null" };
      if (gone > 0)
        multiplyRows(lab, {
          ...copy,
          count: gone,
          as: { ...left, id: numbered("pay", "5000 + n"), tx_hash: "'gone' || n", output_index: "'0~' || n" },
        });
      const more = [0, 1, 2].map((n) => transferOf(BTC, n, to));
      await look(BTC, more);
      const rows = lab.rows(
        "select invoice_id, status from payments where tx_hash in ('t0', 't1', 't2') order by tx_hash",
      );
      const credited = Math.min(3, room);
      expect(rows.map(({ invoice_id }) => invoice_id !== null)).toEqual(more.map((_, n) => n < credited));
      expect(rows.filter(({ status }) => status === "UNMATCHED")).toHaveLength(3 - credited);
      const [invoice] = lab.rows("select needs_review from invoices where id = ?", OWN.id);
      expect(invoice?.needs_review).toBe(Number(credited < 3));
    }),
  CAMPAIGN_LIMIT_MS,
);

it.each([99, 100, 101, 130])(
  "a merchant gets rows for a hundred transfers of a kind per day; the rest is recorded, so no pass processes it again: %s",
  (before) =>
    inTill(async () => {
      await stockTill(lab);
      const some = (from: number, to: number) =>
        Array.from({ length: to - from }, (_, n) => transferOf(USDT, from + n, {}));
      await look(USDT, some(0, before));
      await look(USDT, some(before, 150));
      const [{ n } = {}] = lab.rows("select count(*) as n from payments");
      expect(n).toBe(100);
      const [{ left } = {}] = lab.rows("select count(*) as left from left_out_transfers");
      expect(left).toBe(50);
      await look(USDT, some(0, 150));
      expect(counted.mostWritten).toBe(0);
    }),
  CAMPAIGN_LIMIT_MS,
);

it(
  "rows for many merchants are all written, in batches of 500",
  () =>
    inTill(async () => {
      await stockTill(lab);
      const db = lab.db(async (_, work) => work());
      const [wallet] = (await db.select().from(wallets)).filter(({ cryptocurrency }) => cryptocurrency === "USDT");
      const as = { id: numbered("wal", "1000 + n"), merchant_id: numbered("mer", "1000 + n") };
      multiplyRows(lab, { table: "wallets", id: `id = '${wallet?.id}'`, count: 99, as });
      for (const transfers of [5, 6, 16]) {
        const found = Array.from({ length: transfers }, (_, n) => transferOf(USDT, 1_000 * transfers + n, {}));
        expect((await look(USDT, found)).leftFrom).toBeUndefined();
        // Each row has an event.
        expect(counted.mostWritten).toBeLessThanOrEqual(1_010);
        const [{ n } = {}] = lab.rows("select count(*) as n from payments where tx_hash >= ?", `t${1_000 * transfers}`);
        expect(n).toBe(100 * transfers);
        lab.rows("delete from payments");
      }
    }),
  CAMPAIGN_LIMIT_MS,
);

it(
  "a pass that reaches its maximum of rows leaves the other transfers to the next pass, and the cursor does not move past them",
  () =>
    inTill(async () => {
      await stockTill(lab);
      // Each transfer gets a row for every merchant at the address, and none of them has an invoice for it.
      await look(USDT, [transferOf(USDT, 9_999, {})]);
      const [merchants, transfers] = [10, 2_600];
      multiplyRows(lab, {
        table: "payments",
        id: "tx_hash = 't9999'",
        count: merchants * transfers,
        as: {
          id: numbered("pay"),
          merchant_id: numbered("mer", "n % 10"),
          tx_hash: "'t' || (n / 10)",
          block_hash: "'old'",
        },
      });
      // A source may list the newest transfers first.
      const found = Array.from({ length: transfers }, (_, n) => transferOf(USDT, transfers - 1 - n, {}));
      const { leftFrom } = await look(USDT, found);
      expect(counted.read).toBeLessThanOrEqual(20_100);
      expect(leftFrom).toBe(100);
      const [{ n } = {}] = lab.rows(
        "select count(*) as n from payments where block_hash <> 'old' and tx_hash <> 't9999'",
      );
      // The last transfer whose rows were read may have more rows, so it is left to the next pass too.
      expect(n).toBe(merchants * 1_999);
    }),
  CAMPAIGN_LIMIT_MS,
);
