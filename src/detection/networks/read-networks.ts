import type { Network } from "../../chains/registry/networks.ts";
import { selectCursor, selectCursors } from "../../commerce/cursors/store.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { selectRereadOf, selectRereads } from "../rereads/store.ts";
import type { ConfiguredSource, NetworkState } from "./network-state.ts";

export interface NetworkDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  /** The networks with a source. */
  readonly watched: ReadonlySet<string>;
  /** A network's sources, in order of preference. */
  readonly sourcesOf: (network: string) => readonly ConfiguredSource[];
}

/** The networks that have a source, or ever had one, sorted by name. */
export async function readNetworks({
  db,
  sleep,
  watched,
  sourcesOf,
}: NetworkDependencies): Promise<Result<readonly NetworkState[], Failure>> {
  const rows = await readWithRetry(sleep, async () => batch(db, [selectCursors(db), selectRereads(db)]));
  if (!rows.ok) return rows;
  const [cursors, rereads] = rows.value;
  const names = new Set([...watched, ...cursors.map(({ network }) => network)]);
  return ok(
    [...names].toSorted().map((network) => ({
      network,
      hasSource: watched.has(network),
      sources: sourcesOf(network),
      cursor: cursors.find((each) => each.network === network),
      reread: rereads.find((each) => each.network === network),
    })),
  );
}

export async function readNetwork(
  { db, sleep, watched, sourcesOf }: NetworkDependencies,
  { name: network }: Network,
): Promise<Result<NetworkState, Failure>> {
  const rows = await readWithRetry(sleep, async () =>
    batch(db, [selectCursor(db, network), selectRereadOf(db, network)]),
  );
  if (!rows.ok) return rows;
  const [[cursor], [reread]] = rows.value;
  return ok({ network, hasSource: watched.has(network), sources: sourcesOf(network), cursor, reread });
}
