// Looks again at payments that are known already. What the hash link of the cursor proves needs no request; an empty answer is no proof, so a
// second source is asked before a payment counts as gone, and before a large one counts as confirmed (chains.md 1, provider rules e and f).
import type { ChainClient, Lookup, LookupRequest } from "../chains/chain-client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Outage } from "../lib/fetch-text.ts";
import { err, ok } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import type { SeenPayment } from "../payments/apply-transfers.ts";
import type { Payment, PaymentEvidence } from "../payments/payment.ts";
import type { Sight } from "../payments/sight.ts";
import { type Transfer, transferKey } from "../payments/transfer.ts";
import { type Asking, askEach, MOST_REFUSED } from "./ask-each.ts";
import { applied, asked, type Pass, type Step, type Stop, stored, type WatchEffects } from "./commit-cursor.ts";
import { behind } from "./find-position.ts";
import { selectDuePayments, selectUnprovedPayments } from "./store.ts";

/** How many payments a pass looks at; the next goes on where it ended. */
const DUE_A_PASS = 50;
const PAGE = 500;
/** After so long no more payments are looked at. */
const LONGEST_MS = 20 * SECOND_MS;

/** A payment, its place in the table, what its transaction spends (JSON), and whether two sources must agree before it is confirmed. */
type OpenPayment = Payment & { readonly position: number; readonly spends: string; readonly needsSecond: number };

/** All open payments said to be mined above `above`, which no hash link has proved yet. */
export async function readUnproved(fx: WatchEffects, pass: Pass, above: number): Promise<Step<readonly OpenPayment[]>> {
  const unproved: OpenPayment[] = [];
  for (let after = 0; ; ) {
    const page = { network: pass.network.name, after, limit: PAGE, above, upTo: pass.tip.height };
    const rows = stored(await readWithRetry(fx.sleep, async () => selectUnprovedPayments(fx.db, page)));
    if (!rows.ok) return rows;
    unproved.push(...rows.value);
    const last = rows.value.at(-1);
    if (last === undefined || rows.value.length < PAGE) return ok(unproved);
    after = last.position;
  }
}

/**
 * What became of payments whose block the scan did not find again. Each has a sight, or the cursor could not pass its block: where the
 * second source cannot be asked, the first one's word takes it out of its block, and no further.
 */
export async function lookAtUnproved(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  payments: readonly OpenPayment[],
): Promise<Step<readonly SeenPayment[]>> {
  const all = { untilMs: Number.POSITIVE_INFINITY, mostRefused: Number.POSITIVE_INFINITY };
  const looked = await lookAtEach(fx, pass, client, {
    payments,
    ...all,
    look: (each) => lookAtOrphan(fx, pass, client, each),
  });
  if (!looked.ok) return looked;
  if (looked.value.outage !== undefined) return err({ kind: "outage", outage: looked.value.outage });
  const seen = [...looked.value.seen];
  for (const payment of looked.value.refused) {
    const { blockHeight: height } = payment;
    const own = height === null ? ok(null) : asked(await client.block(height));
    if (!own.ok) return own;
    // In its block it stands by the block's hash, whatever is said of the transaction.
    if (own.value === null || own.value.hash !== payment.blockHash) seen.push({ payment, sight: { kind: "unknown" } });
  }
  return ok(seen);
}

async function lookAtOrphan(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  payment: OpenPayment,
): Promise<Step<readonly SeenPayment[]>> {
  const sight = await sightBy(pass, client, payment);
  if (!sight.ok || !isGone(sight.value)) return sight.ok ? ok([{ payment, sight: sight.value }]) : sight;
  const second = await secondSight(fx, pass, client, payment);
  return ok([{ payment, sight: agreed(sight.value, second) ?? { kind: "unknown" } }]);
}

/**
 * Looks at payments of which something could have become by now; true when there are more than one pass looks at, and the source can be
 * asked for them at once. What was seen stands, though the source fails before the last.
 */
