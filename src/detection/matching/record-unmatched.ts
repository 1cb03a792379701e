// Records transfers that no rule credits: one row for each merchant with a live wallet on the address, UNMATCHED, or IGNORED for dust. Each
// UNMATCHED row has one event. Beyond 100 a day at an address and of about the same value, one summary event replaces the rest (decisions 5).

import type { Network } from "../../chains/networks.ts";
import { paymentBodyOf } from "../../commerce/invoices/invoice-body.ts";
import {
  type ChainHeights,
  type ChainObservation,
  newPayment,
  paymentAfter,
  paymentEvents,
} from "../../commerce/payments/chain-observation.ts";
import { isUnmatchedDust } from "../../commerce/payments/dust.ts";
import { evidenceOf } from "../../commerce/payments/match.ts";
import type { Payment, StoredPayment } from "../../commerce/payments/payment.ts";
import {
  assertPaymentAsRead,
  countUnmatched,
  putPayment,
  selectPaymentVersion,
} from "../../commerce/payments/store.ts";
import { entriesOfPaymentChange } from "../../commerce/reports/invoice-entries.ts";
import { addEntries } from "../../commerce/reports/store.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { derivedId, type MerchantId, type PaymentId, ulidHead } from "../../lib/ids.ts";
import { formatMicros } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { CommitDependencies } from "../../platform/changes/change.ts";
import type { Statement } from "../../platform/db/batch.ts";
import { commitBatch, type Marker } from "../../platform/db/commit-batch.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { EventType, OutboxEvent } from "../../platform/events/event.ts";
import { recordOutbox } from "../../platform/events/store.ts";
import type { Failure } from "../../platform/failures.ts";
import { countOnce } from "../growth/read-growth.ts";
import type { Place } from "./placement.ts";
import type { Holder, Placed } from "./read-places.ts";
import { assertTransfersMissed, assertTransfersNew, insertUnmatched, selectPaymentRow } from "./store.ts";
import type { UnmatchedEvents } from "./unmatched-events.ts";
import { UNMATCHED_A_DAY, valueRangeOf } from "./unmatched-limit.ts";

export type UnmatchedDependencies = CommitDependencies;

export interface UnmatchedContext {
  readonly network: Network;
  readonly heights: ChainHeights;
  /** The merchant that named the transfers: the daily limit does not apply to its rows. */
  readonly askedBy?: MerchantId | undefined;
}

/** A transfer that is not credited, and its value in US dollars when first seen; null if no rate was known. */
export interface Unmatched extends Pick<Placed, "transfer" | "holders" | "onlyFor" | "supersedes"> {
  readonly place: Exclude<Place, { kind: "invoice" }>;
  readonly usdMicros: bigint | null;
  /** Rows of growth that it explains. The batch that writes it removes them; growth credited to invoices was removed before. */
  readonly replaces?: readonly Payment[];
}

/**
 * Rows of one statement, a few kilobytes each: D1 accepts 2 MB as a parameter. Also the rows of one batch, unless a single transfer has more.
 */
const ROWS_AT_ONCE = 50;

/**
 * Whether any of these new transfers would get a row of the merchant now. Dust always does; others until the address has 100 of one day and
 * value range; and every transfer that the merchant itself named.
 */
export async function isKept(
  deps: Pick<UnmatchedDependencies, "db" | "sleep" | "nowMs">,
  unmatchedPayments: readonly Pick<Unmatched, "transfer" | "usdMicros">[],
  of: Pick<UnmatchedContext, "network" | "askedBy"> & { readonly merchantId: MerchantId },
): Promise<Result<boolean, Failure>> {
  const { merchantId, network, askedBy } = of;
  if (unmatchedPayments.length > 0 && merchantId === askedBy) return ok(true);
  if (unmatchedPayments.some((unmatched) => hasDustValue(network, unmatched))) return ok(true);
  const places = unmatchedPayments.map(({ transfer: { toAddress }, usdMicros }) => ({
    ...{ merchantId, network: network.name, toAddress },
    ...valueRangeOf(usdMicros),
  }));
  const distinct = new Map(places.map((place) => [`${place.toAddress} ${place.fromMicros}`, place]));
  for (const place of distinct.values()) {
    const read = await readWithRetry(deps.sleep, async () => countUnmatched(deps.db, place, dayOf(deps)));
    if (!read.ok) return read;
    if (read.value.some(({ rows }) => rows < UNMATCHED_A_DAY)) return ok(true);
  }
  return ok(false);
}

/** Writes the rows of these transfers and returns their number. CONTENTION if another writer has just written one: the next look finds it. */
export async function recordUnmatched(
  deps: UnmatchedDependencies,
  unmatchedPayments: readonly Unmatched[],
  context: UnmatchedContext,
): Promise<Result<number, Failure>> {
  let written = 0;
  for (const batch of batchesOf(unmatchedPayments)) {
    const done = await recordBatch(deps, batch, context);
    if (!done.ok) return done;
    written += done.value;
  }
  return ok(written);
}

type Concerned = Omit<Unmatched, "holders"> & { readonly holders: readonly Holder[] };

