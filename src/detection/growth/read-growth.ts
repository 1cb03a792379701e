// Reads what is stored for the addresses and blocks of a look, and compares it with the look's findings. The look's batches assert the same again, because a
// claim and a pass may read one block at the same time.
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
  /** All transfers of the look, except growth that is already explained or stored. */
  readonly transfers: readonly Transfer[];
  /** The rest of stored growth that returning rows explain in part; to be applied before these rows, because no later look shows them. */
  readonly first: readonly Transfer[];
  /** The rest of stored growth that is partly explained; to be applied after `transfers`. */
  readonly remainders: readonly Transfer[];
  /** By `transferKey` of each explaining transfer: rows of growth that no longer count once one of these transfers is written. */
  readonly replaced: ReadonlyMap<string, readonly Payment[]>;
  /** Rows of growth whose explanation is already stored, or returns. */
  readonly orphans: readonly Payment[];
  /** Growth among `returning` that its block does not bear out, by `transferKey`. */
  readonly refuted: ReadonlySet<string>;
  /** Whether an unreadable row shares the place where this row is observed: then nothing is weighed there, and returning rows do not wait. */
  readonly isUnweighed: (payment: Payment, observation: ChainObservation) => boolean;
}

/** `returning`: known rows found in another block, which only a look at these rows can show. */
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

/** What is stored for these places, and which of their transfers the look found. */
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
      // It is unknown which part already counts, so no rule credits it.
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

/** The keys of the places at which a row cannot be read; the log names the rows. */
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

/** The assertion needed by a batch that writes these transfers, if any. */
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

/** The rows that move to a different block, in the form for `countOnce`. */
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
    // Growth that was found by its balance knows what explains it.
    return isIn && (growthHeight(after.txHash) === undefined || "evidence" in after) ? [after] : [];
  });
}

/** A known row in the block that it is observed in, for `readGrowth`; none if that is the stored block. */
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
