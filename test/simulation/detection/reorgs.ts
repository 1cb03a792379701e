// One tree, watched: a shop's invoices are paid on a chain that grows and reorganizes; the real pass reads it through good and bad sources,
// sometimes crashes between two awaits, and the sweep runs. In the end the sources are honest, the chain is deep and time passes: the stored
// state must then be what the model computes from the final chain alone.
import { ChainPool } from "../../../src/chains/chain-pool-client.ts";
import type { Network } from "../../../src/chains/networks.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { runPass } from "../../../src/detection/watchers/watch-network.ts";
import { type WatchDependencies, WatchMemory } from "../../../src/detection/watchers/watch-pass.ts";
import { newUlid } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { Dice } from "../../support/dice.ts";
import { recountProblem, recountTables } from "../../support/report-recount.ts";
import { parseData, STORED_DATA } from "../../support/stored-data.ts";
import type { Effect } from "../engine/sqlite-d1.ts";
import { chainOf, type Mined, mineOn, type View } from "./chain-tree.ts";
import { expectedOf } from "./reorg-model.ts";
import { type Plan, planOf } from "./reorg-plan.ts";
import { instantSleep, type ReorgShop, START_MS, shopDependencies } from "./reorg-shop.ts";
import { byOrdinal, HONEST, type Identify, type Mood } from "./tree-source.ts";

/** How a variant of the protocol differs from the real one. */
export interface Variant {
  readonly name: string;
  readonly identify?: Identify;
  /** Wraps the dependencies of the watcher. */
  readonly change?: (deps: WatchDependencies, shop: ReorgShop, network: Network) => WatchDependencies;
  /** Receives the history, line by line. */
  readonly trace?: (line: string) => void;
}

/** How often each hostile situation came up, over all trees. */
export type Tally = Map<string, number>;

type Verdict = string | undefined;

/** Grows and watches the tree of a seed; returns what is wrong with the result, or undefined. */
export async function watchTree(shop: ReorgShop, seed: number, variant: Variant, tally: Tally): Promise<Verdict> {
  const dice = new Dice(seed);
  const plan = planOf(dice, variant.identify ?? byOrdinal);
  tally.set("deepest fork", Math.max(tally.get("deepest fork") ?? 0, plan.tree.deepestFork));
  return shop.visit(async () => {
    await shop.open(plan.invoices);
    const watch = new Watch(shop, plan, dice, variant, tally);
    await watch.throughTree();
    await watch.toTheEnd();
    return watch.verdict();
  });
}

class Watch {
  readonly #shop: ReorgShop;
  readonly #plan: Plan;
  readonly #dice: Dice;
  readonly #variant: Variant;
  readonly #tally: Tally;
  readonly #isForgetful: boolean;
  #pool: ChainPool;
  readonly #views: View[] = [];
  #memory = new WatchMemory();
  #nowMs = START_MS;
  #ulids = 0;

  constructor(shop: ReorgShop, plan: Plan, dice: Dice, variant: Variant, tally: Tally) {
    this.#shop = shop;
    this.#plan = plan;
    this.#dice = dice;
    this.#variant = variant;
    this.#tally = tally;
    this.#isForgetful = dice.chance(0.5);
    this.#pool = this.#newPool();
    for (const source of plan.sources) source.views = this.#views;
  }

  #newPool(): ChainPool {
    const clients = this.#plan.sources.map(({ client }) => client);
    return new ChainPool({ network: this.#plan.network.name, clients, random: this.#dice.random, report: () => {} });
  }

  /** As an object is that was made anew: idle ones are, before nearly every pass. */
  #forget(): void {
    this.#memory = new WatchMemory();
    this.#pool = this.#newPool();
    this.#count("made anew");
  }

