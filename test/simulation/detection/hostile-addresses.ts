// A network that is asked by address, with hostile addresses among the others: refused, flooded, slow, or falsely reported as empty. The same history
// runs once with these addresses well-behaved and once hostile. In both runs the findings at all other addresses must be the same, and so must the
// times when their invoices may close. The watcher and its clients are recreated before each pass.

import { watchesOf } from "../../../src/commerce/cursors/cursor.ts";
import { closingOf } from "../../../src/commerce/settlement/closing.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource, type ItemFault, type Sent } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import type { Lab } from "../engine/lab.ts";
import { World } from "../engine/world.ts";
import { instantSleep } from "./reorg-shop.ts";

const START = 1_800_000_000_000;
const POLL_MS = 30_000;
const BLOCK_MS = 600_000;
const PASSES = 60;
/**
 * How many addresses one tick's passes cover. Another address is read in place of a refused one, so a healthy address may be found up to one round
 * later than in the run without hostile addresses.
 */
const ADDRESSES_A_TICK = 60;

export interface HostileVariant {
  readonly name: string;
  /** A mistake that the protocol must not make, applied before each pass. */
  readonly beforePass?: (lab: Lab) => void;
  /** Whether refusing one address makes the source fail for all healthy addresses too. */
  readonly failsWhole?: boolean;
}

type Misdeed = ItemFault | "FLOODED" | "SLOW";

interface Watched {
  readonly address: string;
  readonly activatedMs: number;
  readonly expiresAtMs: number;
  /** The pass at which the address is paid; beyond the last pass means never. */
  readonly paidAt: number;
}

interface Plan {
  readonly healthy: readonly Watched[];
  readonly hostile: readonly (Watched & { readonly misdeed: Misdeed; readonly from: number; readonly until: number })[];
  readonly minedAt: ReadonlySet<number>;
  readonly hasDeadSecond: boolean;
}

/** The pass at which each payment was found, and at which its invoice could close. */
interface Outcome {
  readonly found: ReadonlyMap<string, number>;
  readonly closed: ReadonlyMap<string, number>;
  readonly problem: string | undefined;
}

export type HostileTally = Map<string, number>;

export async function compareHostile(lab: Lab, seed: number, variant: HostileVariant, tally: HostileTally) {
  const plan = planOf(new Dice(seed));
  const calm = await run(lab, seed, plan, { name: "calm" }, false);
  const rough = await run(lab, seed, plan, variant, true);
  for (const { misdeed } of plan.hostile) tally.set(misdeed, (tally.get(misdeed) ?? 0) + 1);
  const shape = [
    plan.healthy.length,
    plan.hostile.map((each) => [each.misdeed, each.from, each.until]),
    [...plan.minedAt],
  ];
  tally.set(`plan ${JSON.stringify(shape)}`, 1);
  return calm.problem ?? rough.problem ?? difference(plan, calm, rough);
}

function difference(plan: Plan, calm: Outcome, rough: Outcome): string | undefined {
  const slack = Math.ceil((plan.healthy.length + plan.hostile.length) / ADDRESSES_A_TICK);
  for (const { address } of plan.healthy) {
    for (const what of ["found", "closed"] as const) {
      const [before, after] = [calm[what].get(address), rough[what].get(address)];
      if (before === undefined ? after !== undefined : after === undefined || after > before + slack)
        return `${address} was ${what} at pass ${before} where nobody is hostile, and at ${after} beside ${plan.hostile.map((each) => each.misdeed)}`;
    }
  }
  return undefined;
}

