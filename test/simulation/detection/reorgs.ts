// One watched tree: a shop's invoices are paid on a chain that grows and reorganizes. The real pass reads the chain through good and bad sources and
// sometimes crashes between two awaits, and the sweep runs. At the end the sources are honest, the chain is deep and time passes. The stored state
// must then match what the model computes from the final chain alone.

import type { Network } from "../../../src/chains/registry/networks.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { type WatchDependencies, WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { runPass } from "../../../src/detection/watchers/watch-network.ts";
import { newUlid } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { Dice } from "../../support/dice.ts";
import { chainOf, type Mined, mineOn, type View } from "./chain-tree.ts";
import { LIES, type Lie } from "./forging.ts";
import { isCoinbase, MATURITY } from "./kin.ts";
import { drawEnding, type Ending, limitedEffect, SPARED } from "./platform-limits.ts";
import { isWorthless } from "./reorg-model.ts";
import { HAZARDS, type Hazard, type Plan, planOf } from "./reorg-plan.ts";
import { effectOf, effectText, keyOf, Record, truthOf } from "./reorg-record.ts";
import { instantSleep, type ReorgShop, type Row, START_MS, shopDependencies } from "./reorg-shop.ts";
import { type Verdict, verdictOf } from "./reorg-verdict.ts";
import { byOrdinal, HONEST, type Identify, type Mood } from "./tree-source.ts";

/** How a variant of the protocol differs from the real one. */
export interface Variant {
  readonly name: string;
  readonly identify?: Identify;
  /** What may go wrong; by default everything. */
  readonly hazards?: readonly Hazard[];
  /** Wraps the dependencies of the watcher. */
  readonly change?: (deps: WatchDependencies, shop: ReorgShop, network: Network) => WatchDependencies;
  /** Receives the history, line by line. */
  readonly trace?: (line: string) => void;
}

const WAITS = [15 * MINUTE_MS, 80 * HOUR_MS, 80 * HOUR_MS, 30 * DAY_MS] as const;

/** How often each hostile situation came up, over all trees. */
export type Tally = Map<string, number>;

/** Grows and watches the tree of a seed; returns what is wrong with the result, or undefined. */
export async function watchTree(shop: ReorgShop, seed: number, variant: Variant, tally: Tally): Promise<Verdict> {
  const dice = new Dice(seed);
  const count = (name: string) => tally.set(name, (tally.get(name) ?? 0) + 1);
  let watch: Watch | undefined;
  const plan = planOf({
    dice,
    hazards: new Set(variant.hazards ?? HAZARDS),
    identify: variant.identify ?? byOrdinal,
    onShown: (transfer) => watch?.shown(transfer),
    note: count,
  });
  if (plan.hasQuorum) count("two sources must agree");
  tally.set("deepest fork", Math.max(tally.get("deepest fork") ?? 0, plan.tree.deepestFork));
  return shop.visit(async () => {
    await shop.open(plan.invoices, { hasQuorum: plan.hasQuorum });
    watch = new Watch({ shop, plan, dice, variant, count });
    return (await watch.throughTree()) ?? (await watch.toTheEnd()) ?? watch.verdict();
  });
}

interface WatchParts {
  readonly shop: ReorgShop;
  readonly plan: Plan;
  readonly dice: Dice;
  readonly variant: Variant;
  count(name: string): void;
}

class Watch {
  readonly #shop: ReorgShop;
  readonly #plan: Plan;
  readonly #dice: Dice;
  readonly #variant: Variant;
  readonly #count: (name: string) => void;
  readonly #record: Record;
  readonly #truth: ReadonlySet<string>;
  readonly #isForgetful: boolean;
  #pool: ChainPool;
  readonly #views: View[] = [];
  #memory = new WatchMemory();
  #nowMs = START_MS;
  #ulids = 0;

  constructor({ shop, plan, dice, variant, count }: WatchParts) {
    this.#shop = shop;
    this.#plan = plan;
    this.#dice = dice;
    this.#variant = variant;
    this.#count = count;
    this.#record = new Record(plan.network, count);
    this.#truth = truthOf(plan.tree);
    this.#isForgetful = dice.chance(0.5);
    this.#pool = this.#newPool();
    for (const source of plan.sources) source.views = this.#views;
  }