/**
 * A batch holds all rows of a transfer: several merchants may have a wallet on its address, and a second writer would treat a transfer with any
 * row as known.
 */
function batchesOf(unmatchedPayments: readonly Unmatched[]): readonly (readonly Concerned[])[] {
  const batches: Concerned[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const unmatched of unmatchedPayments) {
    const { onlyFor } = unmatched;
    const holders = concerned(unmatched.place, unmatched.holders, unmatched.replaces).filter(
      ({ merchantId }) => onlyFor === undefined || merchantId === onlyFor,
    );
    if (rows + holders.length > ROWS_AT_ONCE) {
      batches.push([]);
      rows = 0;
    }
    batches.at(-1)?.push({ ...unmatched, holders });
    rows += holders.length;
  }
  return batches;
}

async function recordBatch(
  deps: UnmatchedDependencies,
  unmatchedPayments: readonly Concerned[],
  context: UnmatchedContext,
): Promise<Result<number, Failure>> {
  const operationId = deps.newOperationId();
  const made = unmatchedPayments
    .flatMap((unmatched) => unmatched.holders.map((holder) => ({ ...unmatched, holder })))
    .map((each, n) => ({
      ...each,
      row: unmatchedRow(deps, { ...each, context, id: derivedId("pay", operationId, n) }),
    }));
  const rows = made.map(({ row }) => row);
  const explained = made.flatMap(({ row, transfer }) => (transfer.isUnexplained === true ? [] : [row]));
  const [first] = rows;
  if (first === undefined) return ok(0);
  const sinceMs = dayOf(deps);
  const records = rows.map((payment, n) => ({
    payment,
    range: valueRangeOf(payment.usdMicros),
    // The database counts the rows of the batch's earlier statements; this counts those of the same statement.
    before: rows.slice(n - (n % ROWS_AT_ONCE), n).filter((other) => isOfSamePlace(other, payment)).length,
    eventId: derivedId("evt", operationId, n),
    summaryId: summaryId(payment, sinceMs),
    isAsked: payment.merchantId === context.askedBy,
    event: JSON.stringify({ payment: paymentBodyOf(payment, []) } satisfies UnmatchedEvents["payment.unmatched"]),
    summary: summaryOf(payment),
  }));
  const replaced = unmatchedPayments.flatMap(({ replaces = [] }) =>
    replaces.filter(({ invoiceId }) => invoiceId === null),
  );
  // Only this operation creates this id: if the first row exists, this batch committed.
  const written = await commit(deps, () => selectPaymentRow(deps.db, first.id), [
    ...assertsOf(deps, unmatchedPayments, context),
    // Unexplained growth is not credited until a user assigns it.
    ...countOnce(deps.db, context.network, explained, replaced),
    ...replaced.flatMap((payment) => dropStatements(deps, payment, context)),
    ...[...chunksOf(records, ROWS_AT_ONCE)].flatMap((chunk) =>
      insertUnmatched(deps.db, chunk, { sinceMs, nowMs: deps.nowMs }),
    ),
  ]);
  return written.ok ? ok(rows.length) : written;
}

/** Asserts that new transfers have no row at all, and that the merchant that named missed transfers has no row of them. */
function assertsOf(
  deps: UnmatchedDependencies,
  unmatchedPayments: readonly Concerned[],
  { network }: UnmatchedContext,
): readonly Statement[] {
  const isNew = ({ onlyFor }: Concerned) => onlyFor === undefined;
  const fresh = unmatchedPayments.filter(isNew).map(({ transfer }) => transfer);
  const missed = unmatchedPayments.filter((unmatched) => !isNew(unmatched));
  const merchants = Map.groupBy(missed, ({ onlyFor }) => onlyFor);
  return [
    assertTransfersNew(deps.db, network.name, fresh),
    ...[...merchants].flatMap(([merchantId, of]) => {
      const transfers = of.map(({ transfer }) => transfer);
      return merchantId === undefined ? [] : [assertTransfersMissed(deps.db, network.name, merchantId, transfers)];
    }),
  ];
}

function isOfSamePlace(other: Payment, { merchantId, toAddress, usdMicros }: Payment): boolean {
  const isSameRange = valueRangeOf(other.usdMicros).fromMicros === valueRangeOf(usdMicros).fromMicros;
  return (
    isSameRange && other.merchantId === merchantId && other.toAddress === toAddress && other.status === "UNMATCHED"
  );
}

/** Updates one payment's row after an observation, without its invoice; false if nothing changed. `isSilent`: emits no event. */
export async function recordObservation(
  deps: UnmatchedDependencies,
  payment: Payment,
  observation: ChainObservation,
  context: UnmatchedContext & { readonly mayConfirm?: boolean; readonly isSilent?: boolean },
): Promise<Result<boolean, Failure>> {
  const { network, heights, mayConfirm = true, isSilent = false } = context;
  const seen = paymentAfter(payment, observation, { network, heights, nowMs: deps.nowMs, mayConfirm });
  if (seen === payment) return ok(false);
  const after = laterThan(payment, seen);
  const eventTypes = isSilent ? [] : paymentEvents(payment, after);
  const statements = changeStatements(deps, payment, after, eventTypes);
  const written = await commit(deps, () => selectPaymentVersion(deps.db, after), statements);
  return written.ok ? ok(true) : written;
}

