// Transfers that no rule credits: a row of each merchant with a live wallet on the address, UNMATCHED, or IGNORED where it is dust; told once,
// and after 100 a day on an address of about the same worth summed up (decisions 5).
import type { BatchItem } from "drizzle-orm/batch";
import type { Network } from "../chains/networks.ts";
import type { Db } from "../db/client.ts";
import { commitBatch } from "../db/commit-batch.ts";
import { describeConflict, isContention } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { EventType, OutboxEvent } from "../events/event.ts";
import type { EventData } from "../events/event-data.ts";
import { recordOutbox } from "../events/store.ts";
import type { Failure } from "../failures.ts";
import { countOnce } from "../growth/read-growth.ts";
import { paymentBodyOf } from "../invoices/invoice-body.ts";
import { derivedId, type MerchantId, type PaymentId, ulidTime } from "../lib/ids.ts";
import { formatMicros } from "../lib/money.ts";
import { piecesOf } from "../lib/pieces.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { DAY_MS } from "../lib/time.ts";
import { isUnmatchedDust } from "../payments/dust.ts";
import type { Payment, StoredPayment } from "../payments/payment.ts";
import { type ChainHeights, newPayment, newsOf, paymentAfter, type Sight } from "../payments/sight.ts";
import { assertPaymentAsRead, countStrays, putPayment } from "../payments/store.ts";
import { evidenceOf } from "./evidence.ts";
import type { Place } from "./placement.ts";
import type { Holder, Placed } from "./read-places.ts";
import { assertTransfersNew, insertStrays, selectPaymentRow } from "./store.ts";
import { STRAYS_A_DAY, worthRangeOf } from "./stray-limit.ts";

export interface StrayEffects {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
  newOperationId(): string;
}

export interface StrayContext {
  readonly network: Network;
  readonly heights: ChainHeights;
}

/** A transfer that nobody is credited with, and what it is worth in US dollars at first sight; null where no rate is known. */
export interface Stray extends Pick<Placed, "transfer" | "holders"> {
  readonly place: Exclude<Place, { kind: "invoice" }>;
  readonly usdMicros: bigint | null;
  /** Rows of growth that it explains: dropped in the batch that writes it, but for those of invoices, which were before. */
  readonly replaces?: readonly Payment[];
}

/** Rows of one statement, a few kilobytes each: D1 takes two megabytes as a parameter. Of one batch, where a transfer has no more by itself. */
const ROWS_AT_ONCE = 50;

/**
 * Whether any of these transfers, of which no row stands, would have one of the merchant's own now: dust always, others until an address has 100
 * of a day and a range of worth.
 */
export async function isKept(
  fx: Pick<StrayEffects, "db" | "sleep" | "nowMs">,
  strays: readonly Pick<Stray, "transfer" | "usdMicros">[],
  { merchantId, network }: { readonly merchantId: MerchantId; readonly network: Network },
): Promise<Result<boolean, Failure>> {
  if (strays.some((stray) => isDustStray(network, stray))) return ok(true);
  const places = strays.map(({ transfer: { toAddress }, usdMicros }) => ({
    ...{ merchantId, network: network.name, toAddress },
    ...worthRangeOf(usdMicros),
  }));
  const distinct = new Map(places.map((place) => [`${place.toAddress} ${place.fromMicros}`, place]));
  for (const place of distinct.values()) {
    const read = await readWithRetry(fx.sleep, async () => countStrays(fx.db, place, dayOf(fx)));
    if (!read.ok) return read;
    if (read.value.some(({ rows }) => rows < STRAYS_A_DAY)) return ok(true);
  }
  return ok(false);
}

/** The rows of some transfers; how many. CONTENTION where another writer has just written one: the next look finds it. */
export async function recordStrays(
  fx: StrayEffects,
  strays: readonly Stray[],
  look: StrayContext,
): Promise<Result<number, Failure>> {
  let written = 0;
  for (const batch of batchesOf(strays)) {
    const done = await recordBatch(fx, batch, look);
    if (!done.ok) return done;
    written += done.value;
  }
  return ok(written);
}

