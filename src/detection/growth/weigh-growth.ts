// Compares the growth of a balance with the transactions that explain it, so that no coin counts twice. Growth and transactions belong to one place
// (an address in one block) but may come from different sources: a second source may show a transaction that the first left out, before or after the
// growth is stored.

import {
  type BlockRef,
  explainerMark,
  growthIdentity,
  type Transfer,
  transferKey,
} from "../../chains/sources/transfer.ts";
import type { Payment, StoredPayment } from "../../commerce/payments/payment.ts";
import { parseJson } from "../../lib/typed-json.ts";

/** Stored growth of one address in one block; several rows if several merchants have it for review. */
export interface StoredGrowth {
  readonly rows: readonly StoredPayment[];
  /** `explainerMark` of each transaction that was subtracted when it was stored. */
  readonly explainedBy: readonly string[];
}

/** A transaction's payment to the address. */
interface Explainer {
  readonly txHash: string;
  readonly units: bigint;
}

export interface PlaceInBlock {
  /** The growth found now; undefined if there is none. */
  readonly growth: Transfer | undefined;
  readonly block: BlockRef;
  /** Transfers found now by the block's own transactions. */
  readonly fresh: readonly Transfer[];
  readonly storedGrowth: readonly StoredGrowth[];
  /** Stored growth that was dropped because transactions explain it. */
  readonly explained: readonly StoredGrowth[];
  /** Stored payments by the block's own transactions. */
  readonly stored: readonly Explainer[];
}

interface WeighedPlace {
  /** The unexplained part of the growth, to be written or updated; null if all of it is explained, or if different growth is already stored. */
  readonly growth: Transfer | null;
  /** Rows of growth that no longer apply. */
  readonly replaced: readonly Payment[];
  /**
   * `transferKey` of each new transfer that explains `replaced`: the batch that stores the first of these transfers removes those rows. Empty if all
   * are stored already.
   */
  readonly by: readonly string[];
}

/** Which growth counts for an address in a block, given the stored and the found transfers. The order in which they arrived makes no difference. */
export function weighPlace(place: PlaceInBlock): WeighedPlace {
  const { growth, block, fresh, storedGrowth, explained, stored } = place;
  const explainers = explainersOf(fresh, stored);
  const known = new Set(stored.map(({ txHash }) => txHash));
  const rest = growth === undefined ? undefined : restOf(growth, explainers);
  const [holding, broken] = partition(storedGrowth, (of) => unseen(of.explainedBy, explainers).length === 0);
  const [first] = broken;
  const by = first === undefined ? [] : newOf(first, fresh, known);
  const replaced = broken.flatMap(({ rows }) => rows);
  // The batch that drops growth need not store its remainder, so the remainder may still be missing.
  const counted = first ?? (storedGrowth.length === 0 ? lastOf(explained) : undefined);
  const candidate = growth === undefined ? remainderOf(counted, block, explainers) : (rest ?? null);
  // Two sources disagree about the balance: the first stored value is kept, and the other is not added.
  const isDoubled =
    candidate !== null &&
    holding.length > 0 &&
    !holding.some(({ rows }) => rows.some((row) => isSameGrowth(row, candidate)));
  return { growth: isDoubled ? null : candidate, replaced, by };
}

/** Whether the row and the transfer describe the same growth. */
function isSameGrowth(row: Payment, transfer: Transfer): boolean {
  return transferKey(row) === transferKey(transfer);
}

function explainersOf(fresh: readonly Transfer[], stored: readonly Explainer[]): readonly Explainer[] {
  const byHash = new Map(stored.map((each) => [each.txHash, each]));
  for (const { txHash, amountUnits: units } of fresh) byHash.set(txHash, { txHash, units });
  return [...byHash.values()];
}

/** Transactions that were not among those subtracted. */
function unseen(explainedBy: readonly string[], explainers: readonly Explainer[]): readonly Explainer[] {
  const marks = new Set(explainedBy);
  return explainers.filter(({ txHash }) => !marks.has(explainerMark(txHash)));
}

/** Growth minus the transactions that explain it; null if nothing is left. */
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

/** The newest remainder of the growth: each remainder has more explaining transactions than the one before, so it is the one with the most. */
function lastOf(explained: readonly StoredGrowth[]): StoredGrowth | undefined {
  return explained.toSorted((a, b) => b.explainedBy.length - a.explainedBy.length)[0];
}

/** The rest of stored growth that transactions explain in part; null if they explain none or all of it. */
function remainderOf(
  counted: StoredGrowth | undefined,
  block: BlockRef,
  explainers: readonly Explainer[],
): Transfer | null {
  const [row] = counted?.rows ?? [];
  if (counted === undefined || row === undefined || unseen(counted.explainedBy, explainers).length === 0) return null;
  const { raw = "{}" } = parseJson(row.evidence);
  const { cryptocurrency, txHash, outputIndex, toAddress, amountUnits } = row;
  const { explainedBy } = counted;
  const what = { cryptocurrency, txHash, outputIndex, toAddress, amountUnits, raw, block };
  return restOf({ ...what, fromAddress: null, spends: [], growth: { explainedBy } }, explainers);
}

/** The explaining transactions that are not stored yet. */
function newOf(
  { explainedBy }: StoredGrowth,
  fresh: readonly Transfer[],
  known: ReadonlySet<string>,
): readonly string[] {
  const marks = new Set(explainedBy);
  return fresh.filter(({ txHash }) => !known.has(txHash) && !marks.has(explainerMark(txHash))).map(transferKey);
}

function partition<T>(all: readonly T[], isIn: (each: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isIn), all.filter((each) => !isIn(each))];
}
