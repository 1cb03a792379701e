// Asks sources other than the current one about payments: a second opinion before a payment counts as gone or confirmed, and another source's
// answer if the first refuses the transaction or does not know it.
import type { ChainClient, Lookup, LookupRequest } from "../../chains/sources/chain-client.ts";
import { effectKey, type Transfer } from "../../chains/sources/transfer.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import { ok } from "../../lib/result.ts";
import { type JsonOf, parseJson } from "../../lib/typed-json.ts";
import type { SeenPayment } from "../matching/apply-transfers.ts";
import type { Pass, WatchDependencies } from "./watch-pass.ts";

/** A payment, its position in the table, the outputs that its transaction spends, and whether two sources must agree before it is confirmed. */
export type OpenPayment = Payment & {
  readonly position: number;
  readonly spends: JsonOf<readonly string[]>;
  readonly needsSecond: number;
};

/**
 * Whether another source agrees on the block and on the transfer: its position in the transaction, coin, recipient and amount. True if there is no
 * other source. Without the position, a dishonest source could show one payment twice, and the other source's single payment would agree with both.
 */
export async function isSeconded(
  deps: WatchDependencies,
  client: ChainClient,
  payment: OpenPayment,
  blockHash: string,
): Promise<boolean> {
  if (!deps.pool.hasSecond()) return true;
  const found = await lookUpWithout(deps, client, payment);
  if (found?.kind !== "mined") return false;
  const { block, transfers } = found;
  return block.hash === blockHash && transfers.some((transfer) => effectKey(payment) === effectKey(transfer));
}

/**
 * A second source's answer about a payment that the first does not know: `none` if there is no second source, `silent` if it cannot be asked.
 */
type SecondObservation = ChainObservation | "none" | "silent";

export async function secondObservation(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  payment: OpenPayment,
): Promise<SecondObservation> {
  if (!deps.pool.hasSecond()) return "none";
  const found = await lookUpWithout(deps, client, payment);
  if (found === undefined) return "silent";
  const observation = observationIn(pass, found, payment);
  if (observation.kind !== "mined") return observation;
  // Two sources on two branches: the payment exists, and our own scan will find it in the block that mines it.
  const own = await client.block(observation.block.height);
  if (!own.ok) return "silent";
  return own.value?.hash === observation.block.hash ? observation : knownElsewhere(pass);
}

/** The answer from the first other source that does not refuse the transaction. */
async function lookUpWithout(
  deps: WatchDependencies,
  client: ChainClient,
  payment: OpenPayment,
): Promise<Lookup | undefined> {
  const tried: ChainClient[] = [];
  for (;;) {
    // The transaction itself may cause the failure, so it does not count against the source.
    const ask = async (other: ChainClient) => ok(await other.lookup(requestOf(payment)));
    const found = await deps.pool.attemptWithout(client, deps.nowMs(), ask, tried);
    if (!found.ok) return undefined;
    if (found.value.value.ok) return found.value.value.value;
    tried.push(found.value.client);
  }
}

/** Another source's observation of a payment, if that source has it in a block on the first source's chain or in its mempool. */
export async function goodObservation(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  payment: OpenPayment,
): Promise<ChainObservation | undefined> {
  const observation = await secondObservation(deps, pass, client, payment);
  return observation === "none" || observation === "silent" || isGone(observation) ? undefined : observation;
}

/**
 * Asks another source about a payment that the current source refuses, or does not know although the payment's block is on the chain. A payment
 * that two sources must agree on is not confirmed by one, and another source alone cannot take a payment out of its block.
 */
export async function lookElsewhere(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  payment: OpenPayment,
): Promise<readonly SeenPayment[]> {
  const observation = await goodObservation(deps, pass, client, payment);
  if (observation === undefined || (observation.kind === "pending" && payment.blockHeight !== null)) return [];
  return [{ payment, observation, mayConfirm: payment.needsSecond === 0 }];
}

function knownElsewhere({ network }: Pass): ChainObservation {
  return network.family === "bitcoin" ? { kind: "pending" } : { kind: "unknown" };
}

/** The combined observation of both sources; undefined if the first answer must wait for the second. */
export function agreed(first: ChainObservation, second: SecondObservation): ChainObservation | undefined {
  if (second === "none") return first;
  if (second === "silent") return undefined;
  return second.kind === "unknown" && first.kind === "replaced" ? first : second;
}

export function isGone({ kind }: ChainObservation): boolean {
  return kind === "unknown" || kind === "replaced";
}

export function requestOf(payment: Pick<OpenPayment, "txHash" | "toAddress" | "spends">): LookupRequest {
  const spends = parseJson(payment.spends);
  return { txHash: payment.txHash, spends, recipients: new Set([payment.toAddress]) };
}

/** Only networks with a mempool show 0 confirmations; elsewhere an unconfirmed payment counts as unknown. */
export function observationIn(pass: Pick<Pass, "network">, found: Lookup, payment: Payment): ChainObservation {
  switch (found.kind) {
    case "mined":
      if (stillHolds(found, payment))
        return { kind: "mined", block: found.block, ...found.transfers.find(isOf(payment))?.growth };
      // A Bitcoin-like transaction has the same outputs in every block: an effect that was only seen unconfirmed, and is not in the block, never
      // existed.
      return { kind: payment.blockHeight === null && pass.network.family === "bitcoin" ? "replaced" : "unknown" };
    case "pending":
      return pass.network.family === "bitcoin" ? { kind: "pending" } : { kind: "unknown" };
    case "unknown":
    case "replaced":
      return { kind: found.kind };
  }
}

/** Growth also holds if the source no longer has the balances, as long as it has the same block: a block's effect on a balance never changes. */
function stillHolds({ block, transfers, isUnread }: Extract<Lookup, { kind: "mined" }>, payment: Payment): boolean {
  if (isUnread === true) return block.hash === payment.blockHash;
  // The log's position must match too: if the transaction is mined again, a contract may emit different logs, and a payment in these is a separate
  // transfer, which the scan finds. Matching only by amount would credit the same money twice.
  return transfers.some(isOf(payment));
}

function isOf(payment: Payment): (transfer: Transfer) => boolean {
  return (transfer) => effectKey(payment) === effectKey(transfer);
}
