// Applies what one read of the chain found (transfers found, payments rechecked) to invoices and payments. Safe to run twice, late or in
// parallel: a transfer has an identity, and every change goes through the optimistic lock of its invoice. A bug with one does not stop the others:
// its new transfers are kept UNMATCHED for a user, and the rows of its known payments are updated from the chain. A storage fault fails the
// whole set of findings, because a cursor must not pass what was not stored.
import { assetOn, type Network } from "../../chains/networks.ts";
import { type Transfer, transferKey } from "../../chains/transfer.ts";
import { readFile } from "../../commerce/invoices/change-invoice.ts";
import { MAX_VALUE_MICROS } from "../../commerce/invoices/value.ts";
import {
  type ChainHeights,
  type ChainObservation,
  observationOf,
  paymentAfter,
} from "../../commerce/payments/chain-observation.ts";
import type { Refusal } from "../../commerce/payments/match.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import { needsSecondSource } from "../../commerce/payments/quorum.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { minBig } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { d1Messages } from "../../platform/db/conflict.ts";
import { faultKind } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { microsFor, quoteRate, type RateTable } from "../../rates/quote.ts";
import { readGrowth, type WeighedTransfers } from "../growth/read-growth.ts";
import { type Credit, type CreditDependencies, creditInvoice, type Seen } from "./credit-invoice.ts";
import { splitByRoom } from "./payment-room.ts";
import type { Place } from "./placement.ts";
import { type Placed, type ReadDependencies, readPlaces } from "./read-places.ts";
import { isKept, recordObservation, recordUnmatched, type Unmatched } from "./record-unmatched.ts";

/** A stored payment and its current state on chain. */
export interface SeenPayment {
  readonly payment: Payment;
  readonly observation: ChainObservation;
  /** False if a second provider must agree first and has not. */
  readonly mayConfirm?: boolean;
}

export interface Findings {
  readonly network: Network;
  readonly heights: ChainHeights;
  /** Transfers to addresses that may be ours, mined or unconfirmed. */
  readonly transfers: readonly Transfer[];
  /** Known payments, as read from storage. */
  readonly seen: readonly SeenPayment[];
  /** Whether a second source is configured, so that large payments wait for its agreement. */
  readonly hasSecond?: boolean;
  /** The merchant that named these transfers: the daily limit does not apply to its rows. */
  readonly askedBy?: MerchantId;
}

export interface Applied {
  /** Changed invoices. */
  readonly invoices: readonly InvoiceId[];
  /** Number of rows written without an invoice. */
  readonly unmatched: number;
}

export interface ApplyDependencies extends CreditDependencies, ReadDependencies {}

/** The part of the findings that concerns one invoice. */
interface Share {
  readonly merchantId: MerchantId;
  readonly credits: Credit[];
  readonly seen: Seen[];
}

/** Transfers read and written at once: a large set that fails halfway keeps the chunks that committed. */
const AT_ONCE = 100;

/** Either stores everything, or fails; then the same findings may be applied again, and what was stored the first time changes nothing. */
export async function applyTransfers(deps: ApplyDependencies, findings: Findings): Promise<Result<Applied, Failure>> {
  const weighed = await readGrowth(deps, findings.network, unique(findings.transfers));
  if (!weighed.ok) return weighed;
  const { transfers, remainders, replaced, orphans } = weighed.value;
  const found = new Set([...transfers, ...remainders].map(transferKey));
  const dropped = new Set([...orphans, ...[...replaced.values()].flat()].map(({ id }) => id));
  const seen = findings.seen.filter(({ payment }) => !found.has(transferKey(payment)) && !dropped.has(payment.id));
  const chunks = [
    ...[...chunksOf(orphans.map(asReplaced), AT_ONCE)].map((chunk) => ({ transfers: [], seen: chunk })),
    ...[...chunksOf(transfers, AT_ONCE)].map((chunk) => ({ transfers: chunk, seen: ownedOf(chunk, replaced) })),
    ...[...chunksOf(remainders, AT_ONCE)].map((chunk) => ({ transfers: chunk, seen: [] })),
    ...[...chunksOf(seen, AT_ONCE)].map((chunk) => ({ transfers: [], seen: chunk })),
  ];
  const invoices = new Set<InvoiceId>();
  let unmatched = 0;
  for (const chunk of chunks) {
    const applied = await applyChunk(deps, { ...findings, ...chunk, replaced }, findings.seen);
    if (!applied.ok) return applied;
    for (const id of applied.value.invoices) invoices.add(id);
    unmatched += applied.value.unmatched;
  }
  return ok({ invoices: [...invoices], unmatched });
}

/** Growth that no longer counts, because its transaction is now known. */
const asReplaced = (payment: Payment): SeenPayment => ({ payment, observation: { kind: "replaced" } });

/**
 * Growth credited to invoices that these transfers explain. It is removed first, or in the same batch if transfer and growth belong to the same
 * invoice.
 */