export async function lookAtDue(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  known: { readonly provenHeight: number; readonly unconfirmed: ReadonlySet<string> },
): Promise<Step<boolean>> {
  const { network, tip, finalizedHeight, progress } = pass;
  const finalHeight = finalizedHeight ?? tip.height + 1 - network.reorgWindowBlocks;
  const source = fx.pool.nameOf(client);
  const most = progress.atMost[source];
  const limit = Math.min(DUE_A_PASS, most ?? DUE_A_PASS);
  const page = {
    network: network.name,
    after: progress.lookedAt,
    limit,
    provenHeight: known.provenHeight,
    tipHeight: tip.height,
    finalHeight,
  };
  const rows = stored(await readWithRetry(fx.sleep, async () => selectDuePayments(fx.db, page)));
  if (!rows.ok) return rows;
  const due = rows.value.filter((payment) => !known.unconfirmed.has(transferKey(payment)));
  const looked = await lookAtEach(fx, pass, client, {
    payments: due,
    untilMs: fx.nowMs() + LONGEST_MS,
    mostRefused: MOST_REFUSED,
    look: (payment) => lookAtOne(fx, pass, client, payment),
  });
  if (!looked.ok) return looked;
  const standing = await applied(fx, pass, { transfers: [], seen: looked.value.seen });
  if (!standing.ok) return standing;
  const { first, outage } = looked.value;
  const hasMore = first !== undefined || rows.value.length === limit;
  const last = first === undefined ? (rows.value.at(-1)?.position ?? 0) : first.position - 1;
  progress.lookedAt = hasMore ? last : 0;
  progress.noteAnswered(source, looked.value.seen.length);
  if (outage !== undefined) return err({ kind: "outage", outage });
  // A source that answers little is not asked in a hurry.
  return ok(hasMore && most === undefined);
}

async function lookAtOne(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  payment: OpenPayment,
): Promise<Step<readonly SeenPayment[]>> {
  const { blockHeight: height, blockHash: hash, blockTimeMs: timeMs } = payment;
  if (height === null || hash === null || timeMs === null) {
    const sight = await sightBy(pass, client, payment);
    if (!sight.ok) return sight;
    if (!isGone(sight.value)) return ok([{ payment, sight: sight.value }]);
    const gone = agreed(sight.value, await secondSight(fx, pass, client, payment));
    return ok(gone === undefined ? [] : [{ payment, sight: gone }]);
  }
  if (payment.status !== "DETECTED")
    return ok([{ payment, sight: { kind: "mined", block: { height, hash, timeMs } } }]);
  // About to be confirmed: the one moment at which it is looked up by itself. A source that does not find it now is asked again later.
  const found = await lookUp(pass, client, payment);
  if (!found.ok) return found;
  const sight = sightIn(pass, found.value, payment);
  if (sight.kind !== "mined") {
    const own = asked(await client.block(height));
    if (!own.ok) return own;
    if (own.value === null || own.value.hash === hash) return ok([]);
    // Another block stands at its height.
    return lookAtUnproved(fx, pass, client, [payment]);
  }
  const onChain = sight.block.hash === hash ? ok(sight) : await onOwnChain(client, sight);
  if (!onChain.ok) return onChain;
  const mayConfirm = payment.needsSecond === 0 || (await isSeconded(fx, client, payment, sight.block.hash));
  return ok([{ payment, sight, mayConfirm }]);
}

/** Whether another source agrees on transaction, block, recipient and amount; true where there is none to ask (decisions 4). */
async function isSeconded(
  fx: WatchEffects,
  client: ChainClient,
  payment: OpenPayment,
  blockHash: string,
): Promise<boolean> {
  if (!fx.pool.hasSecond()) return true;
  const other = await fx.pool.attemptWithout(client, fx.nowMs(), async (second) =>
    ok(await second.lookup(requestOf(payment))),
  );
  // What is wrong may be the transaction: it is not held against the source.
  if (!other.ok || !other.value.value.ok || other.value.value.value.kind !== "mined") return false;
  const { block, transfers } = other.value.value.value;
  return block.hash === blockHash && transfers.some((transfer) => isSameMoney(payment, transfer));
}

/** What a second source says of a payment that the first does not know: `none` where there is no second, `silent` where it cannot be asked. */
type SecondSight = Sight | "none" | "silent";

async function secondSight(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  payment: OpenPayment,
): Promise<SecondSight> {
  if (!fx.pool.hasSecond()) return "none";
  const other = await fx.pool.attemptWithout(client, fx.nowMs(), async (second) =>
    ok(await second.lookup(requestOf(payment))),
  );
  if (!other.ok || !other.value.value.ok) return "silent";
  const sight = sightIn(pass, other.value.value.value, payment);
  if (sight.kind !== "mined") return sight;
  // Two sources on two forks: it is known, and the scan of ours will find it where it is mined.
  const own = await client.block(sight.block.height);
  if (!own.ok) return "silent";
  return own.value?.hash === sight.block.hash ? sight : knownElsewhere(pass);
}

function knownElsewhere({ network }: Pass): Sight {
  return network.family === "bitcoin" ? { kind: "pending" } : { kind: "unknown" };
}

/** Undefined where the first source's word must wait for the second's. */
function agreed(first: Sight, second: SecondSight): Sight | undefined {
  if (second === "none") return first;
  if (second === "silent") return undefined;
  return second.kind === "unknown" && first.kind === "replaced" ? first : second;
}

