// Runs a plan of the reorg simulator (test/simulation/detection/reorg-plan.ts) on a real chain: its invoices are created in a shop, its transactions
// are signed, and each of its branches is mined, undone and mined again as planned. In the end the shop must match the final chain.
import { expect } from "vitest";
import { assetOn, type Network } from "../../../src/chains/registry/networks.ts";
import { formatUnits } from "../../../src/lib/money.ts";
import {
  type Block,
  chainOf,
  type Output,
  ROOT_HEIGHT,
  type Transaction,
} from "../../simulation/detection/chain-tree.ts";
import { expectedOf } from "../../simulation/detection/reorg-model.ts";
import { type Hazard, type Plan, planOf } from "../../simulation/detection/reorg-plan.ts";
import type { TreeInvoice } from "../../simulation/detection/reorg-shop.ts";
import { byOrdinal } from "../../simulation/detection/tree-source.ts";
import { Dice } from "../../support/dice.ts";
import { type Invoice, SEEN_WITHIN_MS, type Shop, unitsOf, until } from "./harness.ts";

/** The plan of a seed; undefined if it is for another chain. */
export function planOn(name: Network["name"], seed: number, hazards: readonly Hazard[] = []): Plan | undefined {
  const plan = planOf({
    dice: new Dice(seed),
    hazards: new Set(hazards),
    identify: byOrdinal,
    onShown: () => {},
    note: () => {},
  });
  return plan.network.name === name ? plan : undefined;
}

interface Story {
  readonly seed: number;
  readonly plan: Plan;
}

/** The first matching plans, with seeds from 0 on. */
export function storiesOf(count: number, planFrom: (seed: number) => Plan | undefined): readonly Story[] {
  const stories: Story[] = [];
  for (let seed = 0; stories.length < count; seed++) {
    const plan = planFrom(seed);
    if (plan !== undefined && isEventful(plan)) stories.push({ seed, plan });
  }
  return stories;
}

/** Whether a transaction leaves the chain permanently, or a losing branch wins again. Many forks cause neither. */
function isEventful({ tree: { views, last, deepestFork } }: Plan): boolean {
  if (deepestFork === 0) return false;
  const chains = [...views, last].map(({ tip }) => chainOf(tip));
  const ever = new Set(chains.flatMap((chain) => chain.flatMap(({ mined }) => mined.map((each) => each.transaction))));
  const stays = new Set(chainOf(last.tip).flatMap(({ mined }) => mined.map((each) => each.transaction)));
  const isBack = chains.some((chain, n) =>
    chain.some(
      (block) => n > 1 && !chains[n - 1]?.includes(block) && chains.slice(0, n - 1).some((old) => old.includes(block)),
    ),
  );
  return isBack || [...ever].some((each) => !stays.has(each));
}

/** All transactions that are in a block or mempool of the plan at any time. */
export function transactionsIn({ tree: { views, last } }: Plan): readonly Transaction[] {
  const all = [...views, last].flatMap(({ tip, pool }) => [
    ...pool,
    ...chainOf(tip).flatMap(({ mined }) => mined.map(({ transaction }) => transaction)),
  ]);
  return [...new Set(all)];
}

/** A planned invoice, as created in its shop. */
export interface Opened {
  readonly planned: TreeInvoice;
  readonly shop: Pick<Shop, "invoice">;
  readonly id: string;
}

/** A real chain, and the shops paid on it. */
export interface StoryChain {
  /** Creates the invoices, and signs the transactions. The plan's blocks are mined on the chain's current tip. */
  open(plan: Plan): Promise<readonly Opened[]>;
  height(): Promise<number>;
  /** Disconnects these blocks, given from the lowest up. */
  undo(blocks: readonly Block[]): Promise<void>;
  /** Mines a block on top of the chain, for the first time or again. */
  put(block: Block): Promise<void>;
  /** Adds transactions to the mempool, unless the mempool or the chain has one that spends the same coins. */
  offer(transaction: Transaction): Promise<void>;
  /** Empties the mempool. */
  evict(): Promise<void>;
  mineEmpty(): Promise<void>;
  /** Waits until the shop has read the newest block. */
  untilRead(): Promise<void>;
  /** How the shop names an output and its transaction, and the output's amount in the shop. */
  outputOf(hash: string, ordinal: number, planned: Output): OutputName;
}

export interface OutputName {
  readonly txHash: string;
  readonly outputIndex: string;
  readonly amountUnits: bigint;
}

/** The expected final state of an invoice in the shop. */
interface Ending extends Pick<Opened, "shop" | "id"> {
  /** The outputs that are credited and confirmed. */
  readonly confirmed: readonly string[];
  readonly confirmedMicros: bigint;
  /** The expected status while none of the invoice's payments is pending in a mempool. */
  readonly status: string;
}

