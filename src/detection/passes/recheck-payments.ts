// Rechecks known payments. A payment that the cursor's hash link proves needs no request. An empty answer is no proof, so a second source is asked
// before a payment counts as gone, and before a large one counts as confirmed.
import type { ChainClient, Lookup } from "../../chains/sources/chain-client.ts";
import { effectKey, transferKey } from "../../chains/sources/transfer.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { err, ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { SeenPayment } from "../matching/apply-transfers.ts";
import { type Asking, askEach, MOST_REFUSED } from "./ask-each.ts";
import { behind } from "./find-position.ts";
import {
  agreed,
  goodObservation,
  isGone,
  isSeconded,
  lookElsewhere,
  type OpenPayment,
  observationIn,
  requestOf,
  secondObservation,
} from "./look-elsewhere.ts";
import { lookInBlock } from "./look-in-block.ts";
import { leaveOutDamaged } from "./open-payments/leave-out-damaged.ts";
import { isToProve, proveLoose } from "./open-payments/prove-loose.ts";
import { placeAfter, readDue } from "./open-payments/read-due.ts";
import { selectUnprovedPayments } from "./open-payments/store.ts";
import { applied, asked, type Pass, type Step, type Stop, stored, type WatchDependencies } from "./watch-pass.ts";

/** The most due payments that a pass rechecks; the next pass continues after them. */
const DUE_A_PASS = 50;
const PAGE = 2_000;
/** The most transfers undone by a fork that a pass rechecks, and the most rows for them. The next pass no longer finds those that were rechecked. */
const UNPROVED_A_PASS = 200;
const UNPROVED_ROWS_A_PASS = 2_000;
/** Rechecks no more payments after this time. */
const LONGEST_MS = 20 * SECOND_MS;

/** All open payments stored as mined above `above`, which no hash link has proved yet. */
export async function readUnproved(
  deps: WatchDependencies,
  pass: Pass,
  above: number,
): Promise<Step<readonly OpenPayment[]>> {
  const unproved: OpenPayment[] = [];
  for (let after = 0; ; ) {
    const page = { network: pass.network.name, after, limit: PAGE, above, upTo: pass.tip.height };
    const rows = stored(await readWithRetry(deps.sleep, async () => selectUnprovedPayments(deps.db, page)));
    if (!rows.ok) return rows;
    unproved.push(...leaveOutDamaged(deps, pass.network, rows.value));
    const last = rows.value.at(-1);
    if (last === undefined || rows.value.length < PAGE) return ok(unproved);
    after = last.position;
  }
}

/** The observations of payments undone by a fork, at most as many as one pass rechecks. */
interface SomeSeen {
  readonly seen: readonly SeenPayment[];
  /** Whether all payments were rechecked, so that the cursor may pass their blocks. */
  readonly isWhole: boolean;
}

/** `lookAtUnproved` for as many payments as one pass rechecks. If there are more, only those whose block has left the chain are rechecked. */
export async function lookAtSome(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  payments: readonly OpenPayment[],
): Promise<Step<SomeSeen>> {
  const isFew = atMost(payments).length === payments.length;
  const lost = isFew ? ok(payments) : await someLost(pass, client, payments);
  if (!lost.ok) return lost;
  const some = atMost(lost.value);
  const seen = await lookAtUnproved(deps, pass, client, some);
  return seen.ok ? ok({ seen: seen.value, isWhole: some.length === lost.value.length }) : seen;
}

/** The first payments, as many as one pass rechecks. All rows of one transfer (one for each merchant at its address) take one request. */
function atMost(payments: readonly OpenPayment[]): readonly OpenPayment[] {
  const transfers = new Set<string>();
  const end = payments.findIndex((payment) => transfers.add(transferKey(payment)).size > UNPROVED_A_PASS);
  return payments.slice(0, Math.min(end < 0 ? payments.length : end, UNPROVED_ROWS_A_PASS));
}

/** Payments whose block is no longer on the chain. Stops as soon as there is one more than a pass can recheck. */
async function someLost(
  pass: Pass,
  client: ChainClient,
  payments: readonly OpenPayment[],
): Promise<Step<readonly OpenPayment[]>> {
  const hashes = new Map<number, string | undefined>();
  const lost: OpenPayment[] = [];
  for (const payment of payments) {
    const { blockHeight: height, blockHash } = payment;
    if (lost.length > atMost(lost).length) break;
    if (height !== null && !hashes.has(height)) {
      const block = height === pass.tip.height ? ok(pass.tip) : asked(await client.block(height));
      if (!block.ok) return block;
      hashes.set(height, block.value?.hash);
    }
    if (height === null || hashes.get(height) !== blockHash) lost.push(payment);
  }
  return ok(lost);
}

/**
 * Rechecks payments that the scan did not find again. Each needs an observation before the cursor can pass its block. If the second source cannot be
 * asked, the first one's answer takes the payment out of its block, but the payment is not dropped yet.
 */
