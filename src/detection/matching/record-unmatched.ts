// Records transfers that no rule credits: one row for each merchant with a live wallet on the address, UNMATCHED, or IGNORED for dust. Each UNMATCHED
// row has one event. Beyond 100 a day at an address and of about the same value, one summary event replaces the rest (decisions 5). A transfer for
// which no merchant gets a row is recorded in a separate table, so that no pass decides it again.

import type { Network } from "../../chains/registry/networks.ts";
import { isToItself, type Transfer } from "../../chains/sources/transfer.ts";
import { type ChainHeights, newPayment } from "../../commerce/payments/chain-observation.ts";
import { isUnmatchedDust } from "../../commerce/payments/dust.ts";
import { evidenceOf } from "../../commerce/payments/match.ts";
import type { Payment, StoredPayment } from "../../commerce/payments/payment.ts";
import { paymentBodyOf } from "../../commerce/payments/payment-body.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { derivedId, type MerchantId, type PaymentId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { CommitDependencies } from "../../platform/changes/change.ts";
import { commit } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { countOnce } from "../growth/read-growth.ts";
import type { Progress } from "./look-progress.ts";
import type { Placement } from "./placement.ts";
import type { Holder } from "./read-found.ts";
import type { Placed } from "./read-places.ts";
import { commitUnmatched, dropStatements } from "./record-observations.ts";
import { assertTransfersMissed, assertTransfersNew, selectPaymentRow } from "./store.ts";
import { dayOf, type Quota, readQuota } from "./unmatched/read-quota.ts";
import { insertUnmatched, putLeftOut, recordSummaries } from "./unmatched/store.ts";
import { summaryId, summaryOf } from "./unmatched/summary.ts";
import type { UnmatchedEvents } from "./unmatched-events.ts";
import { kindOf, MERCHANTS_LISTED } from "./unmatched-limit.ts";

type UnmatchedDependencies = CommitDependencies;

export interface UnmatchedContext {
  readonly network: Network;
  readonly heights: ChainHeights;
  /** The merchant that named the transfers: the daily limit does not apply to its rows. */
  readonly askedBy?: MerchantId | undefined;
  readonly quota: Quota;
}

/** A transfer that is not credited, and its value in US dollars when first seen; null if no rate was known. */
export interface Unmatched extends Pick<Placed, "transfer" | "holders" | "onlyFor" | "supersedes"> {
  readonly place: Exclude<Placement, { kind: "invoice" }>;
  readonly usdMicros: bigint | null;
  /** Rows of growth that the transfer explains. The batch that writes the transfer removes them; growth credited to invoices was removed before. */
  readonly replaces?: readonly Payment[];
}

/** The most rows in one batch, unless a single transfer has more. */
const ROWS_AT_ONCE = 500;
/**
 * The most characters in the rows of one statement, because D1 accepts 2 MB as a parameter; and the most characters that the columns of one row take,
 * without its evidence.
 */
const LENGTH_AT_ONCE = 600_000;
const COLUMNS_LENGTH = 1_200;
/** How many transfers are checked against their limits in one step. */
const TRANSFERS_AT_ONCE = 1_000;

/**
 * Whether the merchant would get a row for any of these new transfers now: always if the merchant named them; otherwise until the address has 100
 * rows for one day and value range, or 100 for dust.
 */
export async function isKept(
  deps: Pick<UnmatchedDependencies, "db" | "sleep" | "nowMs">,
  unmatchedPayments: readonly Pick<Unmatched, "transfer" | "usdMicros">[],
  of: Pick<UnmatchedContext, "network" | "askedBy" | "quota"> & { readonly merchantId: MerchantId },
): Promise<Result<boolean, Failure>> {
  const { merchantId, network, askedBy } = of;
  if (unmatchedPayments.length === 0) return ok(false);
  if (merchantId === askedBy) return ok(true);
  const addresses = unmatchedPayments.map(({ transfer }) => transfer.toAddress);
  const quota = await readQuota(deps, of.quota, { network: network.name, addresses });
  if (!quota.ok) return quota;
  const isRoom = ({ transfer, usdMicros }: Pick<Unmatched, "transfer" | "usdMicros">) => {
    const kind = kindOf({ isDust: hasDustValue(network, { transfer, usdMicros }), usdMicros });
    return quota.value.hasRoom({ merchantId, address: transfer.toAddress, kind });
  };
  return ok(unmatchedPayments.some(isRoom));
}

/**
 * Writes the rows of these transfers. CONTENTION if another writer has just written one: the next pass finds it. Recording the transfers that are
 * left out takes one statement per thousand, however many merchants have a wallet on the address.
 */
