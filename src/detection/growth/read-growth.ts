// Reads the growth and the payments that are stored for the addresses and blocks in the findings, and compares them with the findings. The batches
// assert the result again, because a claim and a pass may read the same block at the same time.
import type { Network } from "../../chains/registry/networks.ts";
import { explainerMark, growthHeight, type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Payment, StoredPayment } from "../../commerce/payments/payment.ts";
import { logAlert } from "../../lib/log.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { assertCountedOnce, type BlockPlace, type CountedOnce, selectExplainers, selectStoredGrowth } from "./store.ts";
import { type StoredGrowth, weighPlace } from "./weigh-growth.ts";

export interface WeighedTransfers {
  /** All transfers found. Growth is reduced to its unexplained part; it is dropped if that part is zero or if different growth is already stored. */
  readonly transfers: readonly Transfer[];
  /** Remainders of stored growth that returning rows explain in part. They are applied before these rows, because no later pass finds them again. */
  readonly first: readonly Transfer[];
  /** Remainders of stored growth that is partly explained; applied after `transfers`. */
  readonly remainders: readonly Transfer[];
  /** By `transferKey` of each explaining transfer: rows of growth that no longer count once one of these transfers is written. */
  readonly replaced: ReadonlyMap<string, readonly Payment[]>;
  /** Rows of growth that a stored or returning transaction explains. */
  readonly orphans: readonly Payment[];
  /** `transferKey` of growth among `returning` that its block does not confirm. */
  readonly refuted: ReadonlySet<string>;
  /**
   * Whether an unreadable row has the same address and block as this observation: if so, their growth is not compared, and returning rows are stored
   * without the comparison.
   */
  readonly isUnweighed: (payment: Payment, observation: ChainObservation) => boolean;
}

/** `returning`: known rows that were observed in another block; a scan does not report them. */
export async function readGrowth(
  deps: { readonly db: Db; readonly sleep: Sleep },
  network: Network,
  transfers: readonly Transfer[],
  returning: readonly Transfer[],
): Promise<Result<WeighedTransfers, Failure>> {
  const all = [...transfers, ...returning];
  const concerned = watchesBalances(network) ? all.filter((each) => placeOf(each) !== undefined) : [];
  const byPlace = Map.groupBy(concerned, (each) => keyOf(placeOf(each)));
  const places = [...byPlace.values()].flatMap(([each]) => (each === undefined ? [] : (placeOf(each) ?? [])));
  if (places.length === 0) {
    const none = { first: [], remainders: [], replaced: new Map(), orphans: [], refuted: new Set<string>() };
    return ok({ ...none, transfers, isUnweighed: () => false });
  }
  const { name } = network;
  const read = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [selectStoredGrowth(deps.db, name, places), selectExplainers(deps.db, name, places)]),
  );
  if (!read.ok) return read;
  const [grown, paid] = read.value;
  const unreadable = reportDamaged(network, grown, paid);
  const weighed = weighAll(byPlace, { told: new Set(transfers), grown, paid, unreadable });
  const weighable = new Set(concerned);
  const others = transfers.filter((each) => !weighable.has(each));
  const isUnweighed: WeighedTransfers["isUnweighed"] = ({ toAddress: address }, observation) =>
    observation.kind === "mined" && unreadable.has(keyOf({ address, blockHash: observation.block.hash }));
  return ok({ ...weighed, transfers: [...others, ...weighed.transfers], isUnweighed });
}

/** What is stored for these addresses and blocks, and which of their transfers were found. */
interface Known {
  readonly told: ReadonlySet<Transfer>;
  readonly grown: Awaited<ReturnType<typeof selectStoredGrowth>>;
  readonly paid: Awaited<ReturnType<typeof selectExplainers>>;
  readonly unreadable: ReadonlySet<string>;
}

function weighAll(
  byPlace: ReadonlyMap<string, readonly Transfer[]>,
  known: Known,
): Omit<WeighedTransfers, "isUnweighed"> {
  const { told, unreadable } = known;
  const storedGrowth = Map.groupBy(
    known.grown.flatMap((of) => (of.row === null ? [] : [{ ...of, row: of.row }])),
    keyOf,
  );
  const stored = Map.groupBy(known.paid, keyOf);
  const kept: Transfer[] = [];
  const [first, remainders]: [Transfer[], Transfer[]] = [[], []];
  const [replaced, refuted] = [new Map<string, readonly Payment[]>(), new Set<string>()];
  const orphans: Payment[] = [];
  for (const [key, together] of byPlace) {
    const block = together[0]?.block ?? null;
    if (block === null) continue;
    const [shown, back] = [together.filter((each) => told.has(each)), together.filter((each) => !told.has(each))];
    if (unreadable.has(key)) {
      // A row cannot be read, so it is unknown which of these transfers are already counted: no rule credits them.
      kept.push(...shown.map((each) => ({ ...each, isUnexplained: true as const })));
      continue;
    }
    const isGrowth = ({ growth }: Transfer) => growth !== undefined;
    const rows = (storedGrowth.get(key) ?? []).map(({ row }) => row);
    const {
      growth,
      replaced: gone,
      by,
    } = weighPlace({
      growth: together.find(isGrowth),
      block,
      fresh: together.filter((each) => !isGrowth(each)),
      storedGrowth: storedGrowthOf(rows.filter(({ blockHash }) => blockHash !== null)),
      explained: storedGrowthOf(rows.filter(({ blockHash }) => blockHash === null)),
      stored: (stored.get(key) ?? []).map(({ txHash, units }) => ({ txHash, units: BigInt(units) })),
    });
    kept.push(...shown.filter((each) => !isGrowth(each)));
    const counts = growth === null ? undefined : transferKey(growth);
    for (const name of back.filter(isGrowth).map(transferKey)) if (name !== counts) refuted.add(name);
    const isBack = !back.every(isGrowth);
    const then = gone.length > 0 ? remainders : kept;
    if (growth !== null) (isBack ? first : then).push(growth);
    if (isBack || by.length === 0) orphans.push(...gone);
    else for (const name of by) replaced.set(name, gone);
  }
  return { transfers: kept, first, remainders, replaced, orphans, refuted };
}