async function lookAtUnproved(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  payments: readonly OpenPayment[],
): Promise<Step<readonly SeenPayment[]>> {
  const all = { untilMs: Number.POSITIVE_INFINITY, mostRefused: Number.POSITIVE_INFINITY };
  const looked = await lookAtEach(deps, pass, client, {
    payments,
    ...all,
    look: (each) => lookAtOrphan(deps, pass, client, each),
  });
  if (!looked.ok) return looked;
  if (looked.value.outage !== undefined) return err({ kind: "outage", outage: looked.value.outage });
  const seen = [...looked.value.seen];
  for (const payment of looked.value.refused) {
    const { blockHeight: height } = payment;
    const own = height === null ? ok(null) : asked(await client.block(height));
    if (!own.ok) return own;
    // The block's hash proves the payment, whatever the source answers about the transaction.
    if (own.value !== null && own.value.hash === payment.blockHash) continue;
    const elsewhere = await goodObservation(deps, pass, client, payment);
    seen.push({ payment, observation: elsewhere ?? { kind: "unknown" }, mayConfirm: payment.needsSecond === 0 });
  }
  return ok(seen);
}

async function lookAtOrphan(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  payment: OpenPayment,
): Promise<Step<readonly SeenPayment[]>> {
  const observation = await observationBy(pass, client, payment);
  if (!observation.ok) return observation;
  // Only one source has reported this: if two must agree, the payment is confirmed in this block once it is due.
  const mayConfirm = payment.needsSecond === 0;
  if (!isGone(observation.value)) return ok([{ payment, observation: observation.value, mayConfirm }]);
  const second = await secondObservation(deps, pass, client, payment);
  return ok([{ payment, observation: agreed(observation.value, second) ?? { kind: "unknown" }, mayConfirm }]);
}

/**
 * Rechecks payments whose state may have changed. True if more are due than one pass rechecks and the source can be asked again at once. Observations
 * are stored even if the source fails before the last payment.
 */
export async function lookAtDue(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  known: { readonly provenHeight: number; readonly unconfirmed: ReadonlySet<string> },
): Promise<Step<boolean>> {
  const { network, tip, finalizedHeight, progress } = pass;
  const finalHeight = finalizedHeight ?? tip.height + 1 - network.reorgWindowBlocks;
  const source = deps.pool.nameOf(client);
  const most = progress.atMost[source];
  const limit = Math.min(DUE_A_PASS, most ?? DUE_A_PASS);
  const heights = { network: network.name, provenHeight: known.provenHeight, tipHeight: tip.height, finalHeight };
  const rows = await readDue(deps, progress, { heights, isByDepth: finalizedHeight === null, limit });
  if (!rows.ok) return rows;
  const { credited, loose } = rows.value;
  const untilMs = deps.nowMs() + LONGEST_MS;
  const open = leaveOutDamaged(deps, network, [...credited.rows, ...loose.rows]);
  const proved = await proveLoose(deps, pass, client, { payments: open, heights, untilMs });
  if (!proved.ok) return proved;
  const due = open.filter(
    (payment) => !known.unconfirmed.has(transferKey(payment)) && !proved.value.has(effectKey(payment)),
  );
  const looked = await lookAtEach(deps, pass, client, {
    payments: due,
    untilMs,
    mostRefused: MOST_REFUSED,
    look: (payment) => lookAtOne(deps, pass, client, payment),
  });
  if (!looked.ok) return looked;
  const { left, outage } = looked.value;
  const seen = [...looked.value.seen];
  // Payments left when the time is up are rechecked at their next turn.
  const refused = outage === undefined ? looked.value.refused : [];
  for (const payment of refused)
    if (deps.nowMs() <= untilMs) seen.push(...(await lookElsewhere(deps, pass, client, payment)));
  const saved = await applied(deps, pass, { transfers: [], seen });
  if (!saved.ok) return saved;
  const { isWhole } = saved.value;
  // Payments whose observations were not stored stay due.
  if (isWhole) progress.lookedAt = placeAfter(credited, left);
  if (isWhole) progress.looseLookedAt = placeAfter(loose, left);
  const hasMore = !isWhole || left.size > 0 || credited.isCut || loose.isCut;
  progress.noteAnswered(source, looked.value.seen.length);
  if (outage !== undefined) return err({ kind: "outage", outage });
  // A source that answers only a few requests is not asked again right away.
  return ok(hasMore && most === undefined);
}

