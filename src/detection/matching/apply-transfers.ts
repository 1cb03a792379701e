// Applies what one read of the chain found (transfers found, payments rechecked) to invoices and payments. Safe to run twice, late or in parallel: a
// transfer has an identity, and every change goes through the optimistic lock of its invoice. A bug in handling one invoice does not stop the others:
// its new transfers are kept UNMATCHED for a user, and the rows of its known payments are updated from the chain. A storage fault fails the whole set
// of findings, because a cursor must not pass what was not stored.
import { assetOn, type Network } from "../../chains/registry/networks.ts";
import { effectKey, type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import {
  type ChainHeights,
  type ChainObservation,
  observationOf,
  paymentAfter,
} from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import { MAX_VALUE_MICROS } from "../../commerce/settlement/value.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { minBig } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { takingTurns } from "../../lib/turns.ts";
import type { StatementBudget } from "../../platform/db/statement-budget.ts";
import type { Failure } from "../../platform/failures.ts";
import { microsFor, quoteRate, type RateTable } from "../../rates/quote.ts";
import { readGrowth, returningAs, type WeighedTransfers } from "../growth/read-growth.ts";
import type { Credit, CreditDependencies } from "./credit-invoice.ts";
import { creditShares, needsSecond, sharesOf, unique } from "./credit-shares.ts";
import { Progress, type Seen } from "./look-progress.ts";
import { type Found, type Fresh, type KnownPayment, type ReadDependencies, readFound } from "./read-found.ts";
import { type Placed, placeKeyOf, placeSurely, readPlaces } from "./read-places.ts";
import { recordObservations } from "./record-observations.ts";
import { recordUnmatched, type Unmatched } from "./record-unmatched.ts";
import { asSuperseded, isOverruled, supersededBy } from "./superseded.ts";
import { Quota } from "./unmatched/read-quota.ts";

/** A stored payment and its current state on chain. */
export interface SeenPayment {
  readonly payment: Payment;
  readonly observation: ChainObservation;
  /** False if a second provider must agree first and has not done so yet. */
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
  /**
   * The transfers come from a source other than the one that the chain is read from: they never overrule a row that has not left the chain
   * (superseded.ts).
   */
  readonly isHearsay?: boolean;
  /** Once the budget is spent, the remaining findings are left to the next pass. */
  readonly budget?: Pick<StatementBudget, "isSpent">;
}

export interface Applied {
  /** Changed invoices. */
  readonly invoices: readonly InvoiceId[];
  /**
   * Set if the budget was spent before everything was done. Everything below this height was done; the next pass finds the rest again. Above every
   * height if only unconfirmed transfers were left.
   */
  readonly leftFrom?: number;
}

export interface ApplyDependencies extends CreditDependencies, ReadDependencies {}

/**
 * How many transfers are placed in one step, how many parts they form, and how many transfers of one amount form a part. Fifty amounts take about
 * five statements.
 */
const AT_ONCE = 1_000;
const AMOUNTS_AT_ONCE = 100;
const EQUAL_AT_ONCE = 100;

/** What all parts of one `applyTransfers` call share. */
interface Look {
  readonly findings: Findings;
  readonly replaced: WeighedTransfers["replaced"];
  readonly isUnweighed: WeighedTransfers["isUnweighed"];
  readonly progress: Progress;
  readonly quota: Quota;
  readonly invoices: Set<InvoiceId>;
}

/**
 * Stores everything, or as much as its budget allows, or fails. The same findings may then be applied again: those already stored change nothing.
 * Transfers decided by an exact amount or by an invoice's own address come first, so that a flood of others does not delay them.
 */
export async function applyTransfers(deps: ApplyDependencies, findings: Findings): Promise<Result<Applied, Failure>> {
  const returning = findings.seen.flatMap(({ payment, observation }) => returningAs(payment, observation));
  const weighed = await readGrowth(deps, findings.network, unique(findings.transfers), returning);
  if (!weighed.ok) return weighed;
  const { transfers, first, remainders, replaced, orphans, refuted, isUnweighed } = weighed.value;
  const found = Map.groupBy([...transfers, ...first, ...remainders], transferKey);
  const isHearsay = findings.isHearsay === true;
  // A row's observation counts, unless a transfer shows what happened to the row. A transfer that may not overrule the row does not replace its
  // observation: if the row's block has left the chain, only the observation marks the row as off the chain.
  const isTold = (row: Payment) =>
    (found.get(transferKey(row)) ?? []).some(
      (each) => effectKey(each) === effectKey(row) || isOverruled(row, { block: each.block, isHearsay }),
    );
  const dropped = new Set([...orphans, ...[...replaced.values()].flat()].map(({ id }) => id));
  const seen = findings.seen
    .filter(({ payment }) => !isTold(payment) && !dropped.has(payment.id))
    .map((each) => (refuted.has(transferKey(each.payment)) ? { ...each, observation: GONE } : each));
  const look: Look = {
    findings,
    replaced,
    isUnweighed,
    progress: new Progress(findings.budget),
    quota: new Quota(),
    invoices: new Set(),
  };
  for (const part of [
    { transfers: [], seen: orphans.map(asReplaced) },
    { transfers: first, seen: [] },
    { transfers, seen },
    { transfers: remainders, seen: [] },
  ]) {
    const applied = await applyPart(deps, look, part);
    if (!applied.ok) return applied;
  }
  const { leftFrom } = look.progress;
  const done = { invoices: [...look.invoices] };
  return ok(leftFrom === null ? done : { ...done, leftFrom });
}

/** The observation for growth that its new block does not confirm. */
const GONE = { kind: "unknown" } as const;

/** Growth that no longer counts, because the transactions that explain it are now known. */
const asReplaced = (payment: Payment): SeenPayment => ({ payment, observation: { kind: "replaced" } });

/**
 * Growth that is credited to invoices and that these transfers explain. It is removed first, or in the same batch if transfer and growth belong to
 * the same invoice.
 */
function ownedOf(transfers: readonly Transfer[], replaced: WeighedTransfers["replaced"]): readonly SeenPayment[] {
  const explained = transfers.flatMap((transfer) => replaced.get(transferKey(transfer)) ?? []);
  return [...new Set(explained)].filter(({ invoiceId }) => invoiceId !== null).map(asReplaced);
}

type Part = Pick<Findings, "transfers" | "seen">;

async function applyPart(deps: ApplyDependencies, look: Look, part: Part): Promise<Result<true, Failure>> {
  const { findings, replaced, progress } = look;
  if (part.transfers.length === 0 && part.seen.length === 0) return ok(true);
  const read = await readFound(deps, findings.network, part.transfers, findings.askedBy);
  if (!read.ok) return read;
  const { known, superseded, fresh, left, table } = read.value;
  progress.leave(left);
  const [sure, unsure]: [Placed[], Fresh[]] = [[], []];
  for (const each of fresh) {
    const placed = placeSurely(each);
    if (placed === undefined) unsure.push(each);
    else sure.push(placed);
  }
  const later = new Set(unsure.map(({ transfer }) => transfer));
  const transfers = part.transfers.filter((transfer) => !later.has(transfer));
  const explained = sure.map(({ transfer }) => transfer);
  const seen = [...ownedOf(explained, replaced), ...part.seen];
  const observations = observationsOf({ ...findings, transfers: part.transfers, seen }, known, findings.seen);
  const changing = observations.flatMap((each) =>
    changesPayment(deps, findings, each)
      ? [{ ...each, isUnweighed: look.isUnweighed(each.payment, each.observation) }]
      : [],
  );
  const explaining = changing.flatMap(({ payment, observation }) => returningAs(payment, observation));
  const gone = [...new Set(explaining.flatMap((each) => replaced.get(transferKey(each)) ?? []))].map(asReplaced);
  if (gone.length > 0) {
    // Removes growth before the transactions that explain it return to the chain.
    const left = await store(deps, look, { placed: [], observations: gone, table });
    if (!left.ok) return left;
    progress.noteRemoved(gone.map(({ payment }) => payment));
  }
  const first = await settle(deps, look, { transfers, superseded, placed: sure, observations: changing, table });
  if (!first.ok) return first;
  for (const lot of lotsOf(unsure)) {
    const transfers = lot.map(({ transfer }) => transfer);
    if (!progress.mayBegin()) {
      progress.leave(transfers);
      continue;
    }
    const places = await readPlaces(deps, findings.network, lot);
    if (!places.ok) return places;
    const owned = ownedOf(transfers, replaced).filter((each) => changesPayment(deps, findings, each));
    const settled = await settle(deps, look, {
      transfers,
      superseded,
      placed: places.value,
      observations: owned,
      table,
    });
    if (!settled.ok) return settled;
  }
  return ok(true);
}

/** Equal amounts are placed together. Addresses take turns, so that a flood at one of them does not delay the others. */
function* lotsOf(fresh: readonly Fresh[]): Generator<readonly Fresh[]> {
  const equal = [...Map.groupBy(fresh, ({ facts }) => placeKeyOf(facts)).values()];
  const parts = equal.flatMap((all) => [...chunksOf(all, EQUAL_AT_ONCE)]);
  let lot: Fresh[] = [];
  let amounts = 0;
  for (const part of takingTurns(parts, ([first]) => first?.transfer.toAddress ?? "")) {
    if (amounts === AMOUNTS_AT_ONCE || lot.length + part.length > AT_ONCE) {
      yield lot;
      lot = [];
      amounts = 0;
    }
    lot.push(...part);
    amounts++;
  }
  if (lot.length > 0) yield lot;
}

interface Decided {
  readonly placed: readonly Placed[];
  readonly observations: readonly Seen[];
  readonly table: RateTable | undefined;
}

/** Marks the rows that these transfers contradict as off the chain, and then stores the decisions about the transfers. */
async function settle(
  deps: ApplyDependencies,
  look: Look,
  of: Decided & { readonly transfers: readonly Transfer[]; readonly superseded: Found["superseded"] },
): Promise<Result<true, Failure>> {
  const { findings, progress } = look;
  const rowsOf = (transfer: Transfer) => of.superseded.get(effectKey(transfer)) ?? [];
  const found = of.transfers.map((transfer) => ({ transfer, rows: rowsOf(transfer) }));
  const { placed, leaving } = supersededBy(of.placed, found, findings.isHearsay === true);
  if (leaving.length === 0) return store(deps, look, { ...of, placed });
  const left = await store(deps, look, { placed: [], observations: leaving.map(asSuperseded), table: of.table });
  if (!left.ok) return left;
  // Some of the rows may be left to the next pass, which must find the contradicting transfers again. In that case `store` below places nothing
  // either.
  if (!progress.mayBegin()) progress.leave(of.transfers.filter((transfer) => rowsOf(transfer).length > 0));
  return store(deps, look, { ...of, placed });
}

/** Credits the transfers that match an invoice, stores the observations, and keeps the other transfers for users. */
async function store(deps: ApplyDependencies, look: Look, of: Decided): Promise<Result<true, Failure>> {
  const { findings, progress, quota } = look;
  const { network, heights, askedBy } = findings;
  const context = { network, heights, askedBy, quota };
  const credits = of.placed.flatMap((each) => creditOf(deps, look, each, of.table));
  const credited = await creditShares(deps, context, sharesOf(credits, of.observations), progress);
  for (const id of credited.invoices) look.invoices.add(id);
  const loose = of.observations.filter(({ payment }) => payment.invoiceId === null);
  const observed = await recordObservations(deps, loose, context, progress);
  const unmatched = [...of.placed, ...credited.unmatched].flatMap((each) => unmatchedOf(deps, look, each, of.table));
  const recorded = observed.ok ? await recordUnmatched(deps, unmatched, context, progress) : observed;
  // For known payments whose invoice could not be changed: updates only their rows; their invoices follow at their next change. Otherwise a cursor
  // would pass a block that left the chain, and its payments would count forever.
  const kept = await recordObservations(deps, credited.orphans, { ...context, isSilent: true }, progress);
  if (!kept.ok) return kept;
  return credited.failure === undefined ? recorded : err(credited.failure);
}

function creditOf(
  deps: ApplyDependencies,
  { findings, replaced }: Look,
  { transfer, place, supersedes }: Placed,
  table: RateTable | undefined,
): readonly Credit[] {
  if (place.kind !== "invoice") return [];
  const usdMicros = valueInUsd(deps, findings.network, transfer, table);
  const mayConfirm = !(findings.hasSecond === true && needsSecond(place));
  const replaces = replaced.get(transferKey(transfer)) ?? [];
  return [{ transfer, place, usdMicros, mayConfirm, replaces, supersedes }];
}

function unmatchedOf(
  deps: ApplyDependencies,
  { findings, replaced }: Look,
  { place, ...placed }: Placed,
  table: RateTable | undefined,
): readonly Unmatched[] {
  if (place.kind === "invoice") return [];
  const usdMicros = valueInUsd(deps, findings.network, placed.transfer, table);
  return [{ ...placed, place, usdMicros, replaces: replaced.get(transferKey(placed.transfer)) ?? [] }];
}

/** Whether the observation changes the payment. Most payments that an overlap shows again are unchanged and cost no further read. */
function changesPayment(
  deps: ApplyDependencies,
  { network, heights }: Findings,
  { payment, observation, mayConfirm = true }: Seen,
): boolean {
  return paymentAfter(payment, observation, { network, heights, nowMs: deps.nowMs, mayConfirm }) !== payment;
}

/** Whether the payment is confirmed again at once in another block. If two sources must agree, they must also agree about the new block. */
const isSmallAndConfirmed = ({ status, needsSecond }: KnownPayment) => status === "CONFIRMED" && needsSecond === 0;

/** Known rows whose transfer was found, and rechecked rows; for a row that is both, the found transfer decides. */
function observationsOf(findings: Findings, known: Found["known"], seen: readonly SeenPayment[]): readonly Seen[] {
  const asked = new Map(seen.map((each) => [each.payment.id, each.mayConfirm]));
  const found = findings.transfers.flatMap((transfer) =>
    (known.get(effectKey(transfer)) ?? []).map((payment) => {
      const mayConfirm = asked.get(payment.id) ?? (findings.hasSecond !== true || isSmallAndConfirmed(payment));
      return { payment, observation: observationOf(transfer), mayConfirm };
    }),
  );
  return [...found, ...findings.seen];
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