function planOf(dice: Dice): Plan {
  const count = dice.oneOf([1, 4, 30, 65, 130]);
  const sameEndMs = START + dice.between(5, 30) * POLL_MS;
  const doAllEndAtOnce = dice.chance(0.3);
  const watched = (n: number, kind: string): Watched => ({
    address: `${kind} ${n}`,
    activatedMs: START + (dice.chance(0.8) ? n : dice.between(0, 20) * POLL_MS),
    expiresAtMs: doAllEndAtOnce ? sameEndMs : START + dice.between(2, 40) * POLL_MS,
    paidAt: dice.chance(0.6) ? dice.between(1, 40) : PASSES,
  });
  const misdeeds = [
    "BAD_STATUS",
    "RATE_LIMITED",
    "TIMEOUT",
    "UNEXPECTED_SHAPE",
    "FLOODED",
    "SLOW",
    "LIES_EMPTY",
  ] as const;
  const hostile = Array.from({ length: dice.between(1, 3) }, (_, n) => {
    const from = dice.oneOf([0, dice.between(0, 20)]);
    const until = dice.chance(0.5) ? PASSES : from + dice.between(1, 20);
    return { ...watched(n, "hostile"), misdeed: dice.oneOf(misdeeds), from, until };
  });
  const healthy = Array.from({ length: count }, (_, n) => watched(n, "healthy"));
  const minedAt = new Set(Array.from({ length: 6 }, () => dice.between(1, 45)));
  return { healthy, hostile, minedAt, hasDeadSecond: dice.chance(0.4) };
}

async function run(lab: Lab, seed: number, plan: Plan, variant: HostileVariant, isRough: boolean): Promise<Outcome> {
  const world = new World({ seed, faultChance: 0, isTraced: false, onEviction: () => {} });
  return lab.schedule(world, () => new Story(lab, plan, variant, isRough).tell());
}

class Story {
  readonly #lab: Lab;
  readonly #plan: Plan;
  readonly #variant: HostileVariant;
  readonly #isRough: boolean;
  readonly #chain = new FakeChain({ startMs: START - 99 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 100 });
  readonly #source = new FakeSource(this.#chain, { kind: "esplora", costsBy: "recipients" });
  readonly #watcher: TestWatcher;
  readonly #closed = new Map<string, number>();
  readonly #found = new Map<string, number>();
  #slow = new Set<string>();