async function lookAtOne(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  payment: OpenPayment,
): Promise<Step<readonly SeenPayment[]>> {
  const { blockHeight: height, blockHash: hash, blockTimeMs: timeMs } = payment;
  if (height === null || hash === null || timeMs === null) {
    const observation = await observationBy(pass, client, payment);
    if (!observation.ok) return observation;
    if (!isGone(observation.value))
      return ok([{ payment, observation: observation.value, mayConfirm: payment.needsSecond === 0 }]);
    const gone = agreed(observation.value, await secondObservation(deps, pass, client, payment));
    return ok(gone === undefined ? [] : [{ payment, observation: gone }]);
  }
  if (payment.status !== "DETECTED" && !isToProve(pass, payment))
    return ok([{ payment, observation: { kind: "mined", block: { height, hash, timeMs } } }]);
  // The payment is about to be confirmed, or to become final for a user to decide about, so it is looked up now. A source that does not find it is
  // asked again later.
  const found = await lookUp(pass, client, payment);
  if (!found.ok) return found;
  const observation = observationIn(pass, found.value, payment);
  if (observation.kind !== "mined") {
    const own = asked(await client.block(height));
    if (!own.ok) return own;
    if (own.value === null) return ok(await lookElsewhere(deps, pass, client, payment));
    if (own.value.hash === hash)
      return lookInBlock(deps, pass, client, { payment, block: own.value, found: found.value, observation });
    // The chain has another block at the payment's height.
    return lookAtUnproved(deps, pass, client, [payment]);
  }
  const onChain = observation.block.hash === hash ? ok(observation) : await onOwnChain(client, observation);
  if (!onChain.ok) return onChain;
  const mayConfirm = payment.needsSecond === 0 || (await isSeconded(deps, client, payment, observation.block.hash));
  return ok([{ payment, observation, mayConfirm }]);
}

async function observationBy(pass: Pass, client: ChainClient, payment: OpenPayment): Promise<Step<ChainObservation>> {
  const found = await lookUp(pass, client, payment);
  return found.ok ? onOwnChain(client, observationIn(pass, found.value, payment)) : found;
}

/**
 * One URL may serve many nodes, and the node that answers may be on a losing branch: a block counts only if the source also returns it for its
 * height.
 */
async function onOwnChain(client: ChainClient, observation: ChainObservation): Promise<Step<ChainObservation>> {
  if (observation.kind !== "mined") return ok(observation);
  const own = asked(await client.block(observation.block.height));
  if (!own.ok) return own;
  return own.value?.hash === observation.block.hash ? ok(observation) : behind("the answers are about two branches");
}

async function lookUp({ progress }: Pass, client: ChainClient, payment: OpenPayment): Promise<Step<Lookup>> {
  const found = asked(await client.lookup(requestOf(payment)));
  if (found.ok) progress.goodLookup = { txHash: payment.txHash, toAddress: payment.toAddress };
  return found;
}

interface Looked {
  readonly seen: readonly SeenPayment[];
  readonly refused: readonly OpenPayment[];
  /** The positions of the payments still to be rechecked. */
  readonly left: ReadonlySet<number>;
  /** Set if the source failed before the end. */
  readonly outage: Outage | undefined;
}

interface Looking extends Pick<Asking<OpenPayment, unknown>, "untilMs" | "mostRefused"> {
  readonly payments: readonly OpenPayment[];
  look(payment: OpenPayment): Promise<Step<readonly SeenPayment[]>>;
}

/**
 * Rechecks each payment separately. A payment whose transaction the source refuses gets no observation; it is rechecked later and does not
 * block the others. The source has failed if it no longer answers for a transaction that it answered for before, or answers from two branches.
 */
async function lookAtEach(
  deps: WatchDependencies,
  { progress }: Pass,
  client: ChainClient,
  { payments, look, ...bounds }: Looking,
): Promise<Step<Looked>> {
  const known = progress.goodLookup;
  const asked = new Map<string, readonly SeenPayment[]>();
  let stop: Stop | undefined;
  const { answers, refused, outage } = await askEach(payments, {
    ...bounds,
    ask: async (payment) => {
      if (stop !== undefined) return ok([]);
      // A transfer without an invoice has a row for each merchant at its address.
      const key =
        payment.invoiceId === null ? `${effectKey(payment)} ${payment.status} ${payment.blockHash}` : undefined;
      const same = key === undefined ? undefined : asked.get(key);
      if (same !== undefined) return ok(same.map((each) => ({ ...each, payment })));
      const seen = await look(payment);
      if (seen.ok && key !== undefined) asked.set(key, seen.value);
      if (seen.ok) return seen;
      if (seen.error.kind === "outage" && seen.error.outage.kind !== "BEHIND") return err(seen.error.outage);
      stop = seen.error;
      return ok([]);
    },
    control: async () => {
      const { txHash, toAddress } = progress.goodLookup ?? known ?? {};
      if (txHash === undefined || toAddress === undefined) return ok(true);
      return client.lookup({ txHash, spends: [], recipients: new Set([toAddress]) });
    },
    nowMs: deps.nowMs,
  });
  if (stop !== undefined) return err(stop);
  const left = payments.filter((payment) => !answers.has(payment) && !refused.has(payment));
  return ok({
    seen: [...answers.values()].flat(),
    refused: [...refused.keys()],
    left: new Set(left.map(({ position }) => position)),
    outage,
  });
}