  async throughTree(): Promise<void> {
    const dice = this.#dice;
    for (const view of this.#plan.tree.views) {
      this.#show(view);
      for (let n = dice.oneOf([0, 1, 1, 2]); n > 0; n--) {
        this.#nowMs = Math.max(this.#nowMs, view.atMs) + dice.between(1, 30_000);
        for (const source of this.#plan.sources) source.mood = this.#mood();
        await this.#pass(dice.chance(0.15) ? dice.between(1, 14) : 0);
        if (dice.chance(0.1)) await this.#sweep();
      }
    }
  }

  /** Runs until nothing can change any more. */
  async toTheEnd(): Promise<void> {
    for (const source of this.#plan.sources) source.mood = HONEST;
    let view = this.#plan.tree.last;
    this.#nowMs = Math.max(this.#nowMs, view.atMs);
    // The pause after a failure is over; then what waits to be dropped or given up is; then the invoices are; then their monitoring.
    for (const afterMs of [15 * MINUTE_MS, 80 * HOUR_MS, 30 * DAY_MS, HOUR_MS]) {
      this.#nowMs += afterMs;
      view = { ...view, atMs: this.#nowMs, tip: mineOn(view.tip, this.#nowMs) };
      this.#show(view);
      for (let n = 0; n < 10 && (await this.#pass(0)); n++) this.#nowMs += MINUTE_MS;
      if (afterMs === 30 * DAY_MS) await this.#sweep();
    }
  }

  #show(view: View): void {
    this.#views.push(view);
    this.#variant.trace?.(`chain ${printView(view)}`);
  }

  #mood(): Mood {
    const dice = this.#dice;
    const name = dice.oneOf(["honest", "honest", "late", "balanced", "unindexed", "forgetful", "failing"] as const);
    this.#count(name);
    switch (name) {
      case "honest":
        return HONEST;
      case "late":
        return { ...HONEST, lag: dice.between(1, 4) };
      case "balanced":
        return { ...HONEST, lag: dice.between(1, 3), isBalanced: true };
      case "unindexed":
        return { ...HONEST, unindexed: dice.between(1, Math.min(3, this.#plan.network.overlapBlocks - 1)) };
      case "forgetful":
        return { ...HONEST, isForgetful: true };
      case "failing":
        return { ...HONEST, failing: dice.oneOf([0.1, 0.3, 1]) };
    }
  }

  /** Whether the next pass has more to do. The watcher dies at its `dieAt`-th call of storage, before or after that call lands; 0 spares it. */
  async #pass(dieAt: number): Promise<boolean> {
    if (this.#isForgetful) this.#forget();
    const { promise: death, resolve: die } = Promise.withResolvers<"dead">();
    let calls = 0;
    const effect: Effect = async (_, work) => {
      if (++calls !== dieAt) return work();
      if (this.#dice.chance(0.5)) work();
      die("dead");
      return new Promise(() => {});
    };
    const db = this.#shop.db(effect);
    const dependencies = { shop: this.#shop, db, newUlid: () => this.#newUlid() };
    const real: WatchDependencies = {
      db,
      sleep: instantSleep,
      nowMs: () => this.#nowMs,
      pool: this.#pool,
      report: () => {},
      apply: (look) => applyTransfers(shopDependencies({ ...dependencies, nowMs: this.#nowMs }), look),
    };
    const { network } = this.#plan;
    const deps = this.#variant.change?.(real, this.#shop, network) ?? real;
    const outcome = await Promise.race([runPass(deps, network, this.#memory), death]);
    this.#count(outcome === "dead" ? "died" : `pass ${outcome.kind}`);
    this.#variant.trace?.(`pass ${this.#story(outcome === "dead" ? "died" : outcome.kind)}`);
    if (outcome === "dead") this.#forget();
    return outcome === "dead" || (outcome.kind === "read" ? outcome.isBehind : outcome.kind !== "resting");
  }

  #story(outcome: string): string {
    const [cursor] = this.#shop.rows("select height, hash from network_cursors");
    const moods = this.#plan.sources.map(({ client, mood }) => `${client.kind} ${JSON.stringify(mood)}`);
    const paid = this.#shop.rows("select tx_hash, output_index, status, block_hash, final_at_ms from payments");
    const payments = paid.map((row) => Object.values(row).join(" "));
    return [`${outcome} at ${this.#nowMs}, cursor ${cursor?.height} ${cursor?.hash}`, ...moods, ...payments].join(
      "\n    ",
    );
  }

  async #sweep(): Promise<void> {
    const db = this.#shop.db(async (_, work) => work());
    const { left } = await expireInvoices(
      shopDependencies({ shop: this.#shop, db, nowMs: this.#nowMs, newUlid: () => this.#newUlid() }),
    );
    if (left.length > 0) throw new Error(`the sweep left ${left[0]?.invoiceId}: ${left[0]?.reason}`);
  }

  #newUlid(): string {
    this.#ulids++;
    const bytes = Uint8Array.from({ length: 16 }, (_, n) => (this.#ulids >> (5 * (n % 6))) & 31);
    return newUlid(this.#nowMs, bytes);
  }

  #count(name: string): void {
    this.#tally.set(name, (this.#tally.get(name) ?? 0) + 1);
  }

  verdict(): Verdict {
    const { last } = this.#plan.tree;
    const times = new Map(
      this.#shop
        .rows("select * from payments")
        .map((row) => [`${row.tx_hash}:${row.output_index}`, row.received_at_ms]),
    );
    const expected = expectedOf(last, this.#plan.invoices, (key, finalMs) => Number(times.get(key) ?? finalMs));
    return (
      this.#verdictOfTimes() ??
      this.#verdictOfInvoices(expected) ??
      this.#verdictOfPayments(expected) ??
      this.#verdictOfReports() ??
      this.#verdictOfNews() ??
      this.#verdictOfRest()
    );
  }

  /** A payment's time is never later than its block, and on a chain without a mempool it is that of a block which held it. */
  #verdictOfTimes(): Verdict {
    const { network, tree } = this.#plan;
    const held = new Set(
      [...tree.views, tree.last]
        .flatMap(({ tip }) => chainOf(tip))
        .flatMap(({ ref, mined }) => mined.map(({ transaction }) => `${transaction.hash} ${ref.timeMs}`)),
    );
    for (const row of this.#shop.rows("select * from payments where block_height is not null")) {
      const [atMs, blockMs] = [Number(row.received_at_ms), Number(row.block_time_ms)];
      if (atMs > blockMs) return `${row.tx_hash} came ${atMs - blockMs} ms after its block`;
      const isOfBlock = held.has(`${row.tx_hash} ${atMs}`);
      if (network.family !== "bitcoin" && !isOfBlock) return `${row.tx_hash} has the time of no block that held it`;
      this.#count(atMs < blockMs ? "payment seen before its block" : "payment as old as its block");
    }
    return undefined;
  }

  #verdictOfPayments({ payments }: ReturnType<typeof expectedOf>): Verdict {
    const rows = this.#shop.rows("select * from payments");
    const found = new Set<string>();
    for (const row of rows) {
      const key = `${row.tx_hash}:${row.output_index}`;
      if (found.has(key)) return `${key} is two rows`;
      found.add(key);
      const wanted = payments.get(key);
      this.#count(`payment ${wanted === undefined ? "gone" : row.status}`);
      if (row.final_at_ms === null) return `${key} is never final: ${row.status}`;
      if (wanted === undefined) {
        if (row.status !== "REORGED" && row.status !== "DROPPED") return `${key} is ${row.status} and not on the chain`;
        continue;
      }
      const stands = [row.status, row.invoice_id, row.block_hash, row.amount_units, row.is_late].join(" ");
      const { status, invoiceId, blockHash, amountUnits, isLate } = wanted;
      const should = [status, invoiceId, blockHash, String(amountUnits), Number(isLate)].join(" ");
      if (stands !== should) return `${key} is ${stands}, not ${should}`;
    }
    const lost = [...payments.keys()].find((key) => !found.has(key));
    return lost === undefined ? undefined : `${lost} was never seen`;
  }

  #verdictOfInvoices({ invoices }: ReturnType<typeof expectedOf>): Verdict {
    for (const row of this.#shop.rows("select * from invoices")) {
      const wanted = invoices.get(String(row.id));
      if (wanted === undefined) return `${row.id} is nobody's`;
      this.#count(`invoice ${row.status}`);
      const stands = [row.status, row.received_micros, row.confirmed_micros, row.is_late].join(" ");
      const { status, receivedMicros, isLate } = wanted;
      const should = [status, receivedMicros, receivedMicros, Number(isLate)].join(" ");
      if (stands !== should) return `${row.id} is ${stands}, not ${should}`;
      if (isLate && row.needs_review !== 1) return `${row.id} has late money and nobody is asked to look`;
    }
    return undefined;
  }

  /** The trees' invoices were stored by the test. */
  #verdictOfReports(): Verdict {
    const tables = recountTables((sql) => this.#shop.rows(sql));
    return recountProblem(tables, () => false);
  }

  /** The last event of each credited payment and of each invoice shows its final state. */
  #verdictOfNews(): Verdict {
    const events = this.#shop
      .rows(
        `select type, invoice_id, sequence, ${STORED_DATA} as data from events where invoice_id is not null order by sequence`,
      )
      .map((row) => ({ row, said: parseData<Said>(row.data) }));
    const payments = this.#shop.rows("select id, invoice_id, status from payments where invoice_id is not null");
    for (const { id, invoice_id, status } of payments) {
      const own = events.filter(({ row, said }) => row.invoice_id === invoice_id && said.payment?.id === id);
      const heard = own.findLast(({ row }) => OF_PAYMENTS.has(String(row.type)))?.row.type;
      if (heard !== `payment.${String(status).toLowerCase()}`)
        return `${id} is ${status}, and ${heard} is the last of it`;
    }
    for (const { id, status, is_late, event_sequence } of this.#shop.rows("select * from invoices")) {
      const last = events.find(({ row }) => row.invoice_id === id && row.sequence === event_sequence)?.said.invoice;
      if (last === undefined) continue;
      if (last.status !== status || Number(last.isLate) !== is_late)
        return `${id} is ${status}, and ${last.status} is the last of it`;
    }
    return undefined;
  }

  /** The log of events has no gap, and the network is no longer watched. */
  #verdictOfRest(): Verdict {
    const [holes] = this.#shop.rows(`select id from invoices where event_sequence <>
      (select count(*) from events where invoice_id = invoices.id)`);
    if (holes !== undefined) return `${holes.id} has not the events that it counts`;
    const [cursor] = this.#shop.rows("select is_resting from network_cursors");
    return cursor?.is_resting === 1 ? undefined : "the watch does not end";
  }
}

const OF_PAYMENTS = new Set(["payment.detected", "payment.confirmed", "payment.reorged", "payment.dropped"]);

/** The members of an event's data that are compared. */
interface Said {
  readonly payment?: { readonly id: string };
  readonly invoice?: { readonly status: string; readonly isLate: boolean };
}

function printView({ atMs, tip, pool }: View): string {
  const blocks = chainOf(tip).filter(({ mined }) => mined.length > 0);
  const held = blocks.map(({ ref, mined }) => `${ref.hash} [${mined.map(printMined).join(" ")}]`);
  return `${tip.ref.hash} at ${atMs}: ${held.join(" ")} pool [${pool.map(({ hash }) => hash).join(" ")}]`;
}

function printMined({ transaction, isReverted }: Mined): string {
  return `${transaction.hash}${isReverted ? " (reverted)" : ""}`;
}
