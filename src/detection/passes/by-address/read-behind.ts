// When a source that reads whole blocks takes over from one that is read by address, reads the addresses that the latter had left behind. A source
// that reads whole blocks cannot refuse single addresses: reading continues from the lowest block that any of these addresses has reached, and then
// they are read together with all others again.
import type { ChainClient } from "../../../chains/sources/chain-client.ts";
import { ok } from "../../../lib/result.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import { chunkBlocks } from "../cursor-plan.ts";
import { blockAt, type PlacedCursor } from "../find-position.ts";
import { applied, asked, type Pass, type Step, stored, type WatchDependencies } from "../watch-pass.ts";
import { fromOf } from "./ask-history.ts";
import { raiseStuck, selectBehind } from "./store.ts";

/** The most chunks in one pass; the next pass continues after them. */
const CHUNKS = 10;
const ADDRESSES = 500;

/** Returns the addresses that have now been read up to the cursor. */
export async function readBehind(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  cursor: PlacedCursor,
): Promise<Step<readonly string[]>> {
  const { name, family } = pass.network;
  // No source for an EVM network is read by address.
  if (family === "evm") return ok([]);
  const read = stored(await readWithRetry(deps.sleep, async () => selectBehind(deps.db, name, ADDRESSES)));
  if (!read.ok) return read;
  let rows = read.value;
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    const behind = rows.filter(({ readHeight }) => readHeight < cursor.height);
    const lowest = Math.min(...behind.map(({ readHeight }) => readHeight));
    if (behind.length === 0) break;
    const end = Math.min(cursor.height, lowest + chunkBlocks(pass.network, true));
    const readTo = await readChunk(deps, pass, client, {
      addresses: behind.map(({ address }) => address),
      lowest,
      end,
    });
    if (!readTo.ok) return readTo;
    const height = readTo.value;
    if (height <= lowest) break;
    rows = rows.map((row) => (row.readHeight < height ? { ...row, readHeight: height } : row));
  }
  return ok(rows.flatMap(({ address, readHeight }) => (readHeight >= cursor.height ? [address] : [])));
}

/** Returns the height up to which it read. */
async function readChunk(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  of: { readonly addresses: readonly string[]; readonly lowest: number; readonly end: number },
): Promise<Step<number>> {
  const { name, assets } = pass.network;
  const to = await blockAt(pass, client, of.end);
  if (!to.ok) return to;
  const range = { from: fromOf(pass, of.lowest), to: to.value, recipients: new Set(of.addresses), assets };
  const scan = asked(await client.scan(range));
  if (!scan.ok) return scan;
  const saved = await applied(deps, pass, { transfers: scan.value.transfers, seen: [] });
  if (!saved.ok) return saved;
  if (!saved.value.isWhole) return ok(of.lowest);
  const { height } = scan.value.to;
  const raised = await readWithRetry(deps.sleep, async () => raiseStuck(deps.db, name, of.addresses, height));
  return raised.ok ? ok(height) : stored(raised);
}
