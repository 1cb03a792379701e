// One network with two sources. The first refuses some addresses for good, and refuses single transactions or denies that they exist; the second
// answers for all. The same history runs with the first source healthy and failing. The final credits must be the same, and each payment must be
// found within a bounded number of passes. The watcher is recreated before each pass.

import { watchesOf } from "../../../src/commerce/cursors/cursor.ts";
import { closingOf } from "../../../src/commerce/settlement/closing.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource, type ItemFault } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import type { Lab } from "../engine/lab.ts";
import { World } from "../engine/world.ts";
import { instantSleep } from "./reorg-shop.ts";
import { awaited } from "./watcher-scenario.ts";

const START = 1_800_000_000_000;
const POLL_MS = 30_000;
const BLOCK_MS = 600_000;
/** Payments arrive only in the first `LAST_PAYMENT` of these passes. */
const PASSES = 75;
const LAST_PAYMENT = 40;
/** How many refused addresses one pass discovers. */
const LEARNED_A_PASS = 16;
/** How many refused addresses one pass requests from another source. */
const LENT_A_PASS = 40;

interface Watched {
  readonly address: string;
  readonly txHash: string;
  /** The pass at which the address is paid; beyond the last pass means never. */
  readonly paidAt: number;
  readonly endsAt: number;
  /** How the first source treats the address from pass `illFrom` on. */
  readonly fault: ItemFault | undefined;
  readonly lookupFault: ItemFault | undefined;
}

interface Plan {
  readonly watched: readonly Watched[];
  readonly illFrom: number;
  readonly minedAt: ReadonlySet<number>;
  readonly second: "blockbook" | "core-rpc";
}

interface Outcome {
  /** The final state and block of each transaction. */
  readonly credited: ReadonlyMap<string, string>;
  readonly found: ReadonlyMap<string, number>;
  readonly problem: string | undefined;
}

export interface RefusedTally {
  refused: number;
  denied: number;
  mostRefused: number;
  byBlocks: number;
}

export async function compareRefused(lab: Lab, seed: number, tally: RefusedTally): Promise<string | undefined> {
  const plan = planOf(new Dice(seed));
  const refused = plan.watched.filter(({ fault }) => fault !== undefined).length;
  tally.refused += refused;
  tally.denied += plan.watched.filter(({ lookupFault }) => lookupFault !== undefined).length;
  tally.mostRefused += refused > plan.watched.length / 2 ? 1 : 0;
  tally.byBlocks += plan.second === "core-rpc" ? 1 : 0;
  const calm = await run(lab, seed, plan, false);
  const rough = await run(lab, seed, plan, true);
  return calm.problem ?? rough.problem ?? difference(plan, calm, rough);
}

function difference(plan: Plan, calm: Outcome, rough: Outcome): string | undefined {
  const count = plan.watched.length;
  const slack = Math.ceil(count / LEARNED_A_PASS) + 2 * Math.ceil(count / LENT_A_PASS) + 2;
  for (const { address, txHash, fault, lookupFault } of plan.watched) {
    const why = `${address} (${fault} and ${lookupFault} of ${count}, beside ${plan.second})`;
    const [before, after] = [calm.found.get(txHash), rough.found.get(txHash)];
    if (before !== undefined && (after === undefined || after > before + slack))
      return `${why} was found at pass ${before} by a source that is well, and at ${after}`;
    const [well, ill] = [calm.credited.get(txHash), rough.credited.get(txHash)];
    if (well !== ill) return `${why} is ${well} by a source that is well, and ${ill}`;
  }
  return undefined;
}

const FAULTS = ["BAD_STATUS", "RATE_LIMITED", "TIMEOUT", "UNEXPECTED_SHAPE"] as const;

function planOf(dice: Dice): Plan {
  const count = dice.oneOf([1, 2, 5, 20, 65, 100]);
  const share = dice.oneOf([0.05, 0.3, 0.6, 1]);
  const watched = Array.from({ length: count }, (_, n): Watched => {
    const paidAt = dice.chance(0.6) ? dice.between(1, LAST_PAYMENT) : PASSES;
    return {
      address: `A${n}`,
      txHash: `t${n}`,
      paidAt,
      endsAt: dice.between(2, 60),
      fault: dice.chance(share) ? dice.oneOf(FAULTS) : undefined,
      lookupFault: dice.chance(share) ? dice.oneOf([...FAULTS, "LIES_EMPTY" as const]) : undefined,
    };
  });
  // All payments are deep in the chain long before the end.
  const minedAt = new Set([...Array.from({ length: 5 }, () => dice.between(1, 45)), 46, 48, 50]);
  return { watched, minedAt, illFrom: dice.oneOf([0, 0, dice.between(1, 30)]), second: dice.oneOf(SECONDS) };
}

