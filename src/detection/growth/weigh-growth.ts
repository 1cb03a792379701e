// Weighs the growth of a balance against the transactions that explain it, so that no coin counts twice. Both belong to one place,
// an address in one block, but may come from different sources: a second source may show a transaction that the first left out, before the
// growth is stored or after it.

import { explainerMark, growthIdentity, type Transfer, transferKey } from "../../chains/transfer.ts";
import type { Payment, StoredPayment } from "../../commerce/payments/payment.ts";
import { parseJson } from "../../lib/typed-json.ts";

/** Stored growth of one place; several rows where several merchants have it, for review. */
export interface StandingGrowth {
  readonly rows: readonly StoredPayment[];
  readonly units: bigint;
  /** By `explainerMark`: what was taken off when it was stored. */
  readonly explainedBy: readonly string[];
}

/** What a transaction paid the address. */
export interface Explainer {
  readonly txHash: string;
  readonly units: bigint;
}

export interface PlaceInBlock {
  /** The growth that the look found; undefined where it found none. */
  readonly growth: Transfer | undefined;
  /** Transfers by the block's own transactions that the look found. */
  readonly fresh: readonly Transfer[];
  readonly standing: readonly StandingGrowth[];
  /** Stored payments by the block's own transactions. */
  readonly stored: readonly Explainer[];
}

export interface WeighedPlace {
  /** What is left of the growth to be written or seen again; null where all of it is explained or stored already. */
  readonly growth: Transfer | null;
  /** Rows of growth that do not hold any more. */
  readonly replaced: readonly Payment[];
  /** `transferKey` of the transfer whose batch replaces them; null where it is stored already. */
  readonly by: string | null;
}

/** What counts at a place, given what is stored and what the look found. The order in which they came makes no difference. */
export function weighPlace({ growth, fresh, standing, stored }: PlaceInBlock): WeighedPlace {
  const explainers = explainersOf(fresh, stored);
  const known = new Set(stored.map(({ txHash }) => txHash));
  const rest = growth === undefined ? undefined : restOf(growth, explainers);
  const [holding, broken] = partition(standing, (of) => unseen(of.explainedBy, explainers).length === 0);
  const [first] = broken;
  const by = first === undefined ? undefined : newOf(first, fresh, known);
  const replaced = broken.flatMap(({ rows }) => rows);
  const candidate = growth === undefined ? remainderOf(first, explainers) : (rest ?? null);
  // Two sources disagree about the balance: what was stored first stays, and the other is not added.
  const isDoubled =
    candidate !== null &&
    holding.length > 0 &&
    !holding.some(({ rows }) => rows.some((row) => isSameGrowth(row, candidate)));
  return { growth: isDoubled ? null : candidate, replaced, by: by ?? null };
}

/** Whether growth in the block that the row names is what the transfer says. */
function isSameGrowth(row: Payment, transfer: Transfer): boolean {
  return transferKey(row) === transferKey(transfer);
}

function explainersOf(fresh: readonly Transfer[], stored: readonly Explainer[]): readonly Explainer[] {
  const byHash = new Map(stored.map((each) => [each.txHash, each]));
  for (const { txHash, amountUnits: units } of fresh) byHash.set(txHash, { txHash, units });
  return [...byHash.values()];
}

/** Transactions that were not taken off before. */
function unseen(explainedBy: readonly string[], explainers: readonly Explainer[]): readonly Explainer[] {
  const marks = new Set(explainedBy);
  return explainers.filter(({ txHash }) => !marks.has(explainerMark(txHash)));
}

/** Growth less what explains it; null where nothing is left. */
function restOf(growth: Transfer, explainers: readonly Explainer[]): Transfer | null {
  const { growth: rest, block, toAddress, amountUnits } = growth;
  const explainedBy = rest?.explainedBy ?? [];
  const found = unseen(explainedBy, explainers);
  if (found.length === 0 || block === null) return growth;
  const units = amountUnits - found.reduce((sum, each) => sum + each.units, 0n);
  if (units <= 0n) return null;
  return {
    ...growth,
    ...growthIdentity({ height: block.height, toAddress, units }),
    amountUnits: units,
    growth: { explainedBy: [...explainedBy, ...found.map(({ txHash }) => explainerMark(txHash))] },
  };
}

/** What transactions leave of stored growth that they explain in part. */
function remainderOf(broken: StandingGrowth | undefined, explainers: readonly Explainer[]): Transfer | null {
  const [row] = broken?.rows ?? [];
  if (broken === undefined || row === undefined || row.blockHeight === null) return null;
  const { blockHeight: height, blockHash: hash, blockTimeMs: timeMs } = row;
  if (hash === null || timeMs === null) return null;
  const { raw = "{}" } = parseJson(row.evidence);
  const { cryptocurrency, txHash, outputIndex, toAddress, amountUnits } = row;
  const block = { height, hash, timeMs };
  const { explainedBy } = broken;
  const what = { cryptocurrency, txHash, outputIndex, toAddress, amountUnits, raw, block };
  return restOf({ ...what, fromAddress: null, spends: [], growth: { explainedBy } }, explainers);
}

/** The first transaction that breaks it and is not stored yet. */
function newOf(
  { explainedBy }: StandingGrowth,
  fresh: readonly Transfer[],
  known: ReadonlySet<string>,
): string | undefined {
  const marks = new Set(explainedBy);
  const found = fresh.find(({ txHash }) => !known.has(txHash) && !marks.has(explainerMark(txHash)));
  return found === undefined ? undefined : transferKey(found);
}

function partition<T>(all: readonly T[], isIn: (each: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isIn), all.filter((each) => !isIn(each))];
}
