// What a source that is asked by address left unread, read by one that reads whole blocks, once that is the one that answers. Such a source knows
// no address that it refuses: it reads on from where the lowest of them stands, and then all of them are read with all others again.
import type { ChainClient } from "../../chains/chain-client.ts";
import { readWithRetry } from "../../db/retry.ts";
import { ok } from "../../lib/result.ts";
import { applied, asked, type Pass, type Step, stored, type WatchEffects } from "../commit-cursor.ts";
import { pieceBlocks } from "../cursor-plan.ts";
import { blockAt, type PlacedCursor } from "../find-position.ts";
import { fromOf } from "./ask-history.ts";
import { raiseStuck, selectBehind } from "./store.ts";

/** Of one pass; the next goes on where it ended. */
const PIECES = 10;
const ADDRESSES = 500;

/** Addresses that have now been read as far as the cursor. */
export async function readBehind(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  cursor: PlacedCursor,
): Promise<Step<readonly string[]>> {
  const { name, family } = pass.network;
  // No source of an EVM network is asked by address.
  if (family === "evm") return ok([]);
  const read = stored(await readWithRetry(fx.sleep, async () => selectBehind(fx.db, name, ADDRESSES)));
  if (!read.ok) return read;
  let rows = read.value;
  for (let piece = 0; piece < PIECES; piece++) {
    const behind = rows.filter(({ readHeight }) => readHeight < cursor.height);
    const lowest = Math.min(...behind.map(({ readHeight }) => readHeight));
    if (behind.length === 0) break;
    const end = Math.min(cursor.height, lowest + pieceBlocks(pass.network, true));
    const readTo = await readPiece(fx, pass, client, { addresses: behind.map(({ address }) => address), lowest, end });
    if (!readTo.ok) return readTo;
    const height = readTo.value;
    if (height <= lowest) break;
    rows = rows.map((row) => (row.readHeight < height ? { ...row, readHeight: height } : row));
  }
  return ok(rows.flatMap(({ address, readHeight }) => (readHeight >= cursor.height ? [address] : [])));
}

/** How far it came. */
async function readPiece(
  fx: WatchEffects,
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
  const stands = await applied(fx, pass, { transfers: scan.value.transfers, seen: [] });
  if (!stands.ok) return stands;
  const { height } = scan.value.to;
  const raised = await readWithRetry(fx.sleep, async () => raiseStuck(fx.db, name, of.addresses, height));
  return raised.ok ? ok(height) : stored(raised);
}
