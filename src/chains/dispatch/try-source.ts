// Tries a source with the calls of a watcher's pass: whether it serves this chain, what its newest block is, and whether it can read a block for an
// address. The address belongs to nobody, so the source learns nothing about anyone's addresses.
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Network } from "../registry/network.ts";
import type { ChainClient } from "../sources/chain-client.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { controlAddress } from "./control-address.ts";

interface TriedSource {
  readonly tip: BlockRef;
  /** How long the source took to return its newest block. */
  readonly latencyMs: number;
  /** Whether the node has no balances for a recent block, which are needed to find payments by contracts. */
  readonly lacksBalances: boolean;
}

/** Nodes behind one URL may have different newest blocks, so a slightly lower block is read. */
const BELOW_TIP = 3;

/** Does not judge how old the newest block is. */
export async function trySource(
  client: ChainClient,
  network: Network,
  nowMs: () => number,
): Promise<Result<TriedSource, Outage>> {
  const verified = await client.verify();
  if (!verified.ok) return verified;
  const askedMs = nowMs();
  const tip = await client.tip();
  if (!tip.ok) return tip;
  const latencyMs = Math.max(0, nowMs() - askedMs);
  const to = await client.block(Math.max(0, tip.value.height - BELOW_TIP));
  if (!to.ok) return to;
  if (to.value === null) return err(outage("BEHIND", "a block below its newest one is missing"));
  const recipients = new Set([controlAddress(network)]);
  const scan = await client.scan({ from: to.value.height, to: to.value, recipients, assets: network.assets });
  return scan.ok ? ok({ tip: tip.value, latencyMs, lacksBalances: scan.value.unread !== undefined }) : scan;
}