function ownedOf(transfers: readonly Transfer[], replaced: WeighedTransfers["replaced"]): readonly SeenPayment[] {
  const explained = transfers.flatMap((transfer) => replaced.get(transferKey(transfer)) ?? []);
  return explained.filter(({ invoiceId }) => invoiceId !== null).map(asReplaced);
}

async function applyChunk(
  deps: ApplyDependencies,
  findings: Findings & Pick<WeighedTransfers, "replaced">,
  asked: readonly SeenPayment[],
): Promise<Result<Applied, Failure>> {
  const { network, askedBy } = findings;
  const places = await readPlaces(deps, network, findings.transfers, askedBy);
  if (!places.ok) return places;
  const { known, placed, table } = places.value;
  const shares = new Map<InvoiceId, Share>();
  for (const { payment } of findings.seen)
    if (payment.invoiceId !== null) shareOf(shares, payment.invoiceId, payment.merchantId);
  const unmatchedPayments: Placed[] = [];
  for (const each of placed) {
    const { transfer, place } = each;
    if (place.kind !== "invoice") {
      unmatchedPayments.push(each);
      continue;
    }
    const usdMicros = valueInUsd(deps, network, transfer, table);
    const mayConfirm = !(findings.hasSecond === true && needsSecond(place));
    const { id, merchantId } = place.terms.invoice;
    const replaces = findings.replaced.get(transferKey(transfer)) ?? [];
    shareOf(shares, id, merchantId).credits.push({ transfer, place, usdMicros, mayConfirm, replaces });
  }
  const observations = observationsOf(findings, known, asked).filter((each) => changesPayment(deps, findings, each));
  for (const seen of observations) {
    const { invoiceId, merchantId } = seen.payment;
    if (invoiceId !== null) shareOf(shares, invoiceId, merchantId).seen.push(seen);
  }
  const credited = await creditAll(deps, findings, shares);
  const unmatched = await recordAll(deps, findings, {
    unmatchedPayments: [...unmatchedPayments, ...credited.unmatchedPayments],
    observations,
    table,
  });
  const kept = await keepRows(deps, findings, credited.orphans);
  if (!kept.ok) return kept;
  if (credited.failure !== undefined) return err(credited.failure);
  return unmatched.ok ? ok({ invoices: credited.invoices, unmatched: unmatched.value }) : unmatched;
}

/** Whether the observation changes the payment. Most payments that an overlap shows again are unchanged and cost no further read. */
function changesPayment(
  deps: ApplyDependencies,
  { network, heights }: Findings,
  { payment, observation, mayConfirm = true }: Seen,
): boolean {
  return paymentAfter(payment, observation, { network, heights, nowMs: deps.nowMs, mayConfirm }) !== payment;
}

/** A transfer that is both mined and in a mempool list counts as mined. */
function unique(transfers: readonly Transfer[]): readonly Transfer[] {
  const byKey = new Map<string, Transfer>();
  for (const transfer of transfers) {
    const other = byKey.get(transferKey(transfer));
    if (other === undefined || other.block === null) byKey.set(transferKey(transfer), transfer);
  }
  return [...byKey.values()];
}

/** Known rows whose transfer was found, and rechecked rows; for a row that is both, the found transfer decides. */
function observationsOf(
  findings: Findings,
  known: ReadonlyMap<string, readonly Payment[]>,
  seen: readonly SeenPayment[],
): readonly Seen[] {
  const asked = new Map(seen.map((each) => [each.payment.id, each.mayConfirm]));
  const found = findings.transfers.flatMap((transfer) =>
    (known.get(transferKey(transfer)) ?? []).map((payment) => {
      const mayConfirm = asked.get(payment.id) ?? (payment.status === "CONFIRMED" || findings.hasSecond !== true);
      return { payment, observation: observationOf(transfer), mayConfirm };
    }),
  );
  return [...found, ...findings.seen];
}

function shareOf(shares: Map<InvoiceId, Share>, id: InvoiceId, merchantId: MerchantId): Share {
  const share = shares.get(id) ?? { merchantId, credits: [], seen: [] };
  shares.set(id, share);
  return share;
}

/**
 * Credits invoice by invoice. An exception that is not a storage fault is a bug: the invoice's new transfers are kept unmatched for a user, so
 * that they do not block all others for ever, and its known payments are returned as `orphans`.
 */
