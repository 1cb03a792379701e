// Rechecks a due payment that a source does not find although the payment's block is on the chain: the source may have forgotten the transaction, or
// another source may have invented it.
import type { ChainClient, Lookup } from "../../chains/sources/chain-client.ts";
import { type BlockRef, effectKey, type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import { ok } from "../../lib/result.ts";
import type { SeenPayment } from "../matching/apply-transfers.ts";
import { agreed, isGone, lookElsewhere, type OpenPayment, secondObservation } from "./look-elsewhere.ts";
import { applied, asked, type Pass, type Step, type WatchDependencies } from "./watch-pass.ts";

/**
 * `found`: the source's answer about the transaction; `observation`: what it means for the payment; `block`: the payment's own block, which is on the
 * chain.
 */
export async function lookInBlock(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  of: {
    readonly payment: OpenPayment;
    readonly block: BlockRef;
    readonly found: Lookup;
    readonly observation: ChainObservation;
  },
): Promise<Step<readonly SeenPayment[]>> {
  const { payment, block, found, observation } = of;
  // The source's version of this same block has the transaction with a different effect.
  const told = found.kind === "mined" && found.block.hash === block.hash ? found.transfers : [];
  if (told.some((transfer) => contradicts(transfer, payment))) return supersede(deps, pass, payment, told);
  const elsewhere = await lookElsewhere(deps, pass, client, payment);
  const isDeep = pass.tip.height - block.height >= pass.network.reorgWindowBlocks;
  if (elsewhere.length > 0 || !isDeep || !isGone(observation)) return ok(elsewhere);
  // The block can no longer be replaced. A source may forget a transaction but not its block. If the block still has the payment, the payment waits
  // until the source knows the transaction again.
  const read = await readBlock(pass, client, new Set([payment.toAddress]), block);
  if (!read.ok) return read;
  if (read.value === undefined || read.value.some((transfer) => effectKey(transfer) === effectKey(payment)))
    return ok([]);
  if (read.value.some((transfer) => contradicts(transfer, payment))) return supersede(deps, pass, payment, read.value);
  const gone = agreed(observation, await secondObservation(deps, pass, client, payment));
  return ok(gone !== undefined && isGone(gone) ? [{ payment, observation: gone }] : []);
}

/** The block's payments to the addresses; undefined if the source does not return all of them at once. */
export async function readBlock(
  { network: { assets } }: Pass,
  client: ChainClient,
  recipients: ReadonlySet<string>,
  to: BlockRef,
): Promise<Step<readonly Transfer[] | undefined>> {
  const range = { from: to.height, to, assets };
  if (client.history === undefined) {
    const scan = asked(await client.scan({ ...range, recipients }));
    return scan.ok ? ok(scan.value.transfers) : scan;
  }
  const found: Transfer[] = [];
  for (const address of recipients) {
    const history = asked(await client.history({ ...range, address, after: null, pages: 1 }));
    if (!history.ok) return history;
    if (history.value.next !== null) return ok(undefined);
    found.push(...history.value.transfers.filter(({ block }) => block?.hash === to.hash));
  }
  return ok(found);
}

const contradicts = (transfer: Transfer, payment: OpenPayment) =>
  transferKey(transfer) === transferKey(payment) && effectKey(transfer) !== effectKey(payment);

/** Applies the transfer that is on the chain in place of the payment. */
async function supersede(
  deps: WatchDependencies,
  pass: Pass,
  payment: OpenPayment,
  found: readonly Transfer[],
): Promise<Step<readonly SeenPayment[]>> {
  const transfers = found.filter((transfer) => contradicts(transfer, payment));
  const saved = await applied(deps, pass, { transfers, seen: [] });
  return saved.ok ? ok([]) : saved;
}
