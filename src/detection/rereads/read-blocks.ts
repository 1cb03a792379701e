// A chunk of a range, from a source that is read by blocks.
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { Transfer } from "../../chains/sources/transfer.ts";
import { ok } from "../../lib/result.ts";
import { chunkBlocks, chunkEnd } from "../passes/cursor-plan.ts";
import type { RecipientBook } from "../passes/recipients.ts";
import { bounded, partsOf } from "../passes/scan-blocks.ts";
import { asked, type Step } from "../passes/watch-pass.ts";
import type { Chunk, Range, Reread } from "./reread.ts";

export async function readBlocks(
  { network, to: end, isWhole }: Range,
  client: ChainClient,
  { addresses, codes }: RecipientBook,
  row: Reread,
): Promise<Step<Chunk>> {
  const { nextHeight, afterMs, afterPosition, skipped } = row;
  const place = { afterMs, afterPosition, skipped };
  const toEnd = { transfers: [], next: { ...place, nextHeight: end.height + 1 }, isLast: isWhole };
  if (addresses.size === 0 || nextHeight > end.height) return ok(toEnd);
  const blocks = chunkBlocks(network, codes.has(network.nativeCode));
  const height = chunkEnd({ cursorHeight: nextHeight - 1, tipHeight: end.height, blocks });
  const last = asked(await client.block(height));
  if (!last.ok) return last;
  let to = last.value ?? end;
  const transfers: Transfer[] = [];
  for (const { assets } of partsOf(network, codes)) {
    const scan = asked(await client.scan({ from: nextHeight, to, recipients: addresses, assets }));
    if (!scan.ok) return scan;
    transfers.push(...scan.value.transfers);
    to = scan.value.to;
  }
  const chunk = bounded({ transfers, to }, { height: nextHeight - 1 });
  const isLast = isWhole && chunk.to.height >= end.height;
  return ok({ transfers: chunk.transfers, next: { ...place, nextHeight: chunk.to.height + 1 }, isLast });
}