async function creditAll(
  deps: ApplyDependencies,
  { network, heights, askedBy }: Findings,
  shares: ReadonlyMap<InvoiceId, Share>,
): Promise<{
  readonly invoices: readonly InvoiceId[];
  readonly unmatchedPayments: readonly Placed[];
  readonly orphans: readonly Seen[];
  readonly failure: Failure | undefined;
}> {
  const invoices: InvoiceId[] = [];
  const unmatchedPayments: Placed[] = [];
  const orphans: Seen[] = [];
  let failure: Failure | undefined;
  for (const [id, { merchantId, credits, seen }] of shares) {
    try {
      const file = await readFile(deps, merchantId, id);
      if (!file.ok) {
        failure = file.error;
        continue;
      }
      const { taken, beyond } = splitByRoom(file.value.payments, network.name, credits);
      // Marks the invoice for review only if a user gets a new row to decide about, not each time the watcher sees a transfer that is not kept.
      const isOver = await isKept(deps, beyond, { merchantId, network, askedBy });
      if (!isOver.ok) {
        failure = isOver.error;
        continue;
      }
      const done = await creditInvoice(deps, file.value, {
        network,
        heights,
        credits: taken,
        seen,
        isOver: isOver.value,
      });
      if (!done.ok) failure = done.error;
      else if (done.value) invoices.push(id);
      if (done.ok)
        unmatchedPayments.push(...unmatchedOf(beyond, { invoiceId: id, merchantId, reason: "TOO_MANY_PAYMENTS" }));
    } catch (error) {
      if (isStorageFault(error)) {
        failure = { code: "STORAGE_UNAVAILABLE" };
        continue;
      }
      logAlert("crediting an invoice failed; its new transfers are kept unmatched", {
        invoiceId: id,
        error: safeMessage(error),
      });
      unmatchedPayments.push(...unmatchedOf(credits, { invoiceId: id, merchantId, reason: "AMBIGUOUS" }));
      orphans.push(...seen);
    }
  }
  return { invoices, unmatchedPayments, orphans, failure };
}

/** Transfers that their invoice does not accept: its merchant decides about them. */
function unmatchedOf(credits: readonly Credit[], refusal: Refusal): readonly Placed[] {
  return credits.map(({ transfer }) => ({ transfer, place: { kind: "unmatched", refused: [refusal] }, holders: [] }));
}

async function recordAll(
  deps: ApplyDependencies,
  { network, heights, replaced, askedBy }: Findings & Pick<WeighedTransfers, "replaced">,
  of: {
    readonly unmatchedPayments: readonly Placed[];
    readonly observations: readonly Seen[];
    readonly table: RateTable | undefined;
  },
): Promise<Result<number, Failure>> {
  const unmatchedPayments = of.unmatchedPayments.flatMap(
    ({ transfer, place, holders, onlyFor }): readonly Unmatched[] =>
      place.kind === "invoice"
        ? []
        : [
            {
              ...{ transfer, place, holders, onlyFor, usdMicros: valueInUsd(deps, network, transfer, of.table) },
              replaces: replaced.get(transferKey(transfer)) ?? [],
            },
          ],
  );
  const recorded = await recordUnmatched(deps, unmatchedPayments, { network, heights, askedBy });
  if (!recorded.ok) return recorded;
  let written = recorded.value;
  for (const { payment, observation } of of.observations.filter((seen) => seen.payment.invoiceId === null)) {
    const done = await recordObservation(deps, payment, observation, { network, heights });
    if (!done.ok) return done;
    written += done.value ? 1 : 0;
  }
  return ok(written);
}

/**
 * The fallback for known payments: updates only their rows; their invoices follow at their next change. Otherwise a cursor would pass a lost
 * block, and its payments would count for ever.
 */
async function keepRows(
  deps: ApplyDependencies,
  { network, heights }: Findings,
  orphans: readonly Seen[],
): Promise<Result<true, Failure>> {
  for (const { payment, observation, mayConfirm = true } of orphans) {
    const done = await recordObservation(deps, payment, observation, { network, heights, mayConfirm, isSilent: true });
    if (!done.ok) return done;
  }
  return ok(true);
}

/** A constraint violation is not a storage fault: the database would refuse the row every time. */
function isStorageFault(error: unknown): boolean {
  if (faultKind(error) !== "other") return true;
  const byDatabase = d1Messages(error).filter((message) => message.startsWith("D1_"));
  return byDatabase.length > 0 && !byDatabase.some((message) => /SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/.test(message));
}

function needsSecond({ terms, fiatMicros }: Extract<Place, { kind: "invoice" }>): boolean {
  const { quorumAboveMicros, invoice } = terms;
  return needsSecondSource({ quorumAboveMicros, askedMicros: invoice.amountMicros, paidMicros: fiatMicros });
}

function valueInUsd(
  { nowMs }: ApplyDependencies,
  network: Network,
  { cryptocurrency, amountUnits }: Transfer,
  table: RateTable | undefined,
): bigint | null {
  const asset = assetOn(network, cryptocurrency);
  if (asset === undefined || table === undefined) return null;
  const quote = quoteRate({ table, assetCode: asset.rateCode, currency: "USD", nowMs });
  if (!quote.ok) return null;
  const micros = microsFor({ units: amountUnits, rate: quote.value.rate, decimals: asset.decimals });
  return minBig(micros, MAX_VALUE_MICROS);
}
