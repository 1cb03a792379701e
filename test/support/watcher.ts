// A watcher of one network over scripted sources, which records everything that it applied. Payments that it rechecked are stored in the form that
// `chain-observation.ts` returns.
import { eq } from "drizzle-orm";
import { type NetworkName, networkNamed } from "../../src/chains/registry/networks.ts";
import type { ChainClient } from "../../src/chains/sources/chain-client.ts";
import { ChainPool } from "../../src/chains/sources/chain-pool-client.ts";
import { paymentAfter } from "../../src/commerce/payments/chain-observation.ts";
import { putPayment } from "../../src/commerce/payments/store.ts";
import type { Findings } from "../../src/detection/matching/apply-transfers.ts";
import { type WatchDependencies, WatchMemory } from "../../src/detection/passes/watch-pass.ts";
import { runPass } from "../../src/detection/watchers/watch-network.ts";
import { err, ok } from "../../src/lib/result.ts";
import { type Sleep, sleep } from "../../src/lib/sleep.ts";
import type { Db } from "../../src/platform/db/client.ts";
import { networkCursors } from "../../src/platform/db/schema/network-cursors.ts";
import type { Failure } from "../../src/platform/failures.ts";
import type { FakeSource } from "./fake-chain.ts";

export function networkOf(name: NetworkName) {
  const network = networkNamed(name);
  if (network === undefined) throw new Error(name);
  return network;
}

export class TestWatcher {
  nowMs: number;
  readonly looks: Findings[] = [];
  readonly reports: string[] = [];
  /** If set, storing a pass's result fails with this. */
  refusal: Failure | undefined;
  /**
   * Production recreates an object that was idle for ten seconds, so a pass must not depend on its memory. By default this watcher therefore forgets
   * everything before each pass, including what it knows about its sources. Only a few tests set this, for an object that stays awake.
   */
  keepsMemory = false;
  /** The keys under which its sources are recorded; by default their names. */
  keys: readonly string[] | undefined;
  memory = new WatchMemory();
  deps: WatchDependencies;
  readonly #clients: () => readonly ChainClient[];
  readonly #db: Db;
  readonly #name: NetworkName;

  constructor(
    db: Db,
    name: NetworkName,
    sources: readonly Pick<FakeSource, "client">[],
    nowMs: number,
    sleeping: Sleep = sleep,
  ) {
    this.#db = db;
    this.#name = name;
    this.nowMs = nowMs;
    this.#clients = () => sources.map(({ client }) => client);
    this.deps = {
      db,
      sleep: sleeping,
      nowMs: () => this.nowMs,
      report: (line) => void this.reports.push(line),
      pool: this.#newPool(),
      apply: (look) => this.#apply(look),
    };
  }

  /** Resets the watcher to the state of a new object. Clients that a test creates in a getter are new too. */
  forget(): void {
    this.memory = new WatchMemory();
    this.deps = { ...this.deps, pool: this.#newPool() };
  }

  #newPool(): ChainPool {
    const clients = this.#clients();
    const keys = this.keys === undefined ? {} : { keys: this.keys };
    return new ChainPool({ network: this.#name, clients, ...keys, random: () => 0, report: () => {} });
  }

  pass() {
    if (!this.keepsMemory) this.forget();
    return runPass(this.deps, networkOf(this.#name), this.memory);
  }

  /** The payments found, in order: `hash@height`, or `hash@-` outside a block. */
  found(): readonly string[] {
    return this.looks.flatMap(({ transfers }) =>
      transfers.map(({ txHash, block }) => `${txHash}@${block?.height ?? "-"}`),
    );
  }

  async cursor() {
    const [row] = await this.#db.select().from(networkCursors).where(eq(networkCursors.network, this.#name));
    if (row === undefined) throw new Error("no cursor");
    return row;
  }

  async #apply(look: Findings) {
    if (this.refusal !== undefined) return err(this.refusal);
    this.looks.push(look);
    for (const { payment, observation, mayConfirm = true } of look.seen) {
      await putPayment(this.#db, paymentAfter(payment, observation, { ...look, nowMs: this.nowMs, mayConfirm }));
    }
    return ok({ invoices: [] });
  }
}