/** The keys of the addresses and blocks for which a row cannot be read; the log names the rows. */
function reportDamaged(
  { name: network }: Network,
  grown: Awaited<ReturnType<typeof selectStoredGrowth>>,
  paid: Awaited<ReturnType<typeof selectExplainers>>,
): ReadonlySet<string> {
  const rows = grown.filter(({ row }) => row === null || explainedBy(row.evidence) === undefined);
  const explainers = paid.filter(({ units }) => !/^\d+$/.test(units));
  if (rows.length + explainers.length > 0) {
    const of = { paymentIds: rows.map(({ id }) => id), txHashes: explainers.map(({ txHash }) => txHash) };
    logAlert("growth is not applied: stored rows of its block cannot be read", { network, ...of });
  }
  return new Set([...rows, ...explainers].map(keyOf));
}

/** The assertion that a batch needs if it writes these transfers; empty if it needs none. */
export function countOnce(
  db: Db,
  network: Network,
  written: readonly (Pick<StoredPayment, "txHash" | "outputIndex" | "toAddress" | "blockHeight" | "blockHash"> &
    Partial<Pick<StoredPayment, "evidence">>)[],
  replaced: readonly Payment[],
): readonly Statement[] {
  const replaces = replaced.map(({ id }) => id);
  const list = written.flatMap((each): readonly CountedOnce[] => {
    const { txHash, outputIndex, toAddress: address, blockHeight: height, blockHash, evidence } = each;
    const isGrowth = growthHeight(txHash) !== undefined;
    if (height === null || blockHash === null || (!isGrowth && outputIndex !== NATIVE)) return [];
    const mark = isGrowth ? null : explainerMark(txHash);
    const marks = evidence === undefined ? [] : (explainedBy(evidence) ?? []);
    return [{ address, height, blockHash, outputIndex, mark, explainedBy: marks, replaces }];
  });
  return watchesBalances(network) && list.length > 0 ? [assertCountedOnce(db, network.name, list)] : [];
}

/** The rows that move to a different block, in the form that `countOnce` takes. */
export function comingIn(
  changes: readonly {
    readonly before: Payment | undefined;
    readonly after: Payment | StoredPayment;
    readonly isUnweighed?: boolean;
  }[],
): readonly (Payment | StoredPayment)[] {
  return changes.flatMap(({ before, after, isUnweighed = false }) => {
    if (isUnweighed) return [];
    const isIn = before !== undefined && after.blockHash !== null && after.blockHash !== before.blockHash;
    // Only growth that was found by its balance lists the transactions that explain it.
    return isIn && (growthHeight(after.txHash) === undefined || "evidence" in after) ? [after] : [];
  });
}

/** A known row as a transfer in the block in which it was observed, for `readGrowth`; empty if that is the stored block. */
export function returningAs(payment: Payment, observation: ChainObservation): readonly Transfer[] {
  if (observation.kind !== "mined" || observation.block.hash === payment.blockHash) return [];
  const { block, explainedBy } = observation;
  if (growthHeight(payment.txHash) !== undefined && explainedBy === undefined) return [];
  const { cryptocurrency, txHash, outputIndex, toAddress, amountUnits } = payment;
  const what = { cryptocurrency, txHash, outputIndex, toAddress, amountUnits, block };
  const growth = explainedBy === undefined ? {} : { growth: { explainedBy } };
  return [{ ...what, fromAddress: null, spends: [], raw: "{}", ...growth }];
}

const NATIVE = "native";

function watchesBalances({ family, nativeBy }: Network): boolean {
  return family === "evm" && nativeBy !== "logs";
}

/** Undefined for transfers that do not concern a native balance: tokens and unconfirmed transfers. */
function placeOf({ block, growth, outputIndex, toAddress }: Transfer): BlockPlace | undefined {
  if (block === null || (growth === undefined && outputIndex !== NATIVE)) return undefined;
  return { address: toAddress, height: block.height, blockHash: block.hash };
}

function keyOf(place: Pick<BlockPlace, "address" | "blockHash"> | undefined): string {
  return place === undefined ? "" : `${place.blockHash} ${place.address}`;
}

function storedGrowthOf(rows: readonly StoredPayment[]): readonly StoredGrowth[] {
  return [...Map.groupBy(rows, transferKey).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ rows: same, explainedBy: explainedBy(first.evidence) ?? [] }];
  });
}

/** Undefined if the evidence cannot be read. */
function explainedBy(evidence: StoredPayment["evidence"]): readonly string[] | undefined {
  try {
    const marks: unknown = parseJson(evidence).explainedBy ?? [];
    return Array.isArray(marks) ? marks.map(String) : undefined;
  } catch {
    return undefined;
  }
}