const SECONDS = ["blockbook", "blockbook", "core-rpc"] as const;

function run(lab: Lab, seed: number, plan: Plan, isIll: boolean): Promise<Outcome> {
  const world = new World({ seed, faultChance: 0, isTraced: false, onEviction: () => {} });
  return lab.schedule(world, () => tell(lab, world, plan, isIll));
}

async function tell(lab: Lab, world: World, plan: Plan, isIll: boolean): Promise<Outcome> {
  const db = lab.db(async (_, work) => work());
  const chain = new FakeChain({ startMs: START - 99 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 100 });
  const first = new FakeSource(chain, { kind: "esplora", costsBy: "recipients" });
  const second = new FakeSource(chain, {
    kind: plan.second,
    costsBy: plan.second === "blockbook" ? "recipients" : "blocks",
  });
  const watcher = new TestWatcher(db, "BTC", [first, second], START + 1_000, instantSleep);
  const { apply } = watcher.deps;
  watcher.deps = {
    ...watcher.deps,
    apply: async (look) => {
      const own = { db, sleep: instantSleep, nowMs: () => watcher.nowMs, newUlid: () => world.newUlid() };
      const stood = await awaited(own, look);
      return stood.ok ? apply({ ...look, seen: [] }) : stood;
    },
  };
  for (const [n, { address, endsAt }] of plan.watched.entries()) {
    const of = { network: "BTC", cryptocurrency: "BTC", address, nowMs: START + n };
    await watchMethod(db, { ...of, expiresAtMs: START + endsAt * POLL_MS });
  }
  const found = new Map<string, number>();
  let problem: string | undefined;
  for (let pass = 0; pass < PASSES && problem === undefined; pass++) {
    const nowMs = START + 1_000 + pass * POLL_MS;
    const paid = plan.watched.filter(({ paidAt }) => paidAt === pass);
    const sent = paid.map(({ address, txHash }) => ({
      cryptocurrency: "BTC",
      txHash,
      toAddress: address,
      amountUnits: 1n,
    }));
    chain.mempool = [...chain.mempool, ...sent];
    if (plan.minedAt.has(pass)) chain.mine(chain.mempool, nowMs);
    if (isIll && pass === plan.illFrom) fallIll(first, plan);
    watcher.nowMs = nowMs;
    const seen = watcher.looks.length;
    await watcher.pass();
    const hashes = watcher.looks.slice(seen).flatMap(({ transfers }) => transfers.map(({ txHash }) => txHash));
    for (const txHash of hashes) if (!found.has(txHash)) found.set(txHash, pass);
    problem = closedUnseen(lab, plan, found, pass);
  }
  const rows = lab.rows("select tx_hash, status, block_hash from payments");
  const credited = new Map(rows.map((row) => [String(row.tx_hash), `${row.status} in ${row.block_hash}`]));
  return { credited, found, problem };
}

function fallIll({ faults }: FakeSource, { watched }: Plan): void {
  for (const { address, txHash, fault, lookupFault } of watched) {
    if (fault !== undefined) faults.set(address, fault);
    if (lookupFault !== undefined) faults.set(txHash, lookupFault);
  }
}

/** An invoice that could close at this pass although it was paid on time and the payment was not seen. */
function closedUnseen(lab: Lab, plan: Plan, found: ReadonlyMap<string, number>, pass: number): string | undefined {
  const [cursor] = lab.rows("select * from network_cursors");
  const nowMs = START + 1_000 + pass * POLL_MS;
  for (const { address, txHash, paidAt, endsAt } of plan.watched) {
    if (paidAt >= endsAt || found.has(txHash)) continue;
    const [stuck] = lab.rows("select passed_ms from stuck_addresses where address = ?", address);
    const row = {
      network: "BTC",
      isResting: cursor?.is_resting === 1,
      passedMs: Number(cursor?.passed_ms),
      lastMovedAtMs: Number(cursor?.last_moved_at_ms),
      tickedAtMs: Number(cursor?.ticked_at_ms),
      stuckPassedMs: stuck === undefined ? null : Number(stuck.passed_ms),
      pausedAtMs: null,
    };
    const facts = {
      expiresAtMs: START + endsAt * POLL_MS,
      closedAtMs: null,
      watches: watchesOf(["BTC"], [row]),
      nowMs,
    };
    if (closingOf(facts).closedAtMs !== null) return `${address} was paid in time, may close, and nobody has seen it`;
  }
  return undefined;
}