type Concerned = Omit<Stray, "holders"> & { readonly holders: readonly Holder[] };

/** All rows of a transfer stand in one batch: anybody may have a wallet on its address, and whoever comes second finds it known. */
function batchesOf(strays: readonly Stray[]): readonly (readonly Concerned[])[] {
  const batches: Concerned[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const stray of strays) {
    const holders = concerned(stray.place, stray.holders, stray.replaces);
    if (rows + holders.length > ROWS_AT_ONCE) {
      batches.push([]);
      rows = 0;
    }
    batches.at(-1)?.push({ ...stray, holders });
    rows += holders.length;
  }
  return batches;
}

async function recordBatch(
  fx: StrayEffects,
  strays: readonly Concerned[],
  look: StrayContext,
): Promise<Result<number, Failure>> {
  const operationId = fx.newOperationId();
  const rows = strays
    .flatMap((stray) => stray.holders.map((holder) => ({ ...stray, holder })))
    .map((each, n) => strayRow(fx, { ...each, look, id: derivedId("pay", operationId, n) }));
  const [first] = rows;
  if (first === undefined) return ok(0);
  const sinceMs = dayOf(fx);
  const told = rows.map((payment, n) => ({
    payment,
    range: worthRangeOf(payment.usdMicros),
    // What stands in an earlier statement of the batch is counted there.
    before: rows.slice(n - (n % ROWS_AT_ONCE), n).filter((other) => isOfSamePlace(other, payment)).length,
    eventId: derivedId("evt", operationId, n),
    summaryId: summaryId(payment, sinceMs),
    told: JSON.stringify({ payment: paymentBodyOf(payment, []) } satisfies EventData["payment.unmatched"]),
    summary: summaryOf(payment),
  }));
  const transfers = strays.map(({ transfer }) => transfer);
  const replaced = strays.flatMap(({ replaces = [] }) => replaces.filter(({ invoiceId }) => invoiceId === null));
  const written = await commit(fx, { id: first.id, asOf: first.updatedAtMs }, [
    assertTransfersNew(fx.db, look.network.name, transfers),
    ...countOnce(fx.db, look.network, rows, replaced),
    ...replaced.flatMap((payment) => dropStatements(fx, payment, look)),
    ...[...piecesOf(told, ROWS_AT_ONCE)].flatMap((piece) => insertStrays(fx.db, piece, { sinceMs, nowMs: fx.nowMs })),
  ]);
  return written.ok ? ok(rows.length) : written;
}

function isOfSamePlace(other: Payment, { merchantId, toAddress, usdMicros }: Payment): boolean {
  const isSameRange = worthRangeOf(other.usdMicros).fromMicros === worthRangeOf(usdMicros).fromMicros;
  return (
    isSameRange && other.merchantId === merchantId && other.toAddress === toAddress && other.status === "UNMATCHED"
  );
}

/** A row by itself after a look; false where nothing is to be written. `isSilent`: nothing is told of it. */
export async function recordSight(
  fx: StrayEffects,
  payment: Payment,
  sight: Sight,
  look: StrayContext & { readonly mayConfirm?: boolean; readonly isSilent?: boolean },
): Promise<Result<boolean, Failure>> {
  const { network, heights, mayConfirm = true, isSilent = false } = look;
  const after = paymentAfter(payment, sight, { network, heights, nowMs: fx.nowMs, mayConfirm });
  if (after === payment) return ok(false);
  const told = isSilent ? [] : newsOf(payment, after);
  const statements = changeStatements(fx, payment, after, told);
  const written = await commit(fx, { id: after.id, asOf: after.updatedAtMs }, statements);
  return written.ok ? ok(true) : written;
}

/** A row by itself that does not count any more, because another payment of the same batch is the same money. */
export function dropStatements(
  fx: Pick<StrayEffects, "db" | "nowMs" | "newOperationId">,
  payment: Payment,
  { network, heights }: StrayContext,
): readonly BatchItem<"sqlite">[] {
  const after = paymentAfter(payment, { kind: "replaced" }, { network, heights, nowMs: fx.nowMs });
  return changeStatements(fx, payment, after, newsOf(payment, after));
}

