// Reads what is stored at the places of a look, and weighs it against what the look found. The batches of the look assert the same again,
// because a claim and a pass may look at one block at the same time.
import type { Network } from "../../chains/networks.ts";
import { explainerMark, growthHeight, type Transfer, transferKey } from "../../chains/transfer.ts";
import type { Payment, StoredPayment } from "../../commerce/payments/payment.ts";
import { logAlert } from "../../lib/log.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { batch, type Statement } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import {
  assertCountedOnce,
  type BlockPlace,
  type CountedOnce,
  selectExplainers,
  selectStandingGrowth,
} from "./store.ts";
import { type StandingGrowth, weighPlace } from "./weigh-growth.ts";

export interface WeighedLook {
  /** All transfers of the look, except growth that is explained or stored already. */
  readonly transfers: readonly Transfer[];
  /** What is left of stored growth that is explained in part; to be applied after `transfers`. */
  readonly remainders: readonly Transfer[];
  /** By `transferKey` of what explains it: rows of growth that do not count any more once that is written. */
  readonly replaced: ReadonlyMap<string, readonly Payment[]>;
  /** Those whose explanation is stored already. */
  readonly orphans: readonly Payment[];
}

export async function readGrowth(
  deps: { readonly db: Db; readonly sleep: Sleep },
  network: Network,
  transfers: readonly Transfer[],
): Promise<Result<WeighedLook, Failure>> {
  const concerned = watchesBalances(network) ? transfers.filter((each) => placeOf(each) !== undefined) : [];
  const byPlace = Map.groupBy(concerned, (each) => keyOf(placeOf(each)));
  const places = [...byPlace.values()].flatMap(([each]) => (each === undefined ? [] : (placeOf(each) ?? [])));
  if (places.length === 0) return ok({ transfers, remainders: [], replaced: new Map(), orphans: [] });
  const { name } = network;
  const read = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [selectStandingGrowth(deps.db, name, places), selectExplainers(deps.db, name, places)]),
  );
  if (!read.ok) return read;
  const [grown, paid] = read.value;
  const unreadable = reportDamaged(network, grown, paid);
  const rows = grown.flatMap(({ row }) => (row === null ? [] : [row]));
  const standing = Map.groupBy(rows, (row) => keyOf({ address: row.toAddress, blockHash: row.blockHash ?? "" }));
  const stored = Map.groupBy(paid, keyOf);
  const kept = transfers.filter((each) => !concerned.includes(each));
  const remainders: Transfer[] = [];
  const replaced = new Map<string, readonly Payment[]>();
  const orphans: Payment[] = [];
  for (const [key, together] of byPlace) {
    if (unreadable.has(key)) {
      // Nobody can say which of it counts already, so no rule credits any of it.
      kept.push(...together.map((each) => ({ ...each, isUnexplained: true as const })));
      continue;
    }
    const growth = together.find((each) => each.growth !== undefined);
    const fresh = together.filter((each) => each.growth === undefined);
    const weighed = weighPlace({
      growth,
      fresh,
      standing: standingOf(standing.get(key) ?? []),
      stored: (stored.get(key) ?? []).map(({ txHash, units }) => ({ txHash, units: BigInt(units) })),
    });
    kept.push(...fresh);
    if (weighed.growth !== null) (weighed.replaced.length > 0 ? remainders : kept).push(weighed.growth);
    if (weighed.by !== null) replaced.set(weighed.by, weighed.replaced);
    else orphans.push(...weighed.replaced);
  }
  return ok({ transfers: kept, remainders, replaced, orphans });
}

/** The places, as keys, at which a row cannot be read; the log names the rows. */
function reportDamaged(
  { name: network }: Network,
  grown: Awaited<ReturnType<typeof selectStandingGrowth>>,
  paid: Awaited<ReturnType<typeof selectExplainers>>,
): ReadonlySet<string> {
  const rows = grown.filter(({ row }) => row === null || explainedBy(row.evidence) === undefined);
  const explainers = paid.filter(({ units }) => !/^\d+$/.test(units));
  if (rows.length + explainers.length > 0) {
    const of = { paymentIds: rows.map(({ id }) => id), txHashes: explainers.map(({ txHash }) => txHash) };
    logAlert("growth waits: what is stored of its block cannot be read", { network, ...of });
  }
  return new Set([...rows, ...explainers].map(keyOf));
}

/** The assertion of a batch that writes these, where one is needed. */
export function countOnce(
  db: Db,
  network: Network,
  written: readonly Pick<
    StoredPayment,
    "txHash" | "outputIndex" | "toAddress" | "blockHeight" | "blockHash" | "evidence"
  >[],
  replaced: readonly Payment[],
): readonly Statement[] {
  const replaces = replaced.map(({ id }) => id);
  const list = written.flatMap((each): readonly CountedOnce[] => {
    const { txHash, outputIndex, toAddress: address, blockHeight: height, blockHash, evidence } = each;
    const isGrowth = growthHeight(txHash) !== undefined;
    if (height === null || blockHash === null || (!isGrowth && outputIndex !== NATIVE)) return [];
    const mark = isGrowth ? null : explainerMark(txHash);
    return [{ address, height, blockHash, outputIndex, mark, explainedBy: explainedBy(evidence) ?? [], replaces }];
  });
  return watchesBalances(network) && list.length > 0 ? [assertCountedOnce(db, network.name, list)] : [];
}

const NATIVE = "native";

function watchesBalances({ family, nativeBy }: Network): boolean {
  return family === "evm" && nativeBy !== "logs";
}

/** Undefined for what has nothing to do with a balance: tokens, and what is in no block. */
function placeOf({ block, growth, outputIndex, toAddress }: Transfer): BlockPlace | undefined {
  if (block === null || (growth === undefined && outputIndex !== NATIVE)) return undefined;
  return { address: toAddress, height: block.height, blockHash: block.hash };
}

function keyOf(place: Pick<BlockPlace, "address" | "blockHash"> | undefined): string {
  return place === undefined ? "" : `${place.blockHash} ${place.address}`;
}

function standingOf(rows: readonly StoredPayment[]): readonly StandingGrowth[] {
  return [...Map.groupBy(rows, transferKey).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined
      ? []
      : [{ rows: same, units: first.amountUnits, explainedBy: explainedBy(first.evidence) ?? [] }];
  });
}

/** Undefined where the evidence cannot be read. */
function explainedBy(evidence: StoredPayment["evidence"]): readonly string[] | undefined {
  try {
    const marks: unknown = parseJson(evidence).explainedBy ?? [];
    return Array.isArray(marks) ? marks.map(String) : undefined;
  } catch {
    return undefined;
  }
}
