// Reads the reservations around amounts that no invoice asks for exactly, to find the possible invoices. Handles some amounts at a time, usually in
// two round trips.

import type { OpenInvoices } from "../../../commerce/payments/match.ts";
import { RANKS } from "../../../commerce/ranks/rank.ts";
import { chunksOf } from "../../../lib/chunks.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { Sleep } from "../../../lib/sleep.ts";
import type { Rank } from "../../../platform/column-values.ts";
import { batch } from "../../../platform/db/batch.ts";
import type { Db } from "../../../platform/db/client.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import type { Failure } from "../../../platform/failures.ts";
import { type HeldAmount, nearestOf } from "./nearest.ts";
import {
  type ChosenAmount,
  NEAR_AMOUNTS_READ,
  OVER_AMOUNTS_READ,
  selectChosen,
  selectOpenAround,
  selectOpenInvoices,
  selectOpenNearest,
  selectOverAround,
  selectReleasedExact,
  type WantedAmount,
} from "./store.ts";

/**
 * How many amounts are handled at once, and how many candidates are read at once. An amount may have 220 candidates of each rank, but most amounts at
 * one address share their candidates.
 */
const AROUND_AT_ONCE = 50;
const CANDIDATES_AT_ONCE = 2_200;

interface AroundDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
}

interface Around {
  readonly rows: Awaited<ReturnType<typeof selectChosen>>;
  readonly openInvoices: OpenInvoices;
  /** Whether an invoice that was open at the time of the amount is missing from `rows`, because it has released its amounts. */
  readonly hasReleased: boolean;
}

/** The reservations around each amount, by the amount's `key`; all amounts are on one network. */
export async function readAround(
  deps: AroundDependencies,
  network: string,
  wanted: readonly WantedAmount[],
): Promise<Result<ReadonlyMap<string, Around>, Failure>> {
  const all = new Map<string, Around>();
  for (const chunk of chunksOf(wanted, AROUND_AT_ONCE)) {
    const read = await readChunk(deps, network, chunk);
    if (!read.ok) return read;
    for (const [key, around] of read.value) all.set(key, around);
  }
  return ok(all);
}

async function readChunk(
  deps: AroundDependencies,
  network: string,
  wanted: readonly WantedAmount[],
): Promise<Result<ReadonlyMap<string, Around>, Failure>> {
  const { db } = deps;
  const read = await readWithRetry(deps.sleep, async () =>
    batch(db, [
      selectOpenAround(db, network, wanted),
      selectOverAround(db, network, wanted),
      selectOpenInvoices(db, network, wanted),
      selectReleasedExact(db, network, wanted),
    ]),
  );
  if (!read.ok) return read;
  const [shelves, others, counts, released] = read.value;
  const sides = Map.groupBy(shelves, rankKey);
  const chosen = new Map<string, readonly HeldAmount[]>();
  const crowded: (WantedAmount & { readonly ranks: readonly Rank[] })[] = [];
  for (const each of wanted) {
    const crowdedRanks = RANKS.filter((rank) => {
      const key = rankKey({ key: each.key, rank });
      const found = (sides.get(key) ?? []).flatMap(({ above, below }) => [above, below]);
      const { amounts, isWhole } = nearestOf(each.units, found, NEAR_AMOUNTS_READ);
      if (isWhole) chosen.set(key, amounts);
      return !isWhole;
    });
    if (crowdedRanks.length > 0) crowded.push({ ...each, ranks: crowdedRanks });
  }
  if (crowded.length > 0) {
    const nearest = await readWithRetry(deps.sleep, async () => selectOpenNearest(db, network, crowded));
    if (!nearest.ok) return nearest;
    for (const { key, rank, held } of nearest.value) chosen.set(rankKey({ key, rank }), held);
  }
  const ended = new Map(others.map((each) => [rankKey(each), [...each.above, ...each.below]]));
  const listed = wanted.flatMap((each) => RANKS.flatMap((rank) => candidatesOf(each, rank, { chosen, ended })));
  // Amounts with the same address and time share their candidates, each of which is read once.
  const candidates = Map.groupBy(listed, candidateKey);
  const rows: Around["rows"][number][] = released.map((row) => ({ ...row, isOpen: true }));
  for (const some of chunksOf([...candidates], CANDIDATES_AT_ONCE)) {
    const each = some.flatMap(([key, [first]]) => (first === undefined ? [] : [{ ...first, key }]));
    const chosenRows = await readWithRetry(deps.sleep, async () => selectChosen(db, network, each));
    if (!chosenRows.ok) return chosenRows;
    for (const row of chosenRows.value) for (const { key } of candidates.get(row.key) ?? []) rows.push({ ...row, key });
  }
  const byKey = Map.groupBy(rows, ({ key }) => key);
  return ok(
    new Map(
      counts.map(({ key, hasReleased, ...open }) => [
        key,
        { rows: byKey.get(key) ?? [], openInvoices: upTo(open), hasReleased },
      ]),
    ),
  );
}

/** The amounts of one rank whose invoices are read in full: the chosen ones of open invoices, and the nearest ones of ended invoices. */
function candidatesOf(
  { key, cryptocurrency, address, units, atMs, slackMs }: WantedAmount,
  rank: Rank,
  { chosen, ended }: Readonly<Record<"chosen" | "ended", ReadonlyMap<string, readonly HeldAmount[]>>>,
) {
  const sides = [{ held: ended.get(rankKey({ key, rank })) ?? [], isCut: false }];
  const over = nearestOf(units, sides, OVER_AMOUNTS_READ).amounts;
  const of = { key, cryptocurrency, address, atMs, slackMs };
  return [
    ...(chosen.get(rankKey({ key, rank })) ?? []).map((amount) => ({ ...of, ...amount, isOpen: true })),
    ...over.map((amount) => ({ ...of, ...amount, isOpen: false })),
  ];
}

function candidateKey(of: Pick<ChosenAmount, "cryptocurrency" | "address" | "atMs" | "units" | "invoiceId">): string {
  return `${of.cryptocurrency} ${of.address} ${of.atMs} ${of.units} ${of.invoiceId}`;
}

const rankKey = ({ key, rank }: { readonly key: string; readonly rank: Rank }) => `${rank} ${key}`;

/**
 * For each rank, the number of open invoices of this rank and of the ranks before it, at most 2. The input has a separate count for each rank; an
 * invoice has only one rank at an address.
 */
function upTo(open: Readonly<Record<Rank, number>>): OpenInvoices {
  return { 1: Math.min(2, open[1]), 2: Math.min(2, open[1] + open[2]), 3: Math.min(2, open[1] + open[2] + open[3]) };
}
