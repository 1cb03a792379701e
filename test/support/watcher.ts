// A watcher of one network over scripted sources, with what it applied: payments that it looked at again are stored as `sight.ts` shows them.
import { eq } from "drizzle-orm";
import { ChainPool } from "../../src/chains/chain-pool-client.ts";
import { type NetworkName, networkNamed } from "../../src/chains/networks.ts";
import type { Db } from "../../src/db/client.ts";
import { networkCursors } from "../../src/db/schema/network-cursors.ts";
import type { Failure } from "../../src/failures.ts";
import { err, ok } from "../../src/lib/result.ts";
import { type Sleep, sleep } from "../../src/lib/sleep.ts";
import type { Look } from "../../src/payments/apply-transfers.ts";
import { paymentAfter } from "../../src/payments/sight.ts";
import { putPayment } from "../../src/payments/store.ts";
import { type WatchEffects, WatchMemory } from "../../src/watchers/commit-cursor.ts";
import { runPass } from "../../src/watchers/watch-network.ts";
import type { FakeSource } from "./fake-chain.ts";

export function networkOf(name: NetworkName) {
  const network = networkNamed(name);
  if (network === undefined) throw new Error(name);
  return network;
}

export class TestWatcher {
  nowMs: number;
  readonly looks: Look[] = [];
  readonly reports: string[] = [];
  /** Storage refuses what a look makes. */
  refusal: Failure | undefined;
  memory = new WatchMemory();
  readonly fx: WatchEffects;
  readonly #db: Db;
  readonly #name: NetworkName;

  constructor(db: Db, name: NetworkName, sources: readonly FakeSource[], nowMs: number, sleeping: Sleep = sleep) {
    this.#db = db;
    this.#name = name;
    this.nowMs = nowMs;
    const clients = sources.map(({ client }) => client);
    this.fx = {
      db,
      sleep: sleeping,
      nowMs: () => this.nowMs,
      report: (line) => void this.reports.push(line),
      pool: new ChainPool({ network: name, clients, random: () => 0, report: () => {} }),
      apply: (look) => this.#apply(look),
    };
  }

  pass() {
    return runPass(this.fx, networkOf(this.#name), this.memory);
  }

  /** What was found, in order: `hash@height`, or `hash@-` outside a block. */
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

  async #apply(look: Look) {
    if (this.refusal !== undefined) return err(this.refusal);
    this.looks.push(look);
    for (const { payment, sight, mayConfirm = true } of look.seen) {
      await putPayment(this.#db, paymentAfter(payment, sight, { ...look, nowMs: this.nowMs, mayConfirm }));
    }
    return ok({ invoices: [], unmatched: 0 });
  }
}
