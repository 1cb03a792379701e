// Reads what stands at the places of a look, and weighs it against what the look tells. What the batches of the look then assert is the same
// once more: a claim and a pass may look at one block at the same time.
import type { BatchItem } from "drizzle-orm/batch";
import type { Network } from "../chains/networks.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Payment, PaymentEvidence, StoredPayment } from "../payments/payment.ts";
import { explainerMark, growthHeight, type Transfer, transferKey } from "../payments/transfer.ts";
import {
  assertCountedOnce,
  type BlockPlace,
  type CountedOnce,
  selectExplainers,
  selectStandingGrowth,
} from "./store.ts";
import { type StandingGrowth, weighPlace } from "./weigh-growth.ts";

export interface WeighedLook {
  /** All that the look told but growth that is explained, or told already. */
  readonly transfers: readonly Transfer[];
  /** What is left of stored growth that is explained in part; to be applied after `transfers`. */
  readonly remainders: readonly Transfer[];
  /** By `transferKey` of what explains it: rows of growth that do not count any more once that is written. */
  readonly replaced: ReadonlyMap<string, readonly Payment[]>;
  /** Those whose explanation is stored already. */
  readonly orphans: readonly Payment[];
}

export async function readGrowth(
  fx: { readonly db: Db; readonly sleep: Sleep },
  network: Network,
  transfers: readonly Transfer[],
): Promise<Result<WeighedLook, Failure>> {
  const concerned = watchesBalances(network) ? transfers.filter((each) => placeOf(each) !== undefined) : [];
  const byPlace = Map.groupBy(concerned, (each) => keyOf(placeOf(each)));
  const places = [...byPlace.values()].flatMap(([each]) => (each === undefined ? [] : (placeOf(each) ?? [])));
  if (places.length === 0) return ok({ transfers, remainders: [], replaced: new Map(), orphans: [] });
  const { name } = network;
  const read = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([selectStandingGrowth(fx.db, name, places), selectExplainers(fx.db, name, places)]),
  );
  if (!read.ok) return read;
  const rows = read.value[0].flatMap(({ row }) => (row === null ? [] : [row]));
  const standing = Map.groupBy(rows, (row) => keyOf({ address: row.toAddress, blockHash: row.blockHash ?? "" }));
  const stored = Map.groupBy(read.value[1], keyOf);
  const kept = transfers.filter((each) => !concerned.includes(each));
  const remainders: Transfer[] = [];
  const replaced = new Map<string, readonly Payment[]>();
  const orphans: Payment[] = [];
  for (const [key, told] of byPlace) {
    const growth = told.find((each) => each.growth !== undefined);
    const fresh = told.filter((each) => each.growth === undefined);
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

/** The assertion of a batch that writes these, where one is needed. */
export function countOnce(
  db: Db,
  network: Network,
  written: readonly Pick<
    StoredPayment,
    "txHash" | "outputIndex" | "toAddress" | "blockHeight" | "blockHash" | "evidence"
  >[],
  replaced: readonly Payment[],
): readonly BatchItem<"sqlite">[] {
  const replaces = replaced.map(({ id }) => id);
  const list = written.flatMap((each): readonly CountedOnce[] => {
    const { txHash, outputIndex, toAddress: address, blockHeight: height, blockHash, evidence } = each;
    const isGrowth = growthHeight(txHash) !== undefined;
    if (height === null || blockHash === null || (!isGrowth && outputIndex !== NATIVE)) return [];
    const mark = isGrowth ? null : explainerMark(txHash);
    return [{ address, height, blockHash, outputIndex, mark, explainedBy: explainedBy(evidence), replaces }];
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
      : [{ rows: same, units: first.amountUnits, explainedBy: explainedBy(first.evidence) }];
  });
}

function explainedBy(evidence: string): readonly string[] {
  const parsed: Partial<PaymentEvidence> = JSON.parse(evidence);
  return parsed.explainedBy ?? [];
}
