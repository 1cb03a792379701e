// A watcher crashes between any two awaits, repeatedly, while addresses are activated and paid and the chain reorganizes. In the end storage must
// match the final chain, no matter what was lost on the way. A few lines apply the transfers with the real protocol's guarantee: an observation is
// committed as a whole or fails, and the number of a payment's next event is the lock.
import { and, eq, sql } from "drizzle-orm";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { type Transfer, transferKey } from "../../../src/chains/sources/transfer.ts";
import {
  type ChainObservation,
  newPayment,
  type ObservationContext,
  observationOf,
  paymentAfter,
} from "../../../src/commerce/payments/chain-observation.ts";
import { putPayment } from "../../../src/commerce/payments/store.ts";
import type { Applied, Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { type WatchDependencies, WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { runPass } from "../../../src/detection/watchers/watch-network.ts";
import { type Outage, outage } from "../../../src/lib/fetch-text.ts";
import { derivedId, type InvoiceId, type MerchantId } from "../../../src/lib/ids.ts";
import { err, ok, type Result } from "../../../src/lib/result.ts";
import { commitBatch } from "../../../src/platform/db/commit-batch.ts";
import { faultKind, readWithRetry } from "../../../src/platform/db/retry.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { recordOutbox } from "../../../src/platform/events/store.ts";
import type { Failure } from "../../../src/platform/failures.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { networkOf } from "../../support/watcher.ts";
import { type Attempt, insist, type Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Effect } from "../engine/sqlite-d1.ts";
import { Client, type Verdict, type World } from "../engine/world.ts";

const MERCHANT: MerchantId = "mer_00000000000000000000000000";
/** A token read from logs, a coin read from blocks, a coin with a mempool, and a source that is queried by address. */
const KINDS = [
  { network: "ETH", cryptocurrency: "USDT", kind: "evm-rpc", costsBy: "blocks" },
  { network: "ETH", cryptocurrency: "ETH", kind: "evm-rpc", costsBy: "blocks" },
  { network: "LTC", cryptocurrency: "LTC", kind: "core-rpc", costsBy: "blocks" },
  { network: "LTC", cryptocurrency: "LTC", kind: "esplora", costsBy: "recipients" },
] as const;
type Kind = (typeof KINDS)[number];
const HAPPENINGS = 16;
const BLOCK_MS = 10_000;
/** No reorg goes deeper than this; on a chain with finality, everything below is final. */
const DEEPEST = 2;

type Apply = (deps: ApplyDependencies, look: Findings) => Promise<Result<Applied, Failure>>;
type ApplyDependencies = Pick<WatchDependencies, "db" | "sleep" | "nowMs"> & { readonly newUlid: () => string };

/** Writes the row and an event of each transfer and each checked payment in one batch. */
export const awaited: Apply = async (deps, look) => {
  const found = look.transfers.map((transfer) => ({ transfer, of: transfer, observation: observationOf(transfer) }));
  const seen = look.seen.map(({ payment, observation }) => ({ transfer: undefined, of: payment, observation }));
  for (const { of, ...what } of [...found, ...seen]) {
    const stood = await applyOne(deps, look, { ...what, txHash: of.txHash });
    if (!stood.ok) return stood;
  }
  return ok({ invoices: [] });
};

/** Broken: reports success before the observation is committed, so the cursor moves too early. */
export const promised: Apply = async (deps, look) => {
  awaited(deps, look).catch(() => {});
  return ok({ invoices: [] });
};

async function applyOne(
  deps: ApplyDependencies,
  { network, heights }: Findings,
  of: { readonly txHash: string; readonly transfer: Transfer | undefined; readonly observation: ChainObservation },
): Promise<Result<true, Failure>> {
  const invoiceId: InvoiceId = `inv_${of.txHash}`;
  for (let tries = 0; tries < 5; tries++) {
    const read = await readWithRetry(deps.sleep, async () =>
      deps.db.batch([
        deps.db.select().from(payments).where(eq(payments.txHash, of.txHash)),
        deps.db
          .select({ last: sql<number>`coalesce(max(sequence), 0)` })
          .from(events)
          .where(eq(events.invoiceId, invoiceId)),
      ]),
    );
    if (!read.ok) return read;
    const [[before], [told]] = read.value;
    const context: ObservationContext = { network, heights, nowMs: deps.nowMs() };
    const first = of.transfer === undefined ? undefined : firstSight(of.transfer, invoiceId, context);
    const after = before === undefined ? first : paymentAfter(before, of.observation, context);
    if (after === undefined || after === before) return ok(true);
    const id = derivedId("evt", deps.newUlid());
    const sequence = (told?.last ?? 0) + 1;
    const event = { id, merchantId: MERCHANT, type: "payment.updated", invoiceId, sequence } as const;
    const statements = [
      ...recordOutbox(deps.db, [{ ...event, data: "{}", createdAtMs: 0 }]),
      putPayment(deps.db, after),
    ];
    const sent = await commitBatch(
      deps,
      () => deps.db.select({ id: events.id }).from(events).where(eq(events.id, id)),
      statements,
    );
    if (sent.kind === "committed") return ok(true);
    if (sent.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  }
  return err({ code: "CONTENTION" });
}

function firstSight(transfer: Transfer, invoiceId: InvoiceId, context: ObservationContext) {
  return newPayment({
    id: derivedId("pay", `00000000000000000000000000|${transferKey(transfer)}`),
    merchantId: MERCHANT,
    transfer,
    placement: { kind: "CREDITED", invoiceId, matchedBy: "ADDRESS", marketMicros: null },
    requiredConfirmations: 2,
    usdMicros: null,
    evidence: { raw: "{}", spends: [], candidates: [] },
    context,
  });
}

/** Changes a chain while it is watched. No change may be lost, because the watcher's result is compared with the chain. */
class Story {
  readonly source: FakeSource;
  isOver = false;
  readonly #lab: Lab;
  readonly #world: World;
  readonly #kind: Kind;
  readonly #chain: FakeChain;
  readonly #paid = new Set<string>();
  #open: { readonly address: string; readonly invoiceId: InvoiceId }[] = [];
  #count = 0;

  constructor(lab: Lab, world: World, kind: Kind) {
    this.#lab = lab;
    this.#world = world;
    this.#kind = kind;
    this.#chain = new FakeChain({ startMs: world.nowMs - 9 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 10 });
    this.source = new FakeSource(this.#chain, kind);
  }

  async happen(): Promise<void> {
    // Only takes time: no step, so no fault affects it.
    const pause = this.#world.sleepOf(new Client(0, () => {}));
    await this.#activate();
    for (let n = 0; n < HAPPENINGS; n++) {
      await pause(this.#world.random() * 8_000);
      await this.#world.pick([
        () => this.#activate(),
        () => this.#abandon(),
        () => this.#pay(),
        () => this.#pay(),
        () => this.#mine(),
        () => this.#mine(),
        () => this.#reorganise(),
        () => this.#fail(),
      ])();
    }
    this.source.down = undefined;
    while (this.#chain.mempool.length > 0) await this.#mine();
    for (let n = 0; n < 3; n++) await this.#mine();
    this.isOver = true;
  }

  isAtTip(): boolean {
    const [cursor] = this.#lab.rows("select height, hash from network_cursors");
    const stuck = this.#lab.rows("select address from stuck_addresses");
    return cursor?.height === this.#chain.tip.height && cursor.hash === this.#chain.tip.hash && stuck.length === 0;
  }

  /** The position at which the next pass continues through the open payments; 0 if it starts with the first. */
  lookedAt(): number {
    const [cursor] = this.#lab.rows("select coalesce(progress ->> '$.lookedAt', 0) as place from network_cursors");
    return Number(cursor?.place ?? 0);
  }

  verdict(): Verdict {
    const rows = this.#lab.rows("select tx_hash, status, block_hash from payments");
    for (const block of this.#chain.below(this.#chain.tip.height)) {
      for (const { txHash } of block.sent) {
        const row = rows.find((each) => each.tx_hash === txHash);
        if (row === undefined) return `${txHash}, mined in ${block.hash}, was lost`;
        if (row.block_hash !== block.hash) return `${txHash} is in ${block.hash} and stored in ${row.block_hash}`;
        if (row.status !== "CONFIRMED") return `${txHash} is deep in the chain and ${row.status}`;
      }
    }
    const mined = new Set(
      this.#chain.below(this.#chain.tip.height).flatMap(({ sent }) => sent.map((each) => each.txHash)),
    );
    const unmatched = rows.find((row) => row.block_hash !== null && !mined.has(String(row.tx_hash)));
    return unmatched === undefined
      ? undefined
      : `${unmatched.tx_hash} is nowhere and stored in ${unmatched.block_hash}`;
  }

  async #activate(): Promise<void> {
    const address = `address ${this.#count++}`;
    const { network, cryptocurrency } = this.#kind;
    const at = { network, cryptocurrency, address, nowMs: this.#world.nowMs };
    const invoiceId = await watchMethod(this.#db(), { ...at, expiresAtMs: at.nowMs + 10 ** 9 });
    this.#open = [...this.#open, { address, invoiceId }];
  }

  /** Ends every unpaid invoice; if no other is left, the network may become idle. */
  async #abandon(): Promise<void> {
    for (const { address, invoiceId } of this.#open.filter((each) => !this.#paid.has(each.address))) {
      this.#open = this.#open.filter((each) => each.address !== address);
      const over = { status: "EXPIRED", monitorUntilMs: this.#world.nowMs - 1 } as const;
      await this.#db()
        .update(invoices)
        .set(over)
        .where(and(eq(invoices.id, invoiceId)));
    }
  }

  /** Sends a payment to an address shown earlier, which is mined later, sometimes at once. */
  async #pay(): Promise<void> {
    const { address: toAddress } = this.#open[Math.floor(this.#world.random() * this.#open.length)] ?? {};
    if (toAddress === undefined) return;
    this.#paid.add(toAddress);
    const { cryptocurrency } = this.#kind;
    this.#chain.mempool = [
      ...this.#chain.mempool,
      { cryptocurrency, toAddress, txHash: `tx ${this.#count++}`, amountUnits: 1n },
    ];
    if (this.#world.random() < 0.5) this.#mine();
  }

  async #mine(): Promise<void> {
    this.#chain.mine(
      this.#chain.mempool.filter(() => this.#world.random() < 0.8),
      this.#world.nowMs,
    );
    if (this.#kind.network === "ETH") this.#chain.finalizedHeight = this.#chain.tip.height - DEEPEST;
  }

  /** Replaces the newest blocks: their transactions are pending again, or were double-spent and are gone. */
  async #reorganise(): Promise<void> {
    const depth = Math.min(
      1 + Math.floor(this.#world.random() * DEEPEST),
      this.#chain.tip.height - (this.#chain.finalizedHeight ?? 0),
    );
    if (depth === 0) return;
    const { height } = this.#chain.tip;
    const undone: Sent[] = this.#chain
      .below(height)
      .slice(0, depth)
      .flatMap(({ sent }) => [...sent]);
    this.#chain.drop(depth);
    this.#chain.mempool = [...this.#chain.mempool, ...undone].filter(() => this.#world.random() < 0.8);
    for (let n = 0; n <= depth; n++) await this.#mine();
  }

  async #fail(): Promise<void> {
    this.source.down = this.source.down === undefined ? this.#world.pick(["TIMEOUT", "BAD_STATUS"]) : undefined;
  }

  #db() {
    return this.#lab.db(async (_, work) => work());
  }
}

/** The source as one watcher uses it: each request is a step, and a lost one is an outage. */
function stepwise(source: FakeSource, effect: Effect, onLost: () => void): ChainClient {
  const step = async <T>(ask: () => Promise<Result<T, Outage>>): Promise<Result<T, Outage>> => {
    try {
      await effect("chain", () => undefined);
    } catch {
      onLost();
      return err(outage("UNREACHABLE", "lost"));
    }
    return ask();
  };
  const { client } = source;
  const { history, mempoolPart } = client;
  return {
    kind: client.kind,
    costsBy: client.costsBy,
    verify: () => client.verify(),
    tip: () => step(() => client.tip()),
    finalizedHeight: () => client.finalizedHeight(),
    block: (height) => step(() => client.block(height)),
    scan: (range) => step(() => client.scan(range)),
    mempool: (recipients) => step(() => client.mempool(recipients)),
    ...(history === undefined ? {} : { history: (request) => step(() => history(request)) }),
    ...(mempoolPart === undefined ? {} : { mempoolPart: (...of) => step(() => mempoolPart(...of)) }),
    lookup: (request) => step(() => client.lookup(request)),
  };
}

export function watcherScenario(lab: Lab, apply: Apply): Scenario {
  return {
    name: apply === awaited ? "watch a network" : "a cursor that moves before its results are committed",
    lab,
    faultChance: 0.06,
    maxSteps: 8_000,
    start(world) {
      const kind: Kind = world.pick<Kind>(KINDS);
      const network = networkOf(kind.network);
      const story = new Story(lab, world, kind);
      const isForgetful = world.random() < 0.5;
      const bugs: unknown[] = [];
      let isDone = false;
      let alive: { readonly client: Client; readonly memory: WatchMemory; readonly pool: ChainPool } | undefined;
      let effect: Effect;
      /** Whether a request of this pass was lost; the next pass then requests its address or transaction again. */
      let lost = false;
      /**
       * Whether the current round through the open payments began after the chain's last change, and lost no request. A failed source is asked for a
       * few payments per pass, so a pass that saw the tip may have skipped some payments deep in the chain. Later passes reach them.
       */
      let isRoundWhole = false;
      const attempt = async (client: Client): Promise<Attempt<true>> => {
        effect = world.effectOf(client);
        isRoundWhole = story.lookedAt() === 0 ? story.isOver : isRoundWhole && !lost;
        lost = false;
        // An object that crashed or was idle has lost its memory; in half of the schedules this happens before each pass.
        const isReborn = isForgetful || alive === undefined || alive.client.isDead || world.random() < 0.1;
        const onLost = () => {
          lost = true;
        };
        const clients = [stepwise(story.source, (...step) => effect(...step), onLost)];
        const born = { network: network.name, clients, random: () => 0, report: () => {} };
        const object =
          isReborn || alive === undefined ? { memory: new WatchMemory(), pool: new ChainPool(born) } : alive;
        alive = { ...object, client };
        const own = { db: lab.db(effect), sleep: world.sleepOf(client), nowMs: () => world.nowMs };
        const isLast = story.isOver;
        const outcome = await runPass(
          {
            ...own,
            pool: object.pool,
            apply: (look) => apply({ ...own, newUlid: () => world.newUlid() }, look),
            report: () => {},
          },
          network,
          object.memory,
        );
        const hasLooked = isRoundWhole && story.lookedAt() === 0;
        const isRead = outcome.kind === "read" && !outcome.isBehind && hasLooked && story.isAtTip();
        const isThere = outcome.kind === "resting" || isRead;
        return isLast && isThere && !lost ? { kind: "done", value: true } : { kind: "again", afterMs: 3_000 };
      };
      story.happen().catch((error: unknown) => bugs.push(error));
      insist<true>({
        world,
        attempt,
        onDone: () => {
          isDone = true;
        },
        onBug: (error) => bugs.push(error),
        isFault: (error) => faultKind(error) !== "other",
      });
      return () => {
        if (bugs.length > 0) return `a bug: ${bugs[0] instanceof Error ? bugs[0].stack : bugs[0]}`;
        return isDone ? story.verdict() : "the watcher never came to the tip";
      };
    },
  };
}