export async function recordUnmatched(
  deps: UnmatchedDependencies,
  unmatchedPayments: readonly Unmatched[],
  context: UnmatchedContext,
  progress: Progress,
): Promise<Result<true, Failure>> {
  for (const some of chunksOf(unmatchedPayments, TRANSFERS_AT_ONCE)) {
    if (!progress.mayBegin()) {
      progress.leave(some.map(({ transfer }) => transfer));
      continue;
    }
    const addresses = some.map(({ transfer }) => transfer.toAddress);
    const quota = await readQuota(deps, context.quota, { network: context.network.name, addresses });
    if (!quota.ok) return quota;
    const { kept, leftOut, full } = sortByRoom(some, context);
    const noted = await leaveOut(deps, context.network, { leftOut, full });
    if (!noted.ok) return noted;
    for (const lot of batchesOf(kept)) {
      if (!progress.mayBegin()) {
        progress.leave(lot.map(({ transfer }) => transfer));
        continue;
      }
      const done = await recordBatch(deps, lot, context, progress);
      if (!done.ok) return done;
    }
  }
  return ok(true);
}

/** A transfer with the merchants that may get a row for it. */
type Concerned = Omit<Unmatched, "holders"> & { readonly holders: readonly Holder[]; readonly isDust: boolean };

/** A merchant who has reached the limit for one kind of transfer. */
interface Full extends Pick<Unmatched, "transfer" | "usdMicros"> {
  readonly merchantId: MerchantId;
}

interface Sorted {
  readonly kept: readonly Concerned[];
  /** Transfers without a row for any merchant. */
  readonly leftOut: readonly Transfer[];
  readonly full: readonly Full[];
}

function sortByRoom(unmatched: readonly Unmatched[], { network, askedBy, quota }: UnmatchedContext): Sorted {
  const kept: Concerned[] = [];
  const leftOut: Transfer[] = [];
  const full = new Map<string, Full>();
  for (const each of unmatched) {
    const { transfer, place, onlyFor, replaces = [], usdMicros } = each;
    const isDust = place.kind === "dust" || hasDustValue(network, each);
    const kind = kindOf({ isDust, usdMicros });
    const merchants = concerned(place, each.holders, replaces).filter(
      ({ merchantId }) => onlyFor === undefined || merchantId === onlyFor,
    );
    // The transfer's batch removes the growth that it explains, no matter which merchants get a row.
    const isNeeded = replaces.length > 0;
    const holders = merchants.filter(({ merchantId }) => {
      if (merchantId === askedBy || isNeeded) return true;
      const counted = { merchantId, address: transfer.toAddress, kind };
      if (quota.take(counted)) return true;
      if (!isDust) full.set(`${merchantId} ${transfer.toAddress} ${kind}`, { merchantId, transfer, usdMicros });
      return false;
    });
    if (holders.length > 0) kept.push({ ...each, holders, isDust });
    else leftOut.push(transfer);
  }
  return { kept, leftOut, full: [...full.values()] };
}

/** Records transfers that no merchant is shown, and sends one summary event a day for each merchant, address and value range. Safe to repeat. */
async function leaveOut(
  deps: UnmatchedDependencies,
  network: Network,
  { leftOut, full }: Pick<Sorted, "leftOut" | "full">,
): Promise<Result<unknown, Failure>> {
  const dayMs = dayOf(deps.nowMs);
  const summaries = full.map(({ merchantId, transfer: { toAddress }, usdMicros }) => {
    const of = { merchantId, network: network.name, toAddress, usdMicros };
    return { id: summaryId(of, dayMs), merchantId, data: summaryOf(of) };
  });
  const statements: readonly Write[] = [
    ...(leftOut.length === 0 ? [] : [putLeftOut(deps.db, network.name, leftOut, deps.nowMs)]),
    ...recordSummaries(deps.db, summaries, deps.nowMs),
  ];
  if (statements.length === 0) return ok(true);
  return readWithRetry(deps.sleep, async () => commit(deps.db, statements));
}

/**
 * A batch holds all rows of a transfer: several merchants may have a wallet on its address, and a second writer would treat a transfer with any
 * row as known.
 */
function batchesOf(kept: readonly Concerned[]): readonly (readonly Concerned[])[] {
  const batches: Concerned[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const each of kept) {
    if (rows + each.holders.length > ROWS_AT_ONCE) {
      batches.push([]);
      rows = 0;
    }
    batches.at(-1)?.push(each);
    rows += each.holders.length;
  }
  return batches;
}

