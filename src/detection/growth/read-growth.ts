// Reads what is stored for the addresses and blocks of a look, and compares it with what the look found. The look's batches assert the same
// again, because a claim and a pass may read one block at the same time.
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
import { assertCountedOnce, type BlockPlace, type CountedOnce, selectExplainers, selectStoredGrowth } from "./store.ts";
import { type StoredGrowth, weighPlace } from "./weigh-growth.ts";

export interface WeighedTransfers {
  /** All transfers of the look, except growth that is already explained or stored. */
  readonly transfers: readonly Transfer[];
  /** The rest of stored growth that is partly explained; to be applied after `transfers`. */
  readonly remainders: readonly Transfer[];
  /** By `transferKey` of each explaining transfer: rows of growth that no longer count once one of these transfers is written. */
  readonly replaced: ReadonlyMap<string, readonly Payment[]>;
  /** Rows of growth whose explanation is already stored. */
  readonly orphans: readonly Payment[];
}

export async function readGrowth(
  deps: { readonly db: Db; readonly sleep: Sleep },
  network: Network,
  transfers: readonly Transfer[],
): Promise<Result<WeighedTransfers, Failure>> {
  const concerned = watchesBalances(network) ? transfers.filter((each) => placeOf(each) !== undefined) : [];
  const byPlace = Map.groupBy(concerned, (each) => keyOf(placeOf(each)));
  const places = [...byPlace.values()].flatMap(([each]) => (each === undefined ? [] : (placeOf(each) ?? [])));
  if (places.length === 0) return ok({ transfers, remainders: [], replaced: new Map(), orphans: [] });
  const { name } = network;
  const read = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [selectStoredGrowth(deps.db, name, places), selectExplainers(deps.db, name, places)]),
  );
  if (!read.ok) return read;
  const [grown, paid] = read.value;
  const unreadable = reportDamaged(network, grown, paid);
  const rows = grown.flatMap(({ row }) => (row === null ? [] : [row]));
  const storedGrowth = Map.groupBy(rows, (row) => keyOf({ address: row.toAddress, blockHash: row.blockHash ?? "" }));
  const stored = Map.groupBy(paid, keyOf);
  const kept = transfers.filter((each) => !concerned.includes(each));
  const remainders: Transfer[] = [];
  const replaced = new Map<string, readonly Payment[]>();
  const orphans: Payment[] = [];
  for (const [key, together] of byPlace) {
    if (unreadable.has(key)) {
      // It is unknown which part already counts, so no rule credits any of it.
      kept.push(...together.map((each) => ({ ...each, isUnexplained: true as const })));
      continue;
    }
    const growth = together.find((each) => each.growth !== undefined);
    const fresh = together.filter((each) => each.growth === undefined);
    const weighed = weighPlace({
      growth,
      fresh,
      storedGrowth: storedGrowthOf(storedGrowth.get(key) ?? []),
      stored: (stored.get(key) ?? []).map(({ txHash, units }) => ({ txHash, units: BigInt(units) })),
    });
    kept.push(...fresh);
    if (weighed.growth !== null) (weighed.replaced.length > 0 ? remainders : kept).push(weighed.growth);
    for (const by of weighed.by) replaced.set(by, weighed.replaced);
    if (weighed.by.length === 0) orphans.push(...weighed.replaced);
  }
  return ok({ transfers: kept, remainders, replaced, orphans });
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

/** The assertion that a batch writing these transfers needs, if any. */
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
    return first === undefined
      ? []
      : [{ rows: same, units: first.amountUnits, explainedBy: explainedBy(first.evidence) ?? [] }];
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
