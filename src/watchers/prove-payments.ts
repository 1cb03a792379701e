// What a round over addresses leaves open: payments said to be mined in blocks that nothing has proved yet. A block's hash holds all that is in
// it, so where the chain still has the block under which a payment is stored, the payment stands, and nobody needs to remember who found it.
import type { ChainClient } from "../chains/chain-client.ts";
import { ok } from "../lib/result.ts";
import type { BlockRef } from "../payments/transfer.ts";
import { applied, type Pass, type Step, type WatchEffects } from "./commit-cursor.ts";
import { blockAt } from "./find-position.ts";
import { lookAtUnproved, readUnproved } from "./look-again.ts";

/** Blocks with payments in them that one pass asks for. */
const BLOCKS_A_PASS = 60;

/** Proves the payments above a height and up to a block, or up to an earlier one where they are in too many blocks; that block comes back. */
export async function proveByBlocks(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  { above, to }: { readonly above: number; readonly to: BlockRef },
): Promise<Step<BlockRef>> {
  const unproved = await readUnproved(fx, { ...pass, tip: to }, above);
  if (!unproved.ok) return unproved;
  const heights = [...new Set(unproved.value.flatMap(({ blockHeight }) => blockHeight ?? []))].toSorted(
    (a, b) => a - b,
  );
  const blocks = new Map<number, BlockRef>();
  for (const height of heights.slice(0, BLOCKS_A_PASS)) {
    const block = await blockAt(pass, client, height);
    if (!block.ok) return block;
    blocks.set(height, block.value);
  }
  const reached = heights.length > BLOCKS_A_PASS ? ([...blocks.values()].at(-1) ?? to) : to;
  const lost = unproved.value.filter(({ blockHeight, blockHash }) => {
    const block = blocks.get(blockHeight ?? -1);
    return block !== undefined && block.hash !== blockHash;
  });
  const seen = await lookAtUnproved(fx, pass, client, lost);
  if (!seen.ok) return seen;
  const stands = await applied(fx, pass, { transfers: [], seen: seen.value });
  return stands.ok ? ok(reached) : stands;
}