async function recordBatch(
  deps: UnmatchedDependencies,
  unmatchedPayments: readonly Concerned[],
  context: UnmatchedContext,
  progress: Progress,
): Promise<Result<true, Failure>> {
  const operationId = deps.newOperationId();
  const made = unmatchedPayments
    .flatMap((unmatched) => unmatched.holders.map((holder) => ({ ...unmatched, holder })))
    .map((each, n) => {
      const row = unmatchedRow(deps, { ...each, context, id: derivedId("pay", operationId, n) });
      return { ...each, row, kind: kindOf({ isDust: each.isDust, usdMicros: row.usdMicros }) };
    });
  const [first] = made;
  if (first === undefined) return ok(true);
  const explained = made.flatMap(({ row, transfer }) => (transfer.isUnexplained === true ? [] : [row]));
  const sinceMs = dayOf(deps.nowMs);
  const records = made.map(({ row: payment, kind }, n) => ({
    payment,
    kind,
    eventId: derivedId("evt", operationId, n),
    summaryId: summaryId(payment, sinceMs),
    isAsked: payment.merchantId === context.askedBy,
    event: JSON.stringify({ payment: paymentBodyOf(payment, []) } satisfies UnmatchedEvents["payment.unmatched"]),
    summary: summaryOf(payment),
  }));
  const explainedGrowth = progress.stillThere(unmatchedPayments.flatMap(({ replaces = [] }) => replaces));
  const replaced = explainedGrowth.filter(({ invoiceId }) => invoiceId === null);
  const of = { network: context.network.name, sinceMs, nowMs: deps.nowMs };
  // Only this operation creates this id: if the first row exists, the batch committed.
  const written = await commitUnmatched(deps, () => selectPaymentRow(deps.db, first.row.id), [
    ...assertsOf(deps, unmatchedPayments, context),
    // An unexplained transfer is not credited until a user assigns it.
    ...countOnce(deps.db, context.network, explained, replaced),
    ...replaced.flatMap((payment) => dropStatements(deps, payment, context)),
    ...statementsOf(records).flatMap((rows) => insertUnmatched(deps.db, rows, of)),
  ]);
  if (!written.ok) return written;
  progress.noteRemoved(replaced);
  return ok(true);
}

type Recorded = Omit<Parameters<typeof insertUnmatched>[1][number], "before">;

/**
 * Divides the rows into statements. Each row has the number of rows of its kind before it in the same statement; the database counts those of earlier
 * statements.
 */
function statementsOf(records: readonly Recorded[]): readonly Parameters<typeof insertUnmatched>[1][] {
  const lists: (Recorded & { readonly before: number })[][] = [];
  let counts = new Map<string, number>();
  let length = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const { payment, kind } = record;
    const own = COLUMNS_LENGTH + payment.evidence.length + record.event.length + record.summary.length;
    if (length + own > LENGTH_AT_ONCE) {
      lists.push([]);
      counts = new Map();
      length = 0;
    }
    const key = `${payment.merchantId} ${payment.toAddress} ${kind}`;
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    lists.at(-1)?.push({ ...record, before });
    length += own;
  }
  return lists;
}

/** Asserts that new transfers have no row at all, and that the merchant that named missed transfers has no row for them. */
function assertsOf(
  deps: UnmatchedDependencies,
  unmatchedPayments: readonly Concerned[],
  { network }: UnmatchedContext,
): readonly Write[] {
  return [...Map.groupBy(unmatchedPayments, ({ onlyFor }) => onlyFor)].map(([merchantId, of]) => {
    const transfers = of.map(({ transfer }) => transfer);
    return merchantId === undefined
      ? assertTransfersNew(deps.db, network.name, transfers)
      : assertTransfersMissed(deps.db, network.name, merchantId, transfers);
  });
}

/**
 * The merchants that get a row. Dust of a matched invoice concerns only its merchant. An unmatched payment concerns every merchant with a wallet on
 * the address, with an invoice that was refused, or with growth that it explains.
 */
function concerned(
  place: Exclude<Placement, { kind: "invoice" }>,
  holders: readonly Holder[],
  replaces: readonly Payment[],
): readonly Holder[] {
  const holderOf = (merchantId: MerchantId): Holder =>
    holders.find((each) => each.merchantId === merchantId) ?? {
      address: "",
      merchantId,
      requiredConfirmations: 1,
    };
  if (place.kind === "dust") return [holderOf(place.merchantId)];
  // The refused invoices with the nearest amounts come first.
  const refused = [...new Set(place.refused.map(({ merchantId }) => merchantId))].slice(0, MERCHANTS_LISTED);
  const merchants = [...holders, ...replaces].map(({ merchantId }) => merchantId);
  return [...new Set([...merchants, ...refused])].map(holderOf);
}

function unmatchedRow(
  deps: UnmatchedDependencies,
  of: Concerned & { readonly holder: Holder; readonly context: UnmatchedContext; readonly id: PaymentId },
): StoredPayment {
  const { transfer, place, holder, context, id, usdMicros, isDust } = of;
  const { network, heights } = context;
  const refused = place.kind === "unmatched" ? place.refused : [];
  return newPayment({
    id,
    merchantId: holder.merchantId,
    transfer,
    placement: { kind: isDust ? "IGNORED" : "UNMATCHED" },
    requiredConfirmations: holder.requiredConfirmations,
    usdMicros,
    evidence: evidenceOf(transfer, { merchantId: holder.merchantId, refused, supersedes: of.supersedes }),
    context: { network, heights, nowMs: deps.nowMs },
  });
}

function hasDustValue(network: Network, { transfer, usdMicros }: Pick<Unmatched, "transfer" | "usdMicros">): boolean {
  const { cryptocurrency, amountUnits, isUnexplained } = transfer;
  if (isToItself(transfer)) return true;
  return isUnexplained !== true && isUnmatchedDust({ network, cryptocurrency, amountUnits, usdMicros });
}