/** Runs the plan. In the end each invoice must have the state that the final chain requires. */
export async function playStory(chain: StoryChain, { seed, plan }: Story): Promise<void> {
  const dice = new Dice(seed + 1);
  const { views, last } = plan.tree;
  const opened = await chain.open(plan);
  const rootHeight = await chain.height();
  let active: readonly Block[] = chainOf(last.tip).slice(0, 1);
  for (const { tip, pool } of [...views, last]) {
    const target = chainOf(tip);
    const shared = target.findIndex((block, n) => active[n] !== block);
    const from = shared < 0 ? target.length : shared;
    if (from < active.length) await chain.undo(active.slice(from));
    for (const block of target.slice(from)) await chain.put(block);
    active = target;
    for (const transaction of pool) await chain.offer(transaction);
    // An undone transaction that is never mined again is then unknown to the node, not just unconfirmed.
    if (dice.chance(0.4)) await chain.evict();
    if (dice.chance(0.8)) await chain.untilRead();
  }
  const endings = endingsOf(chain, { plan, opened, rootHeight });
  for (const ending of endings)
    await until(
      () => differenceFrom(ending),
      (difference) => difference === "",
      SEEN_WITHIN_MS,
    );
  await chain.mineEmpty();
  await chain.untilRead();
  for (const ending of endings) expect(await differenceFrom(ending), ending.id).toBe("");
}

/** The expected final states, computed by the simulator's own model from the final chain alone. */
function endingsOf(
  chain: StoryChain,
  of: { readonly plan: Plan; readonly opened: readonly Opened[]; readonly rootHeight: number },
): readonly Ending[] {
  const { network, tree } = of.plan;
  const heights = new Map(
    chainOf(tree.last.tip).map(({ ref }) => [ref.hash, ref.height - ROOT_HEIGHT + of.rootHeight]),
  );
  // No invoice expires in these stories.
  const asked = of.opened.map(({ planned }) => ({ ...planned, expiresAtMs: Number.MAX_SAFE_INTEGER }));
  const expected = expectedOf(tree.last, asked, (_, finalMs) => finalMs);
  const textOf = (key: string, { effect, blockHash }: { readonly effect: Output; readonly blockHash: string }) => {
    const [hash = "", ordinal] = key.split(":");
    const { amountUnits, ...name } = chain.outputOf(hash, Number(ordinal), effect);
    const { code = "", decimals = 0 } = assetOn(network, effect.cryptocurrency) ?? {};
    const amount = formatUnits(amountUnits, decimals);
    return creditText({ ...name, amount, currency: code, blockHeight: heights.get(blockHash) ?? null });
  };
  return of.opened.map(({ planned, shop, id }) => {
    const confirmed = [...expected.payments].filter(
      ([, { invoiceId, status }]) => invoiceId === planned.id && status === "CONFIRMED",
    );
    const { status = "", receivedMicros = 0n } = expected.invoices.get(planned.id) ?? {};
    return {
      shop,
      id,
      confirmed: confirmed.map(([key, payment]) => textOf(key, payment)).toSorted(),
      confirmedMicros: receivedMicros,
      status: status === "EXPIRED" || status === "UNDERPAID" ? "AWAITING_PAYMENT" : status,
    };
  });
}

type Credit = Pick<Invoice["payments"][number], "txHash" | "outputIndex" | "amount" | "currency" | "blockHeight">;

const creditText = ({ txHash, outputIndex, amount, currency, blockHeight }: Credit) =>
  `${txHash}:${outputIndex} ${amount} ${currency} @${blockHeight}`;

const confirmedIn = ({ payments }: Invoice) =>
  payments
    .filter(({ status }) => status === "CONFIRMED")
    .map(creditText)
    .toSorted();

/** How the invoice differs from the expected state; its status is compared if no payment is pending. */
async function differenceFrom({ shop, id, confirmed, confirmedMicros, status }: Ending): Promise<string> {
  const invoice = await shop.invoice(id);
  const waits = invoice.payments.some((payment) => payment.status === "DETECTED");
  const [is, should] = [
    { payments: confirmedIn(invoice), micros: unitsOf(invoice.amountConfirmed, 6) },
    { payments: confirmed, micros: confirmedMicros },
  ].map(({ payments, micros }) => `${payments.join(", ")} worth ${micros}`);
  if (is !== should) return `${is} instead of ${should}`;
  return waits || invoice.status === status ? "" : `${invoice.status} instead of ${status}`;
}