  constructor(lab: Lab, plan: Plan, variant: HostileVariant, isRough: boolean) {
    this.#lab = lab;
    this.#plan = plan;
    this.#variant = variant;
    this.#isRough = isRough;
    const second = new FakeSource(this.#chain, { kind: "blockbook", costsBy: "recipients" });
    second.down = "TIMEOUT";
    const sources = plan.hasDeadSecond ? [this.#source, second] : [this.#source];
    this.#watcher = new TestWatcher(this.#db(), "BTC", sources, START, instantSleep);
    this.#source.before = async (call) => {
      const address = call.startsWith("history ") ? call.slice("history ".length) : undefined;
      if (address !== undefined && this.#slow.has(address)) this.#watcher.nowMs += 2_000;
    };
  }

  #db() {
    return this.#lab.db(async (_, work) => work());
  }

  async tell(): Promise<Outcome> {
    let problem: string | undefined;
    for (let pass = 0; pass < PASSES && problem === undefined; pass++) {
      const nowMs = START + pass * POLL_MS;
      await this.#happen(pass, nowMs);
      this.#variant.beforePass?.(this.#lab);
      this.#watcher.nowMs = nowMs;
      const seen = this.#watcher.looks.length;
      await this.#watcher.pass();
      for (const { transfers } of this.#watcher.looks.slice(seen))
        for (const { toAddress, txHash } of transfers)
          if (!txHash.startsWith("dust") && !this.#found.has(toAddress)) this.#found.set(toAddress, pass);
      problem = this.#noteClosed(pass);
    }
    return { found: this.#found, closed: this.#closed, problem: problem ?? this.#unpaid() };
  }

  async #happen(pass: number, nowMs: number): Promise<void> {
    const all = [...this.#plan.healthy, ...this.#plan.hostile];
    const activated = all.filter(({ activatedMs }) => activatedMs <= nowMs && activatedMs > nowMs - POLL_MS);
    for (const { address, activatedMs, expiresAtMs } of activated) {
      const of = { network: "BTC", cryptocurrency: "BTC", address, nowMs: activatedMs };
      await watchMethod(this.#db(), { ...of, expiresAtMs: Math.max(expiresAtMs, activatedMs + POLL_MS) });
    }
    const paid = all.filter(({ paidAt, activatedMs }) => paidAt === pass && activatedMs <= nowMs);
    this.#chain.mempool = [...this.#chain.mempool, ...paid.map(({ address }) => sentTo(address, `pays ${address}`))];
    const flood = this.#misbehave(pass);
    if (this.#plan.minedAt.has(pass)) this.#chain.mine([...this.#chain.mempool, ...flood], nowMs);
    else if (flood.length > 0) this.#chain.mempool = [...this.#chain.mempool, ...flood];
  }

  /** Applies the faults of the hostile addresses at this pass; returns the dust they receive. */
  #misbehave(pass: number): readonly Sent[] {
    this.#source.faults.clear();
    this.#slow = new Set();
    if (!this.#isRough) return [];
    const dust: Sent[] = [];
    for (const { address, misdeed, from, until } of this.#plan.hostile) {
      if (pass < from || pass >= until) continue;
      if (misdeed === "SLOW") this.#slow.add(address);
      else if (misdeed !== "FLOODED") this.#source.faults.set(address, misdeed);
      else if (this.#plan.minedAt.has(pass))
        for (let n = 0; n < 600; n++) dust.push(sentTo(address, `dust ${pass} ${n}`));
    }
    const isRefused = this.#source.faults.size > 0;
    if (this.#variant.failsWhole && isRefused)
      for (const { address } of this.#plan.healthy) this.#source.faults.set(address, "BAD_STATUS");
    return dust;
  }

  #noteClosed(pass: number): string | undefined {
    const [cursor] = this.#lab.rows("select * from network_cursors");
    const nowMs = START + pass * POLL_MS;
    const all = [...this.#plan.healthy, ...this.#plan.hostile].filter((each) => each.activatedMs <= nowMs);
    for (const { address, activatedMs, expiresAtMs } of all) {
      const [stuck] = this.#lab.rows("select passed_ms from stuck_addresses where address = ?", address);
      const row = {
        network: "BTC",
        isResting: cursor?.is_resting === 1,
        passedMs: Number(cursor?.passed_ms),
        lastMovedAtMs: Number(cursor?.last_moved_at_ms),
        tickedAtMs: Number(cursor?.ticked_at_ms),
        stuckPassedMs: stuck === undefined ? null : Number(stuck.passed_ms),
        pausedAtMs: null,
      };
      const watches = watchesOf(["BTC"], [row]);
      const endMs = Math.max(expiresAtMs, activatedMs + POLL_MS);
      const { closedAtMs } = closingOf({ expiresAtMs: endMs, closedAtMs: null, watches, nowMs });
      if (closedAtMs !== null && !this.#closed.has(address)) this.#closed.set(address, pass);
      const early = closedAtMs !== null ? this.#paidUnseen(address, endMs) : undefined;
      if (early !== undefined) return early;
    }
    return undefined;
  }

  /** Returns a problem if an invoice could close although it was paid on time and the payment was not seen. */
  #paidUnseen(address: string, endMs: number): string | undefined {
    const own = [...this.#plan.healthy, ...this.#plan.hostile].find((each) => each.address === address);
    const isLie =
      this.#isRough && this.#plan.hostile.some((each) => each.address === address && each.misdeed === "LIES_EMPTY");
    const paidMs = START + (own?.paidAt ?? PASSES) * POLL_MS;
    const isPaid = own !== undefined && own.paidAt < PASSES && paidMs <= endMs && own.activatedMs <= paidMs;
    if (isLie || !isPaid || this.#found.has(address)) return undefined;
    return `${address} was paid in time, may close, and nobody has seen it`;
  }

  /** Returns a problem if a paid address was never found, unless it was refused to the end. */
  #unpaid(): string | undefined {
    const behaves = ({ until, misdeed }: Plan["hostile"][number]) =>
      !this.#isRough || misdeed === "FLOODED" || misdeed === "SLOW" || until < PASSES - 35;
    const all = [...this.#plan.healthy, ...this.#plan.hostile.filter(behaves)];
    const lost = all.find(
      ({ address, paidAt, activatedMs }) =>
        paidAt < PASSES && activatedMs <= START + paidAt * POLL_MS && !this.#found.has(address),
    );
    return lost === undefined ? undefined : `${lost.address} was paid and never found`;
  }
}

function sentTo(toAddress: string, txHash: string): Sent {
  return { cryptocurrency: "BTC", txHash, toAddress, amountUnits: 1n };
}