/** Removes a row without an invoice: another payment of the same batch is the same money. */
export function dropStatements(
  deps: Pick<UnmatchedDependencies, "db" | "nowMs" | "newOperationId">,
  payment: Payment,
  { network, heights }: UnmatchedContext,
): readonly Statement[] {
  const after = laterThan(
    payment,
    paymentAfter(payment, { kind: "replaced" }, { network, heights, nowMs: deps.nowMs }),
  );
  return changeStatements(deps, payment, after, paymentEvents(payment, after));
}

/**
 * Makes each update later than the one before: two states written within one millisecond would have the same time, so that a lost write would
 * look committed and a repeated write would find the row as it was read.
 */
function laterThan(before: Payment, after: Payment): Payment {
  return after === before ? after : { ...after, updatedAtMs: Math.max(after.updatedAtMs, before.updatedAtMs + 1) };
}

function changeStatements(
  deps: Pick<UnmatchedDependencies, "db" | "nowMs" | "newOperationId">,
  payment: Payment,
  after: Payment,
  eventTypes: readonly EventType[],
): readonly Statement[] {
  const operationId = deps.newOperationId();
  const eventsToRecord = eventTypes.map((type, n) => eventOf(deps, after, type, derivedId("evt", operationId, n)));
  const outbox = eventsToRecord.length === 0 ? [] : recordOutbox(deps.db, eventsToRecord);
  const counted = addEntries(deps.db, entriesOfPaymentChange(payment, after));
  return [assertPaymentAsRead(deps.db, payment), putPayment(deps.db, after), ...counted, ...outbox];
}

/**
 * The merchants that get a row. Dust concerns only its merchant. An unmatched payment concerns every merchant with a wallet there, with an
 * invoice that was refused, or with growth that it explains.
 */
function concerned(
  place: Exclude<Place, { kind: "invoice" }>,
  holders: readonly Holder[],
  replaces: readonly Payment[] = [],
): readonly Holder[] {
  const holderOf = (merchantId: MerchantId): Holder =>
    holders.find((each) => each.merchantId === merchantId) ?? {
      address: "",
      merchantId,
      requiredConfirmations: 1,
    };
  if (place.kind === "dust") return [holderOf(place.merchantId)];
  const merchants = [...holders, ...place.refused, ...replaces].map(({ merchantId }) => merchantId);
  return [...new Set(merchants)].map(holderOf);
}

function unmatchedRow(
  deps: UnmatchedDependencies,
  of: Omit<Unmatched, "holders"> & {
    readonly holder: Holder;
    readonly context: UnmatchedContext;
    readonly id: PaymentId;
  },
): StoredPayment {
  const { transfer, place, holder, context, id, usdMicros } = of;
  const { network, heights } = context;
  const isDust = place.kind === "dust" || hasDustValue(network, of);
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
  return isUnexplained !== true && isUnmatchedDust({ network, cryptocurrency, amountUnits, usdMicros });
}

/** Midnight (UTC) of the day in which unmatched payments are counted. */
function dayOf({ nowMs }: Pick<UnmatchedDependencies, "nowMs">): number {
  return Math.floor(nowMs / DAY_MS) * DAY_MS;
}

function eventOf(
  deps: Pick<UnmatchedDependencies, "nowMs">,
  payment: Payment,
  type: EventType,
  id: `evt_${string}`,
): OutboxEvent {
  return {
    id,
    merchantId: payment.merchantId,
    type,
    invoiceId: null,
    sequence: null,
    data: JSON.stringify({ payment: paymentBodyOf(payment, []) }),
    createdAtMs: deps.nowMs,
  };
}

/** One summary a day for an address and a value range: its id is derived from them. */
function summaryId({ merchantId, network, toAddress, usdMicros }: Payment, dayMs: number) {
  const range = valueRangeOf(usdMicros).fromMicros;
  return derivedId("evt", `${ulidHead(dayMs, merchantId)}|${merchantId}|${network}|${toAddress}|${range}`);
}

function summaryOf({ network, toAddress, usdMicros }: Payment): string {
  const { fromMicros, belowMicros } = valueRangeOf(usdMicros);
  const summary = {
    ...({ payment: null, network, toAddress, unmatchedToday: UNMATCHED_A_DAY, isTruncated: true } as const),
    worthFrom: fromMicros === null ? null : formatMicros(fromMicros),
    worthBelow: belowMicros === null ? null : formatMicros(belowMicros),
  };
  return JSON.stringify(summary satisfies UnmatchedEvents["payment.unmatched"]);
}

async function commit(
  deps: UnmatchedDependencies,
  marker: Marker,
  statements: readonly Statement[],
): Promise<Result<true, Failure>> {
  const sent = await commitBatch(deps, marker, statements);
  if (sent.kind === "committed") return ok(true);
  if (sent.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  throwUnlessContention("an unmatched transfer", sent.conflict);
  return err({ code: "CONTENTION" });
}
