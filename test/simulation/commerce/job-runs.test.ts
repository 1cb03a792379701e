// Jobs that do part of their work in each run. They get one item fewer than a run takes, exactly as many, one more, and several runs' worth. Every
// item must be processed, no matter what else fails, and a payment gets its price within the hour or not at all.
import { expect, it } from "vitest";
import { pairOf } from "../../../src/chains/registry/pair.ts";
import { releaseAmounts } from "../../../src/commerce/amounts/release-amounts.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { pricePayments } from "../../../src/detection/matching/price-payments.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { BRIEF, BTC, effectsOf, NOW_MS, OWN, OWN_ADDRESS, stockTill } from "../detection/payments-till.ts";
import { instantSleep } from "../detection/reorg-shop.ts";
import { Lab } from "../engine/lab.ts";
import { multiplyRows, numbered } from "../engine/multiply-rows.ts";
import { saidWhile } from "../engine/said-while.ts";
import { World } from "../engine/world.ts";

const lab = new Lab();
await stockTill(lab);
const inLab = (work: () => Promise<void>) =>
  lab.schedule(new World({ seed: 1, faultChance: 0, isTraced: false, onEviction: () => {} }), work);
const db = lab.db(async (_, work) => work());
const LONG_OVER_MS = NOW_MS + 90 * 24 * HOUR_MS;
const MOST_RUNS = 12;
const AMOUNTS_A_RUN = 1_000;
const PLACES_A_RUN = 200;

it.each([
  { amounts: 999, places: 1 },
  { amounts: 1_000, places: 1 },
  { amounts: 1_001, places: 1 },
  { amounts: 2_500, places: 2 },
  { amounts: 200, places: 200 },
  { amounts: 450, places: 450 },
])("amounts that are no longer needed are all released, over several runs if necessary: %s", ({ amounts, places }) =>
  inLab(async () => {
    lab.rows("update invoices set status = 'EXPIRED'");
    const as = { units: "1000 + n", address: `'0x' || (n % ${places})` };
    multiplyRows(lab, { table: "method_amounts", id: `invoice_id = '${BRIEF.id}'`, count: amounts, as });
    lab.rows("delete from method_amounts where address not glob '0x*' or length(address) > 10");
    const deps = {
      db,
      nowMs: LONG_OVER_MS,
      releaseAmounts: async (_: unknown, of: readonly unknown[]) => of.map(() => true),
    };
    let runs = 1;
    while ((await releaseAmounts(deps)) === "more" && runs < MOST_RUNS) runs++;
    // A full run cannot tell that nothing is left, so one more run follows.
    expect(runs).toBe(Math.max(Math.floor(amounts / AMOUNTS_A_RUN) + 1, Math.ceil(places / PLACES_A_RUN)));
    const left = lab.rows("select 1 from method_amounts where released_at_ms is null");
    expect(left).toHaveLength(0);
  }),
);

const SEEN_MS = NOW_MS + 5 * HOUR_MS;

/** Stores invoices paid after their quotes ended, when no price was known. `damaged` of them have an unreadable amount. */
async function unpriced(invoices: number, damaged: number): Promise<void> {
  const block = { height: 10, hash: "b10", timeMs: SEEN_MS };
  const paid = { cryptocurrency: "BTC", txHash: "t", outputIndex: "0", fromAddress: null, toAddress: OWN_ADDRESS };
  await applyTransfers(depsAt(SEEN_MS, false), {
    network: pairOf(BTC).network,
    heights: { tipHeight: 12, finalizedHeight: null },
    seen: [],
    transfers: [{ ...paid, amountUnits: 100_000n, spends: [], raw: "{}", block }],
  });
  const id = numbered("inv", "7000 + n");
  const of = { count: invoices - 1 };
  if (invoices > 1) {
    multiplyRows(lab, { ...of, table: "invoices", id: `id = '${OWN.id}'`, as: { id } });
    const method = { invoice_id: id, address: "'bc1' || n" };
    multiplyRows(lab, { ...of, table: "payment_methods", id: `invoice_id = '${OWN.id}'`, as: method });
    const payment = { id: numbered("pay", "7000 + n"), invoice_id: id, tx_hash: "'t' || n", to_address: "'bc1' || n" };
    multiplyRows(lab, { ...of, table: "payments", id: "tx_hash = 't'", as: payment });
  }
  lab.rows(
    "update payment_methods set amount_units = 'x' where rowid in (select rowid from payment_methods where address glob 'bc1[0-9]*' order by rowid limit ?)",
    damaged,
  );
}

function depsAt(nowMs: number, hasRates: boolean) {
  const { world } = lab;
  const price = (usd: string, atMs = nowMs) => ({ usd, atMs, sources: ["a", "b"] });
  return {
    ...effectsOf(
      lab,
      world,
      world.client(() => {}),
    ),
    db,
    nowMs,
    sleep: instantSleep,
    body: {
      ...effectsOf(
        lab,
        world,
        world.client(() => {}),
      ).body,
      nowMs,
    },
    notePaid: () => {},
    table: async () => ({ assets: hasRates ? { BTC: price("50000"), USDT: price("1") } : {}, fiat: {} }),
  };
}

const waiting = () => lab.rows("select 1 from payments where weighed_by = 'NO_RATE'").length;

it.each([
  { invoices: 1, damaged: 0 },
  { invoices: 49, damaged: 0 },
  { invoices: 50, damaged: 0 },
  { invoices: 51, damaged: 0 },
  { invoices: 130, damaged: 0 },
  { invoices: 130, damaged: 70 },
])("payments get the first known price, fifty invoices per run: %s", ({ invoices, damaged }) =>
  inLab(async () => {
    await unpriced(invoices, damaged);
    expect(waiting()).toBe(invoices);
    await pricePayments(depsAt(SEEN_MS + MINUTE_MS, false));
    expect(waiting()).toBe(invoices);
    for (let run = 2; waiting() > damaged && run < 2 + MOST_RUNS; run++) {
      const before = waiting();
      await saidWhile("error", () => pricePayments(depsAt(SEEN_MS + run * MINUTE_MS, true)));
      if (damaged === 0) expect(before - waiting()).toBe(Math.min(50, before));
    }
    expect(waiting()).toBe(damaged);
    const priced = lab.rows("select distinct market_micros, fiat_micros from payments where weighed_by <> 'NO_RATE'");
    expect(priced.map(({ market_micros }) => String(market_micros))).toEqual(["50000000"]);
    const [{ received_micros } = {}] = lab.rows("select received_micros from invoices where id = ?", OWN.id);
    expect(String(received_micros)).toBe("50000000");
  }),
);

it.each([
  { afterMs: HOUR_MS - 1, isPriced: true },
  { afterMs: HOUR_MS, isPriced: true },
  { afterMs: HOUR_MS + 1, isPriced: false },
])("a payment that gets no price within an hour is left to a user: %s", ({ afterMs, isPriced }) =>
  inLab(async () => {
    await unpriced(3, 0);
    await pricePayments(depsAt(SEEN_MS + afterMs, true));
    expect(waiting()).toBe(isPriced ? 0 : 3);
  }),
);