function isGone({ kind }: Sight): boolean {
  return kind === "unknown" || kind === "replaced";
}

async function sightBy(pass: Pass, client: ChainClient, payment: OpenPayment): Promise<Step<Sight>> {
  const found = await lookUp(pass, client, payment);
  return found.ok ? onOwnChain(client, sightIn(pass, found.value, payment)) : found;
}

/** Behind one URL there may be many nodes, and the one that was asked on a branch that lost: a block counts that is found by its height too. */
async function onOwnChain(client: ChainClient, sight: Sight): Promise<Step<Sight>> {
  if (sight.kind !== "mined") return ok(sight);
  const own = asked(await client.block(sight.block.height));
  if (!own.ok) return own;
  return own.value?.hash === sight.block.hash ? ok(sight) : behind("of two branches at once");
}

async function lookUp({ progress }: Pass, client: ChainClient, payment: OpenPayment): Promise<Step<Lookup>> {
  const found = asked(await client.lookup(requestOf(payment)));
  if (found.ok) progress.goodLookup = { txHash: payment.txHash, toAddress: payment.toAddress };
  return found;
}

function requestOf(payment: Pick<OpenPayment, "txHash" | "toAddress" | "spends">): LookupRequest {
  const spends: PaymentEvidence["spends"] = JSON.parse(payment.spends);
  return { txHash: payment.txHash, spends, recipients: new Set([payment.toAddress]) };
}

/** 0 confirmations are shown where a mempool is (chains.md 2); elsewhere what is in no block is as good as unknown. */
function sightIn(pass: Pick<Pass, "network">, found: Lookup, payment: Payment): Sight {
  switch (found.kind) {
    case "mined":
      return stands(found, payment) ? { kind: "mined", block: found.block } : { kind: "unknown" };
    case "pending":
      return pass.network.family === "bitcoin" ? { kind: "pending" } : { kind: "unknown" };
    case "unknown":
    case "replaced":
      return { kind: found.kind };
  }
}

/** Growth also where its balances are forgotten, as long as its block is the very one: what a block did to a balance never changes. */
function stands({ block, transfers, isUntold }: Extract<Lookup, { kind: "mined" }>, payment: Payment): boolean {
  if (isUntold === true) return block.hash === payment.blockHash;
  return transfers.some((transfer) => isSameTransfer(payment, transfer));
}

/**
 * By its place as well: a contract may make other logs where it is mined again, and what it pays there is a transfer of its own, which the
 * scan finds. The same money by both places would be credited twice.
 */
function isSameTransfer(payment: Payment, transfer: Transfer): boolean {
  return transferKey(payment) === transferKey(transfer) && isSameMoney(payment, transfer);
}

function isSameMoney(
  payment: Payment,
  transfer: Pick<Payment, "cryptocurrency" | "toAddress" | "amountUnits">,
): boolean {
  return (
    payment.cryptocurrency === transfer.cryptocurrency &&
    payment.toAddress === transfer.toAddress &&
    payment.amountUnits === transfer.amountUnits
  );
}

interface Looked {
  readonly seen: readonly SeenPayment[];
  readonly refused: readonly OpenPayment[];
  /** The first that is still to be looked at. */
  readonly first: OpenPayment | undefined;
  /** The source failed on the way. */
  readonly outage: Outage | undefined;
}

interface Looking extends Pick<Asking<OpenPayment, unknown>, "untilMs" | "mostRefused"> {
  readonly payments: readonly OpenPayment[];
  look(payment: OpenPayment): Promise<Step<readonly SeenPayment[]>>;
}

/**
 * Looks at each payment by itself. One whose transaction the source refuses has no sight; it is looked at again, and keeps no other waiting. The
 * source has failed where it does not even answer for what it answered for before, or tells of two branches at once.
 */
async function lookAtEach(
  fx: WatchEffects,
  { progress }: Pass,
  client: ChainClient,
  { payments, look, ...bounds }: Looking,
): Promise<Step<Looked>> {
  const known = progress.goodLookup;
  let stop: Stop | undefined;
  const { answers, refused, outage } = await askEach(payments, {
    ...bounds,
    ask: async (payment) => {
      if (stop !== undefined) return ok([]);
      const seen = await look(payment);
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
    nowMs: fx.nowMs,
  });
  if (stop !== undefined) return err(stop);
  const first = payments.find((payment) => !answers.has(payment) && !refused.has(payment));
  return ok({ seen: [...answers.values()].flat(), refused: [...refused.keys()], first, outage });
}
