// Deliberately broken watchers: each does something that looks right and passes a simple test. The simulator must catch all of them.
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { type Transfer, transferKey } from "../../../src/chains/sources/transfer.ts";
import type { WatchDependencies } from "../../../src/detection/passes/watch-pass.ts";
import { ok } from "../../../src/lib/result.ts";
import type { ReorgShop } from "./reorg-shop.ts";
import type { Variant } from "./reorgs.ts";

/** A transfer is identified by the index of its log in the block, which changes when the transaction is mined again (chains.md 2). */
export const byLogIndex: Variant = {
  name: "identifies a transfer by its log's index in the block",
  identify: ({ position }, n) => String(position + n),
};

/** Reading continues from the cursor, even if the cursor's block is no longer on the chain. */
export const withoutWalkingBack: Variant = {
  name: "does not walk back on a hash mismatch",
  change: (deps, shop) => ({
    ...deps,
    pool: {
      ...poolOf(deps),
      attempt: (nowMs, work) => deps.pool.attempt(nowMs, (client) => work(trusting(client, shop))),
    },
  }),
};

/** A block that was read before is assumed to be unchanged. */
function trusting(client: ChainClient, shop: ReorgShop): ChainClient {
  return {
    ...client,
    block: async (height) => {
      const block = await client.block(height);
      const [cursor] = shop.rows("select height, hash, checkpoints from network_cursors");
      const checkpoints: [number, string][] = JSON.parse(String(cursor?.checkpoints ?? "[]"));
      const read = new Map([...checkpoints, [Number(cursor?.height), String(cursor?.hash)] as const]);
      const hash = read.get(height);
      return block.ok && block.value !== null && hash !== undefined ? ok({ ...block.value, hash }) : block;
    },
  };
}

/** The pool is a class, and spreading it would lose its methods. */
function poolOf({ pool }: WatchDependencies): WatchDependencies["pool"] {
  return {
    available: (nowMs) => pool.available(nowMs),
    attempt: (nowMs, work) => pool.attempt(nowMs, work),
    attemptWithout: (first, nowMs, work) => pool.attemptWithout(first, nowMs, work),
    hasSecond: () => pool.hasSecond(),
    nameOf: (client) => pool.nameOf(client),
    noteTip: (client, height, nowMs) => pool.noteTip(client, height, nowMs),
    records: () => pool.records(),
    resume: (states) => pool.resume(states),
    states: () => pool.states(),
    tryEach: (nowMs, work) => pool.tryEach(nowMs, work),
  };
}

/** An invoice's received sum is the previous sum, adjusted for what just happened to its payments. */
export const nudged: Variant = {
  name: "increments sums instead of recomputing them",
  change: (deps, shop) => ({
    ...deps,
    apply: async (look) => {
      const before = receivedIn(shop);
      const applied = await deps.apply(look);
      for (const [invoiceId, { received, payments }] of receivedIn(shop)) {
        const was = before.get(invoiceId);
        if (was === undefined || received === was.received) continue;
        let sum = was.received;
        for (const [id, { status, micros }] of payments) sum += micros * step(was.payments.get(id)?.status, status);
        shop.run("update invoices set received_micros = ? where id = ?", sum, invoiceId);
      }
      return applied;
    },
  }),
};

/** The mistake: it adds each payment that arrives and subtracts each that leaves, even one that is dropped after it had already left its block. */
function step(before: string | undefined, after: string): number {
  if (before === after) return 0;
  if (after === "DROPPED" || after === "REORGED") return -1;
  return before === "DETECTED" || before === "CONFIRMED" ? 0 : 1;
}

interface Received {
  readonly received: number;
  readonly payments: ReadonlyMap<string, { readonly status: string; readonly micros: number }>;
}

function receivedIn(shop: ReorgShop): ReadonlyMap<string, Received> {
  const paid = shop.rows("select id, invoice_id, status, amount_units from payments");
  const invoices = shop.rows(`select invoice.id, received_micros, amount_micros, amount_units asked
    from invoices invoice join payment_methods method on method.invoice_id = invoice.id`);
  return new Map(
    invoices.map((invoice) => {
      const [expected, asked] = [BigInt(invoice.amount_micros ?? 0), BigInt(invoice.asked ?? 1)];
      const own = paid.filter((payment) => payment.invoice_id === invoice.id);
      const values = own.map(
        ({ id, status, amount_units }) =>
          [
            String(id),
            { status: String(status), micros: Number((BigInt(amount_units ?? 0) * expected) / asked) },
          ] as const,
      );
      return [String(invoice.id), { received: Number(invoice.received_micros), payments: new Map(values) }];
    }),
  );
}

/** Keeps the first observation of an output, found by its key, instead of the current one. */
function keeping(
  name: string,
  hazards: Variant["hazards"],
  keep: (first: Transfer, now: Transfer) => Transfer,
): Variant {
  return {
    name,
    ...(hazards === undefined ? {} : { hazards }),
    change: (deps, shop) => ({
      ...deps,
      apply: (look) => {
        const transfers = look.transfers.map((transfer) => {
          const first = firstOf(shop).get(transferKey(transfer)) ?? transfer;
          firstOf(shop).set(transferKey(transfer), first);
          return keep(first, transfer);
        });
        return deps.apply({ ...look, transfers });
      },
    }),
  };
}

/** The first observations in one tree. Each variant reopens the shop and so starts with none. */
function firstOf(shop: ReorgShop): Map<string, Transfer> {
  const known = firsts.get(shop.opened) ?? new Map<string, Transfer>();
  firsts.set(shop.opened, known);
  return known;
}
const firsts = new WeakMap<object, Map<string, Transfer>>();

export const keepsAmount = keeping("keeps the first amount", ["effects"], ({ amountUnits }, now) => ({
  ...now,
  amountUnits,
}));

export const keepsRecipient = keeping("keeps the first recipient", ["effects"], ({ toAddress }, now) => ({
  ...now,
  toAddress,
}));

export const keepsAsset = keeping("keeps the first coin", ["effects"], ({ cryptocurrency }, now) => ({
  ...now,
  cryptocurrency,
}));

export const trustsMempool = keeping("trusts a forged first report", ["lies"], (first, now) => {
  const { amountUnits, toAddress, cryptocurrency } = first.block === null ? first : now;
  return { ...now, amountUnits, toAddress, cryptocurrency };
});

/** A transfer in a block counts from the block's timestamp, which its miner chose. */
export const timedByBlock: Variant = {
  name: "uses only the block's time",
  hazards: ["clocks"],
  change: (deps, shop) => ({
    ...deps,
    apply: async (look) => {
      const applied = await deps.apply(look);
      shop.run("update payments set received_at_ms = block_time_ms where block_time_ms is not null");
      return applied;
    },
  }),
};
