// A chain whose blocks appear and disappear, one or two sources of any quality, an operator who pauses and resumes the network and has ranges reread,
// and transactions that payers and merchants name.
import type { BlockRef } from "../../../src/chains/sources/transfer.ts";
import { endRange, requestRange, setPause } from "../../../src/detection/networks/change-network.ts";
import { lookForClaim } from "../../../src/detection/passes/look-for-claim.ts";
import { lookForMerchant } from "../../../src/detection/passes/look-for-merchant.ts";
import { wakeWatchers } from "../../../src/detection/watchers/wake-watchers.ts";
import { type MerchantId, makeId, newUlid, type UserId } from "../../../src/lib/ids.ts";
import { err, ok } from "../../../src/lib/result.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { networkRereads } from "../../../src/platform/db/schema/network-cursors.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { randomFrom } from "../../support/random.ts";
import { watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, MINUTE, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

export const OWN: MerchantId = makeId("mer", "1".repeat(26));
const RIVAL: MerchantId = makeId("mer", "2".repeat(26));
const OPERATOR: UserId = makeId("usr", "1".repeat(26));
const NOBODY: UserId = makeId("usr", "2".repeat(26));
/** Addresses of a wallet, of an extended key's method, of a rival's method, and of no merchant. */
const ADDRESSES = ["own", "derived", "rivals", "elsewhere"] as const;
const HASHES = ["t1", "t2", "t3", "t4"] as const;
const FAULTS = ["UNEXPECTED_SHAPE", "REFUSED", "TOO_LARGE", "BEHIND", "LIES_EMPTY"] as const;
const NAMES = ["BTC", "ETH"] as const;
type Name = (typeof NAMES)[number];

export const { db, lab, inLab } = quietLab();

/** One source's answer about a transaction. */
export type Said =
  | { readonly kind: "down" | "refused" | "unknown" }
  | { readonly kind: "mined" | "pending"; readonly block: BlockRef | null; readonly sent: readonly Sent[] };

export class NamedHouse {
  readonly name: Name;
  readonly chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  readonly sources: readonly FakeSource[];
  readonly watcher: TestWatcher;
  readonly woken: string[] = [];
  readonly #random: () => number;
  #operations = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    this.name = this.pick(NAMES);
    const kind = this.name === "BTC" ? "core-rpc" : "evm-rpc";
    this.sources = Array.from({ length: this.pick([1, 1, 2]) }, () => new FakeSource(this.chain, { kind }));
    this.watcher = new TestWatcher(db, this.name, this.sources, START, instantSleep);
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#random() * choices.length)];
    if (choice === undefined) throw new Error("nothing to choose from");
    return choice;
  }

  chance(of: number): boolean {
    return this.#random() < of;
  }

  async stock(): Promise<void> {
    const times = { createdAtMs: START, updatedAtMs: START };
    const at = { network: this.name, cryptocurrency: this.name, nowMs: START };
    const settings = { merchantId: OWN, requiredConfirmations: 1, isEnabled: true, mac: "", macKeyId: "", ...times };
    const [direct, derived] = [makeId("wal", "1".repeat(26)), makeId("wal", "2".repeat(26))];
    const of = { network: this.name, ...settings };
    await db
      .insert(wallets)
      .values({ ...of, id: direct, walletType: "DIRECT_WALLET", cryptocurrency: this.name, address: "own" });
    await db
      .insert(wallets)
      .values({ ...of, id: derived, walletType: "XPUB_WALLET", cryptocurrency: "other", xpub: "x" });
    await watchMethod(db, { ...at, address: "own", merchantId: OWN });
    const invoiceId = await watchMethod(db, { ...at, address: "derived", merchantId: OWN });
    lab.rows("update payment_methods set wallet_id = ?, address_index = 3 where invoice_id = ?", derived, invoiceId);
    await watchMethod(db, { ...at, address: "rivals", merchantId: RIVAL });
    for (const [n, id] of [OPERATOR, NOBODY].entries()) {
      const email = `person${n}@example.com`;
      await db.insert(users).values({ id, email, emailKey: email, operatorSinceMs: n === 0 ? START : null, ...times });
    }
  }

  /** Changes one thing at random: blocks, pending transactions, a source, the reread or the time. */
  somethingHappens(): void {
    const act = this.pick([
      "mine",
      "mine",
      "wait",
      "drop",
      "down",
      "forget",
      "lag",
      "fault",
      "mend",
      "time",
      "read",
    ] as const);
    const source = this.pick(this.sources);
    if (act === "mine") this.chain.mine(this.chance(0.7) ? this.#sent() : []);
    if (act === "wait") this.chain.mempool = this.#sent();
    if (act === "drop" && this.chain.tip.height > 15) this.chain.drop(1);
    if (act === "down") source.down = this.chance(0.5) ? "UNREACHABLE" : undefined;
    if (act === "forget") source.isForgetful = !source.isForgetful;
    if (act === "lag") source.lag = this.pick([0, 1, 2]);
    if (act === "fault") source.faults.set(this.pick(HASHES), this.pick(FAULTS));
    if (act === "mend") source.faults.clear();
    // Advances the reread, as a step of the watcher does.
    if (act === "read") lab.rows("update network_rereads set next_height = min(to_height, next_height) + 1");
    if (act === "time") this.watcher.nowMs += this.pick([1, MINUTE, 10 * MINUTE]);
  }

  #sent(): readonly Sent[] {
    const txHash = this.pick(HASHES);
    return ADDRESSES.filter(() => this.chance(0.4)).map((toAddress, n) => ({
      cryptocurrency: this.name,
      txHash,
      toAddress,
      outputIndex: String(n),
      amountUnits: BigInt(1 + Math.floor(this.#random() * 1_000)),
    }));
  }

  /** What the source should answer now, according to the chain itself. */
  saysOf(source: FakeSource, txHash: string): Said {
    const fault = source.faults.get(txHash);
    if (source.down !== undefined) return { kind: "down" };
    if (fault !== undefined && fault !== "LIES_EMPTY") return { kind: "refused" };
    if (fault !== undefined || source.isForgetful) return { kind: "unknown" };
    const tip = this.chain.tip.height - source.lag;
    const block = this.chain.below(tip).find(({ sent }) => sent.some((each) => each.txHash === txHash));
    const sent = (block?.sent ?? this.chain.mempool).filter((each) => each.txHash === txHash);
    if (sent.length === 0) return { kind: "unknown" };
    return { kind: block === undefined ? "pending" : "mined", block: block ?? null, sent };
  }

  hash = (): string => this.pick(HASHES);

  /** `reads`: how many reads storage answers before it fails. */
  payerNames(txHash: string, reads = Number.POSITIVE_INFINITY) {
    this.watcher.forget();
    let left = reads;
    const failing = lab.db(async (_, work) => {
      if (left-- > 0) return work();
      throw new Error("D1_ERROR: Network connection lost.");
    });
    const deps = { ...this.watcher.deps, db: failing };
    return lookForClaim(deps, networkOf(this.name), this.watcher.memory, txHash);
  }

  /** `contended`: how often another writer is faster; `isLeft`: whether the transaction has more payments than one lookup stores. */
  async merchantNames(txHash: string, contended: number, isLeft: boolean) {
    this.watcher.forget();
    let left = contended;
    const { apply } = this.watcher.deps;
    const deps: typeof this.watcher.deps = {
      ...this.watcher.deps,
      apply: async (findings) => {
        if (left-- > 0) return err({ code: "CONTENTION" });
        const applied = await apply(findings);
        return applied.ok && isLeft ? ok({ ...applied.value, leftFrom: 3 }) : applied;
      },
    };
    return lookForMerchant(deps, networkOf(this.name), { merchantId: OWN, txHash });
  }

  /** `isOperator`: anyone else must be refused. */
  switches(isOperator: boolean) {
    const trail = { ...SYSTEM_TRAIL, actor: { kind: "USER" as const, id: isOperator ? OPERATOR : NOBODY } };
    const deps = {
      db,
      sleep: instantSleep,
      nowMs: this.watcher.nowMs,
      watched: new Set<string>([this.name]),
      sourcesOf: () => [],
      newOperationId: () => newUlid(this.watcher.nowMs, new Uint8Array(16).fill(++this.#operations)),
      wakeWatcher: (network: string) => void this.woken.push(network),
    };
    const act = { network: this.name.toLowerCase(), actor: { id: trail.actor.id }, trail };
    return {
      pause: () => setPause(deps, act, true),
      resume: () => setPause(deps, act, false),
      reread: (fromHeight: number, toHeight: number) => requestRange(deps, act, { fromHeight, toHeight }),
      endReread: () => endRange(deps, act),
    };
  }

  /** Runs what the cron does every minute; returns the watchers it woke. `isConfigured`: whether the network has a source. */
  async watchdog(isConfigured: boolean): Promise<readonly string[]> {
    const woken: string[] = [];
    await wakeWatchers({
      db,
      nowMs: this.watcher.nowMs,
      pollSeconds: null,
      sources: new Map(isConfigured ? [[this.name, []]] : []) as never,
      watcher: (network) => ({ wake: async () => void woken.push(network) }),
    });
    return woken;
  }

  async range() {
    const [row] = await db.select().from(networkRereads);
    return row?.endedAtMs === null ? row : undefined;
  }

  /** The audit entries of the operator's switches, oldest first. */
  audited = () =>
    lab
      .rows("select action, target, actor_id from audit_order natural join audit_events order by audit_order.rowid")
      .map((row) => ({ ...row }));
}