  #newPool(): ChainPool {
    const clients = this.#plan.sources.map(({ client }) => client);
    return new ChainPool({ network: this.#plan.network.name, clients, random: this.#dice.random, report: () => {} });
  }

  /** Drops the watcher's memory, as happens in production before nearly every pass, because the object was idle. */
  #forget(): void {
    this.#memory = new WatchMemory();
    this.#pool = this.#newPool();
    this.#count("made anew");
  }

  shown(transfer: Transfer): void {
    this.#record.shown(transfer, this.#nowMs);
  }

  async throughTree(): Promise<Verdict> {
    const dice = this.#dice;
    for (const view of this.#plan.tree.views) {
      this.#show(view);
      for (let n = dice.oneOf([0, 1, 1, 2]); n > 0; n--) {
        this.#nowMs = Math.max(this.#nowMs, view.atMs) + dice.between(1, 30_000);
        for (const [n, source] of this.#plan.sources.entries()) source.mood = this.#mood(n);
        await this.#pass(drawEnding(dice));
        const problem = this.#note();
        if (problem !== undefined) return problem;
        if (dice.chance(0.1)) await this.#sweep();
      }
    }
    return undefined;
  }

  /** Runs until nothing can change any longer. */
  async toTheEnd(): Promise<Verdict> {
    for (const source of this.#plan.sources) source.mood = HONEST;
    let view = this.#plan.tree.last;
    this.#nowMs = Math.max(this.#nowMs, view.atMs);
    // First the pause after a failure ends. In the next two waits payments that no source knows are dropped, including those that became unknown
    // during the first one. Then the invoices end, and then their monitoring. A source that has failed gets only a few more lookups in each pass, so
    // the last of many payments is final later.
    for (const afterMs of [...WAITS, HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS]) {
      this.#nowMs += afterMs;
      view = { ...view, atMs: this.#nowMs, tip: mineOn(view.tip, this.#nowMs) };
      this.#show(view);
      for (let n = 0; n < 10; n++) {
        const hasMore = await this.#pass(SPARED);
        const problem = this.#note();
        if (problem !== undefined) return problem;
        if (!hasMore) break;
        this.#nowMs += MINUTE_MS;
      }
      // A source that has failed is asked for one address at a time, so that invoices may end in different passes.
      if (afterMs === 30 * DAY_MS || afterMs === HOUR_MS) await this.#sweep();
    }
    return undefined;
  }

  verdict(): Verdict {
    return verdictOf({ shop: this.#shop, plan: this.#plan, record: this.#record, count: this.#count });
  }

  /**
   * Checked after each pass: a payment on which two sources must agree is not confirmed by a lying source alone, and a coinbase is not confirmed
   * before it can be spent.
   */
  #note(): Verdict {
    const rows = this.#shop.rows("select * from payments");
    this.#record.stored(rows, this.#nowMs);
    const immature = immatureIn(rows, this.#views.at(-1));
    if (immature !== undefined) return immature;
    if (!this.#plan.hasQuorum) return undefined;
    const forged = rows.find(
      (row) => row.status === "CONFIRMED" && !this.#truth.has(`${keyOf(row)} ${row.block_hash} ${effectOf(row)}`),
    );
    return forged === undefined
      ? undefined
      : `${keyOf(forged)} is CONFIRMED as ${effectOf(forged)} in ${forged.block_hash}, which one liar alone has said`;
  }

  #show(view: View): void {
    this.#views.push(view);
    this.#variant.trace?.(`chain ${printView(view)}`);
  }

  #mood(n: number): Mood {
    const dice = this.#dice;
    const moods = ["honest", "honest", "late", "balanced", "unindexed", "forgetful", "failing", "lying"] as const;
    const drawn = dice.oneOf(moods);
    const mayLie = this.#may("lies") && (n === 0 || !this.#plan.hasQuorum);
    const name = drawn === "lying" && !mayLie ? "honest" : drawn;
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
      case "lying":
        return { ...HONEST, lie: this.#lie() };
    }
  }

  /**
   * Draws a lie about the mempool or about blocks that are reread, so that it is exposed once the source is honest again. The source invents a
   * transaction in a block only if two sources must agree.
   */
  #lie(): Lie {
    const dice = this.#dice;
    const { network, hasQuorum, payable, invoices } = this.#plan;
    const isUtxo = network.family === "bitcoin";
    const where = isUtxo && dice.chance(0.5) ? "mempool" : "blocks";
    const kinds = LIES.filter((kind) =>
      kind === "invented"
        ? where === "mempool" || (hasQuorum && this.#may("inventions"))
        : kind !== "branch" || where === "blocks",
    );
    const drawn = dice.oneOf(kinds);
    const lie: Lie = {
      kind: drawn,
      in: where,
      blocks: dice.between(1, Math.min(3, network.overlapBlocks - 1)),
      told: dice.oneOf(["everywhere", "everywhere", "lookups", "blocks"]),
      salt: dice.below(3),
      wanted: drawn === "invented" ? payable.filter((each) => !isWorthless(each, invoices)) : payable,
      indexed: new Set(isUtxo ? [network.nativeCode] : ["USDT", "USDC"]),
    };
    this.#count(`lie: ${lie.kind} in ${lie.in === "mempool" ? "a mempool" : "blocks"}`);
    return lie;
  }

  #may(hazard: Hazard): boolean {
    return (this.#variant.hazards ?? HAZARDS).includes(hazard);
  }

  /** Runs one pass; returns whether the next pass has more to do. */
  async #pass(ending: Ending): Promise<boolean> {
    if (this.#isForgetful) this.#forget();
    const { promise: death, resolve: die } = Promise.withResolvers<"dead">();
    const limits = limitedEffect(ending, this.#dice, () => die("dead"));
    const db = this.#shop.db(limits.effect);
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
    const pass = runPass(deps, network, this.#memory).catch((error: unknown) => {
      if (limits.isOver()) return { kind: "ended" } as const;
      throw error;
    });
    const outcome = await Promise.race([pass, death]);
    this.#count(outcome === "dead" ? "died" : `pass ${outcome.kind}`);
    if (limits.isOver()) this.#count(`limit: ${ending.kind}`);
    this.#variant.trace?.(`pass ${this.#story(outcome === "dead" ? "died" : outcome.kind)}`);
    if (outcome === "dead") this.#forget();
    return outcome === "dead" || (outcome.kind === "read" ? outcome.isBehind : outcome.kind !== "resting");
  }

  #story(outcome: string): string {
    const [cursor] = this.#shop.rows("select height, hash from network_cursors");
    const moods = this.#plan.sources.map(({ client, mood }) => `${client.kind} ${printMood(mood)}`);
    const paid =
      this.#shop.rows(`select tx_hash, output_index, status, invoice_id, amount_units, cryptocurrency, to_address,
      block_hash, received_at_ms, final_at_ms from payments`);
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
}

/** Finds a coinbase that is confirmed too early at the newest view, which always has the highest tip. */
function immatureIn(rows: readonly Row[], view: View | undefined): Verdict {
  const confirmations = (row: Row) => (view?.tip.ref.height ?? 0) - Number(row.block_height) + 1;
  const row = rows.find(
    (each) => each.status === "CONFIRMED" && isCoinbase(String(each.tx_hash)) && confirmations(each) < MATURITY,
  );
  return (
    row && `${keyOf(row)} is CONFIRMED, and nobody may spend it before ${MATURITY - confirmations(row)} more blocks`
  );
}

function printView({ atMs, tip, pool }: View): string {
  const blocks = chainOf(tip).filter(({ mined }) => mined.length > 0);
  const held = blocks.map(({ ref, mined }) => `${ref.hash} [${mined.map(printMined).join(" ")}]`);
  return `${tip.ref.hash} at ${atMs}: ${held.join(" ")} pool [${pool.map(({ hash }) => hash).join(" ")}]`;
}

function printMined({ transaction, outputs, isReverted }: Mined): string {
  return `${transaction.hash}${isReverted ? " (reverted)" : ""}: ${outputs.map(effectText).join(", ")};`;
}

function printMood({ lie, ...mood }: Mood): string {
  const told = lie === null ? "" : ` lie: ${lie.kind} in ${lie.in}, ${lie.blocks} blocks, ${lie.told}, ${lie.salt}`;
  return `${JSON.stringify(mood)}${told}`;
}