function changeStatements(
  fx: Pick<StrayEffects, "db" | "nowMs" | "newOperationId">,
  payment: Payment,
  after: Payment,
  told: readonly EventType[],
): readonly BatchItem<"sqlite">[] {
  const operationId = fx.newOperationId();
  const news = told.map((type, n) => eventOf(fx, after, type, derivedId("evt", operationId, n)));
  const outbox = news.length === 0 ? [] : recordOutbox(fx.db, news);
  return [assertPaymentAsRead(fx.db, payment), putPayment(fx.db, after), ...outbox];
}

/**
 * Dust is its own merchant's matter; a stray everybody's who has a wallet there, an invoice that was refused, or the growth that it
 * explains.
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

function strayRow(
  fx: StrayEffects,
  of: Omit<Stray, "holders"> & { readonly holder: Holder; readonly look: StrayContext; readonly id: PaymentId },
): StoredPayment {
  const { transfer, place, holder, look, id, usdMicros } = of;
  const { network, heights } = look;
  const isDust = place.kind === "dust" || isDustStray(network, of);
  return newPayment({
    id,
    merchantId: holder.merchantId,
    transfer,
    placement: { kind: isDust ? "IGNORED" : "UNMATCHED" },
    requiredConfirmations: holder.requiredConfirmations,
    usdMicros,
    evidence: evidenceOf(transfer, place.kind === "stray" ? place.refused : [], holder.merchantId),
    context: { network, heights, nowMs: fx.nowMs },
  });
}

function isDustStray(network: Network, { transfer, usdMicros }: Pick<Stray, "transfer" | "usdMicros">): boolean {
  const { cryptocurrency, amountUnits, isUnexplained } = transfer;
  return isUnexplained !== true && isUnmatchedDust({ network, cryptocurrency, amountUnits, usdMicros });
}

/** Midnight (UTC) of the day in which strays are counted. */
function dayOf({ nowMs }: Pick<StrayEffects, "nowMs">): number {
  return Math.floor(nowMs / DAY_MS) * DAY_MS;
}

function eventOf(fx: Pick<StrayEffects, "nowMs">, payment: Payment, type: EventType, id: `evt_${string}`): OutboxEvent {
  return {
    id,
    merchantId: payment.merchantId,
    type,
    invoiceId: null,
    sequence: null,
    data: JSON.stringify({ payment: paymentBodyOf(payment, []) }),
    createdAtMs: fx.nowMs,
  };
}

/** One a day for an address and a range of worth: its id is made of them. */
function summaryId({ merchantId, network, toAddress, usdMicros }: Payment, dayMs: number) {
  const range = worthRangeOf(usdMicros).fromMicros;
  return derivedId("evt", `${ulidTime(dayMs)}|${merchantId}|${network}|${toAddress}|${range}`);
}

function summaryOf({ network, toAddress, usdMicros }: Payment): string {
  const { fromMicros, belowMicros } = worthRangeOf(usdMicros);
  const summary = {
    ...({ payment: null, network, toAddress, unmatchedToday: STRAYS_A_DAY, isTruncated: true } as const),
    worthFrom: fromMicros === null ? null : formatMicros(fromMicros),
    worthBelow: belowMicros === null ? null : formatMicros(belowMicros),
  };
  return JSON.stringify(summary satisfies EventData["payment.unmatched"]);
}

async function commit(
  fx: StrayEffects,
  row: { readonly id: PaymentId; readonly asOf: number } | undefined,
  statements: readonly BatchItem<"sqlite">[],
): Promise<Result<true, Failure>> {
  const isRecorded = async () => {
    if (row === undefined) return false;
    const found = await readWithRetry(fx.sleep, async () => selectPaymentRow(fx.db, row.id));
    return found.ok && found.value.some(({ updatedAtMs }) => updatedAtMs === row.asOf);
  };
  const sent = await commitBatch(fx, isRecorded, statements);
  if (sent.kind === "stands") return ok(true);
  if (sent.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  if (!isContention(sent.conflict)) throw new Error(`a stray transfer met ${describeConflict(sent.conflict)}`);
  return err({ code: "CONTENTION" });
}
