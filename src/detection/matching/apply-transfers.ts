// Applies what one read of the chain found (transfers found, payments rechecked) to invoices and payments. Safe to run twice, late or in
// parallel: a transfer has an identity, and every change goes through the optimistic lock of its invoice. A bug with one does not stop the others:
// its new transfers are kept UNMATCHED for a user, and the rows of its known payments are updated from the chain. A storage fault fails the
// whole set of findings, because a cursor must not pass what was not stored.
import { assetOn, type Network } from "../../chains/networks.ts";
import { effectKey, type Transfer, transferKey } from "../../chains/transfer.ts";
import { MAX_VALUE_MICROS } from "../../commerce/invoices/value.ts";
import {
  type ChainHeights,
  type ChainObservation,
  observationOf,
  paymentAfter,
} from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import { needsSecondSource } from "../../commerce/payments/quorum.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { minBig } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { microsFor, quoteRate, type RateTable } from "../../rates/quote.ts";
import { readGrowth, type WeighedTransfers } from "../growth/read-growth.ts";
import type { CreditDependencies, Seen } from "./credit-invoice.ts";
import { creditAll, keepRows, shareOf, sharesOf } from "./credit-shares.ts";
import type { Place } from "./placement.ts";
import { type KnownPayment, type Placed, type Places, type ReadDependencies, readPlaces } from "./read-places.ts";
import { recordObservation, recordUnmatched, type Unmatched } from "./record-unmatched.ts";
import { supersededBy, supersededByHearsay } from "./superseded.ts";

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
  /** The transfers are told by another source than the one that the chain is read from: they add to what that one told, and change none of it. */
  readonly isHearsay?: boolean;
}

export interface Applied {
  /** Changed invoices. */
  readonly invoices: readonly InvoiceId[];
  /** Number of rows written without an invoice. */
  readonly unmatched: number;
}

export interface ApplyDependencies extends CreditDependencies, ReadDependencies {}

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

const asSuperseded = (payment: Payment): SeenPayment => ({ payment, observation: { kind: "superseded" } });

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
  const { known, table } = places.value;
  const rows = [...places.value.superseded.values()].flat();
  const { placed, staying, leaving } =
    findings.isHearsay === true ? supersededByHearsay(places.value.placed) : supersededBy(places.value.placed, rows);
  const left = await supersede(deps, findings, leaving);
  if (!left.ok) return left;
  const shares = sharesOf(staying.map(asSuperseded));
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
    const { supersedes } = each;
    shareOf(shares, id, merchantId).credits.push({ transfer, place, usdMicros, mayConfirm, replaces, supersedes });
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
  if (!unmatched.ok) return unmatched;
  return ok({ invoices: [...left.value, ...credited.invoices], unmatched: unmatched.value });
}

/** Takes rows off the chain; returns the invoices that changed. */
async function supersede(
  deps: ApplyDependencies,
  findings: Findings,
  payments: readonly Payment[],
): Promise<Result<readonly InvoiceId[], Failure>> {
  const leaving = payments.map(asSuperseded);
  const { invoices, orphans, failure } = await creditAll(deps, findings, sharesOf(leaving));
  if (failure !== undefined) return err(failure);
  const kept = await keepRows(deps, findings, orphans);
  if (!kept.ok) return kept;
  for (const { payment, observation } of leaving.filter((each) => each.payment.invoiceId === null)) {
    const done = await recordObservation(deps, payment, observation, findings);
    if (!done.ok) return done;
  }
  return ok(invoices);
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

/** Confirmed in another block at once. Where two sources must agree, they must agree about that block, too. */
const isSmallAndConfirmed = ({ status, needsSecond }: KnownPayment) => status === "CONFIRMED" && needsSecond === 0;

/** Known rows whose transfer was found, and rechecked rows; for a row that is both, the found transfer decides. */
function observationsOf(findings: Findings, known: Places["known"], seen: readonly SeenPayment[]): readonly Seen[] {
  const asked = new Map(seen.map((each) => [each.payment.id, each.mayConfirm]));
  const found = findings.transfers.flatMap((transfer) =>
    (known.get(effectKey(transfer)) ?? []).map((payment) => {
      const mayConfirm = asked.get(payment.id) ?? (findings.hasSecond !== true || isSmallAndConfirmed(payment));
      return { payment, observation: observationOf(transfer), mayConfirm };
    }),
  );
  return [...found, ...findings.seen];
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
    ({ transfer, place, holders, onlyFor, supersedes }): readonly Unmatched[] =>
      place.kind === "invoice"
        ? []
        : [
            {
              ...{ transfer, place, holders, onlyFor, supersedes },
              usdMicros: valueInUsd(deps, network, transfer, of.table),
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
