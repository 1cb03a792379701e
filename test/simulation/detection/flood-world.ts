// A watcher that really applies its findings, on a database that ends a pass at D1's statement limit. One block has thousands of transfers to an
// address that many merchants share, and an honest shop is paid at the same time.

import type { Network, NetworkName } from "../../../src/chains/registry/networks.ts";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { type WatchDependencies, WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { runPass } from "../../../src/detection/watchers/watch-network.ts";
import { makeId, newUlid } from "../../../src/lib/ids.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { Meter } from "../../../src/platform/db/meter.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { network } from "../../support/named-network.ts";
import { randomFrom } from "../../support/random.ts";
import { MOST_STATEMENTS, StatementLimit } from "../../support/statement-limit.ts";
import type { Effect } from "../engine/sqlite-d1.ts";
import { instantSleep, ReorgShop, SHARED_ADDRESS, START_MS, shopDependencies, type TreeInvoice } from "./reorg-shop.ts";

const BLOCK_MS = 12_000;
/** Invoices with their own addresses, by the number in their ids. */
export const HONEST = [2, 3] as const;
type Honest = (typeof HONEST)[number];
const HONEST_ADDRESSES: Readonly<Record<Honest, string>> = {
  2: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  3: "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
};
const HONEST_UNITS = 40_000_000n;
/** The amount of the invoice at the flooded address. */
export const ASKED_UNITS = 100_000_000n;

export function invoiceAt(n: number, address: string, units: bigint, network = "ETH"): TreeInvoice {
  return {
    id: makeId("inv", String(n).padStart(26, "0")),
    merchant: 0,
    network,
    cryptocurrency: "USDT",
    address,
    expectedMicros: units,
    askedUnits: units,
    underpaidToleranceMicros: 1_000_000n,
    overpaidToleranceMicros: 5_000_000n,
    latePaymentPolicy: "REVIEW",
    expiresAtMs: START_MS + DAY_MS,
    monitorUntilMs: START_MS + 2 * DAY_MS,
    requiredConfirmations: 1,
  };
}

/** Transfers to the shared address that no rule credits. */
export function floodOf(count: number, units: (n: number) => bigint = () => 5_000_000n, name = "flood"): Sent[] {
  return Array.from({ length: count }, (_, n) => ({
    cryptocurrency: "USDT",
    txHash: `${name} ${String(n).padStart(6, "0")}`,
    toAddress: SHARED_ADDRESS,
    amountUnits: units(n),
  }));
}

export function honestPayment(txHash: string, of: Honest = 2): Sent {
  return { cryptocurrency: "USDT", txHash, toAddress: HONEST_ADDRESSES[of], amountUnits: HONEST_UNITS };
}

interface FloodOptions {
  readonly network?: NetworkName;
  /** The first source that answers is used. By default there is one, which reads blocks. */
  readonly sources?: readonly Pick<ChainClient, "kind" | "costsBy">[];
  readonly most?: number;
}

export class FloodWorld {
  readonly shop = new ReorgShop();
  readonly network: Network;
  readonly sources: readonly FakeSource[];
  readonly chain = new FakeChain({ startMs: START_MS - 99 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 100 });
  /** The first source. */
  readonly source: FakeSource;
  limit: StatementLimit;
  /** Whether D1 ended the last invocation. */
  ranOut = false;
  nowMs = START_MS + 1_000;
  effect: Effect = async (_, work) => work();
  readonly #random = randomFrom(1);

  constructor(of: FloodOptions = {}) {
    const { network: name = "ETH", sources = [{ kind: "evm-rpc", costsBy: "blocks" }], most = MOST_STATEMENTS } = of;
    this.network = network(name);
    this.limit = new StatementLimit(most);
    this.sources = sources.map((each) => new FakeSource(this.chain, each));
    const [first] = this.sources;
    if (first === undefined) throw new Error("no source");
    this.source = first;
  }

  async stock(holders: number): Promise<void> {
    await this.shop.stock();
    const { name } = this.network;
    await this.shop.share(holders - 1, name);
    await this.shop.open([
      invoiceAt(1, SHARED_ADDRESS, ASKED_UNITS, name),
      ...HONEST.map((n) => invoiceAt(n, HONEST_ADDRESSES[n], HONEST_UNITS, name)),
    ]);
  }

  /** Runs one pass of a new object in its own invocation; returns the number of statements. */
  pass(): Promise<number> {
    this.nowMs = Math.max(this.nowMs, this.chain.tip.timeMs) + 1_000;
    return this.invoke(async (deps) => void (await runPass(deps, this.network, new WatchMemory())));
  }

  /** Runs an invocation of the watcher's object; returns the number of statements. An invocation that D1 ends stops like a crashed pass. */
  async invoke(work: (deps: WatchDependencies) => Promise<void>): Promise<number> {
    this.limit.begin();
    const meter = new Meter();
    const d1 = this.limit.over(this.shop.d1((point, step) => this.effect(point, step)));
    const db = openDb(d1, {}, undefined, meter);
    const bytes = () => Uint8Array.from({ length: 16 }, () => Math.floor(this.#random() * 256));
    const { shop, nowMs } = this;
    const deps: WatchDependencies = {
      db,
      meter,
      sleep: instantSleep,
      nowMs: () => nowMs,
      report: () => {},
      pool: new ChainPool({
        network: this.network.name,
        clients: this.sources.map(({ client }) => client),
        random: () => 0,
        report: () => {},
      }),
      apply: (findings) =>
        applyTransfers(shopDependencies({ shop, db, nowMs, newUlid: () => newUlid(nowMs, bytes()) }), findings),
    };
    this.ranOut = false;
    await work(deps).catch((error: unknown) => {
      if (!String(error).includes("Too many API requests")) throw error;
      this.ranOut = true;
    });
    return this.limit.statements;
  }

  get height(): number {
    return Number(
      this.shop.rows("select height from network_cursors where network = ?", this.network.name)[0]?.height ?? -1,
    );
  }

  /** Runs passes until the cursor has reached the block, at most `most`; returns the number of statements of each. */
  async passesUntil(height: number, most: number): Promise<readonly number[]> {
    const statements: number[] = [];
    while (this.height < height && statements.length < most) statements.push(await this.pass());
    return statements;
  }

  count(sql: string, ...params: string[]): number {
    return Number(this.shop.rows(sql, ...params)[0]?.n ?? 0);
  }

  /** The stored result, which must not depend on where passes were interrupted. */
  outcome() {
    const decided = "select tx_hash from payments union select tx_hash from left_out_transfers";
    return {
      decided: this.count(`select count(*) as n from (${decided}) where tx_hash like 'flood%'`),
      rows: this.shop.rows(`select merchant_id, status, count(*) as n from payments where invoice_id is null
        group by 1, 2 order by 1, 2`),
      credited: this.shop.rows(
        "select tx_hash, invoice_id, status from payments where invoice_id is not null order by 1",
      ),
      received: this.shop.rows("select id, status, received_micros from invoices order by id"),
    };
  }

  statusOf(n: number): string {
    const [row] = this.shop.rows(
      "select status from invoices where id = ?",
      makeId("inv", String(n).padStart(26, "0")),
    );
    return String(row?.status);
  }
}
