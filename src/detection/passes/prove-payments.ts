// Proves payments in blocks that no hash link has proved: reading addresses one by one does not link blocks. A block's hash covers all its
// transactions, so a payment is proved while the chain still has its stored block, no matter which source found it.
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { BlockRef } from "../../chains/sources/transfer.ts";
import { ok } from "../../lib/result.ts";
import { blockAt } from "./find-position.ts";
import { lookAtSome, readUnproved } from "./recheck-payments.ts";
import { applied, type Pass, type Step, type WatchDependencies } from "./watch-pass.ts";

/** The most blocks with payments that one pass asks for. */
const BLOCKS_A_PASS = 60;

/**
 * Proves the payments above a height and up to a block, or up to an earlier block if they are in too many blocks; returns the block reached.
 * Undefined if a fork has undone more payments than one pass can recheck or store: the next pass continues with the rest.
 */
export async function proveByBlocks(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  { above, to }: { readonly above: number; readonly to: BlockRef },
): Promise<Step<BlockRef | undefined>> {
  const unproved = await readUnproved(deps, { ...pass, tip: to }, above);
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
  const looked = await lookAtSome(deps, pass, client, lost);
  if (!looked.ok) return looked;
  const { seen, isWhole } = looked.value;
  const saved = await applied(deps, pass, { transfers: [], seen });
  return saved.ok ? ok(isWhole && saved.value.isWhole ? reached : undefined) : saved;
}
