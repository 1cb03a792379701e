// Every change of an invoice that stands: read, decide purely, one batch; the event's (invoice, sequence) is the lock. Whoever lost reads
// again and decides again, five times, then 503 (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import type { AuditEntry, Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Customer } from "../customers/customer.ts";
import type { Db } from "../db/client.ts";
import { type BatchConflict, describeConflict, isContention } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import { commitChange } from "../events/commit-change.ts";
import type { EventType } from "../events/event.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type InvoiceId, type MerchantId, type PaymentId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { mergePayments, type Payment } from "../payments/payment.ts";
import { putPayment } from "../payments/store.ts";
import { fileOf, type Invoice, type InvoiceFile, type PaymentMethod, type TimelineItem } from "./invoice.ts";
import { type BodyContext, invoiceBodyOf, methodBodyOf, paymentBodyOf } from "./invoice-body.ts";
import { isSamePair } from "./payment-method.ts";
import { recordEvents } from "./record-events.ts";
import type { InvoiceStatus } from "./status.ts";
import { insertTimelineItem, selectInvoiceRow, updateInvoice } from "./store.ts";

export interface ChangeEffects {
  readonly db: Db;
  readonly body: BodyContext;
  readonly sleep: Sleep;
  readonly nowMs: number;
  /** Who changes invoices: whoever asked for it, or nobody where the clock did. */
  readonly trail: Trail;
  newOperationId(): string;
}

/** What a decision wants changed. At least one event: its sequence is the lock. */
export interface Change {
  readonly columns: Partial<Invoice>;
  readonly customer?: Customer;
  /** Methods as they are after the change; others stay. */
  readonly methods?: readonly PaymentMethod[];
  /** Payments as they are after the change, new ones too; others stay. */
  readonly payments?: readonly Payment[];
  /** Status after each move, in order. */
  readonly moves?: readonly InvoiceStatus[];
  readonly events: readonly [ChangeEvent, ...ChangeEvent[]];
  readonly audit: Pick<AuditEntry, "action" | "before" | "after">;
  /** Facts that it rests on without owning them, asserted before anything is written. */
  readonly asserts?: readonly BatchItem<"sqlite">[];
  /** Writes beyond the invoice's own row: amounts, mirrors, customers. */
  readonly statements?: readonly BatchItem<"sqlite">[];
}

export interface ChangeEvent {
  readonly type: EventType;
  readonly previousStatus?: InvoiceStatus | undefined;
  /** The method that a `payment.*` event tells of. */
  readonly method?: PaymentMethod | undefined;
  /** The payment that the event tells of, by its id. */
  readonly paymentId?: PaymentId | undefined;
}

/** The invoice after the change, and the statements that make it so. */
export function buildChange(
  fx: Pick<ChangeEffects, "db" | "body" | "nowMs" | "trail">,
  file: InvoiceFile,
  change: Change,
  operationId: string,
): { readonly file: InvoiceFile; readonly statements: readonly BatchItem<"sqlite">[] } {
  const moves = change.moves ?? [];
  const items = moves.map(
    (status, n): TimelineItem => ({
      id: derivedId("itl", operationId, n),
      invoiceId: file.invoice.id,
      position: file.invoice.timelinePosition + n + 1,
      paymentStatus: status,
      timeMs: fx.nowMs,
    }),
  );
  const columns: Partial<Invoice> = {
    ...change.columns,
    ...(moves.length === 0 ? {} : { status: moves.at(-1) ?? file.invoice.status }),
    timelinePosition: file.invoice.timelinePosition + items.length,
    eventSequence: file.invoice.eventSequence + change.events.length,
    updatedAtMs: fx.nowMs,
  };
  const after: InvoiceFile = {
    ...file,
    invoice: { ...file.invoice, ...columns },
    customer: change.customer ?? file.customer,
    methods: mergeMethods(file.methods, change.methods ?? []),
    payments: mergePayments(file.payments, change.payments ?? []),
    timeline: [...file.timeline, ...items],
  };
  const { id: target, merchantId } = file.invoice;
  const entry = { id: derivedId("aud", operationId), merchantId, target, ...change.audit };
  return {
    file: after,
    statements: [
      ...(change.asserts ?? []),
      ...recordChange(fx, file, after, change, operationId),
      insertAudit(fx.db, fx.trail, entry, fx.nowMs),
      updateInvoice(fx.db, file.invoice, columns),
      ...items.map((item) => insertTimelineItem(fx.db, item)),
      ...(change.payments ?? []).map((payment) => putPayment(fx.db, payment)),
      ...(change.statements ?? []),
    ],
  };
}

/**
 * Changes an invoice that was read before (or not yet). `decide` answers undefined when there is nothing to do; it is asked again with
 * fresh facts and the constraint that refused the batch. Answers the invoice as it then stands.
 */
export async function changeInvoice(
  fx: ChangeEffects,
  of: { readonly merchantId: MerchantId; readonly id: string; readonly read: InvoiceFile | undefined },
  decide: (
    file: InvoiceFile,
    conflict: BatchConflict | undefined,
    operationId: string,
  ) => Promise<Result<Change | undefined, Failure>>,
): Promise<Result<InvoiceFile, Failure>> {
  let file = of.read;
  let conflict: BatchConflict | undefined;
  for (let tries = 0; tries < 5; tries++) {
    if (tries > 0) {
      const again = await readFile(fx, of.merchantId, of.id);
      if (!again.ok) return again;
      file = again.value;
    }
    if (file === undefined) return err({ code: "INVOICE_NOT_FOUND" });
    const operationId = fx.newOperationId();
    const change = await decide(file, conflict, operationId);
    if (!change.ok) return change;
    if (change.value === undefined) return ok(file);
    const built = buildChange(fx, file, change.value, operationId);
    const sent = await commitChange(fx, derivedId("evt", operationId, 0), built.statements);
    if (sent.kind === "stands") return ok(built.file);
    if (sent.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (!isContention(sent.conflict)) throw new Error(`a change of an invoice met ${describeConflict(sent.conflict)}`);
    conflict = sent.conflict;
  }
  return err({ code: "CONTENTION" });
}

/** The invoice as it stands now; undefined when the merchant has none of this id. */
export async function readFile(
  fx: Pick<ChangeEffects, "db" | "sleep">,
  merchantId: MerchantId,
  id: InvoiceId | string,
): Promise<Result<InvoiceFile | undefined, Failure>> {
  const rows = await readWithRetry(fx.sleep, async () => selectInvoiceRow(fx.db, merchantId, id));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  return ok(row === undefined ? undefined : fileOf(row));
}

function recordChange(
  fx: Pick<ChangeEffects, "db" | "body" | "nowMs">,
  before: InvoiceFile,
  after: InvoiceFile,
  change: Change,
  operationId: string,
): readonly BatchItem<"sqlite">[] {
  const body = invoiceBodyOf(after, fx.body);
  const firstSequence = before.invoice.eventSequence + 1;
  const [first, ...more] = change.events.map(({ method, paymentId, ...event }) => {
    const payment = after.payments.find(({ id }) => id === paymentId);
    return {
      ...event,
      ...(method === undefined ? {} : { paymentMethod: methodBodyOf(after.invoice, method, fx.body) }),
      ...(payment === undefined ? {} : { payment: paymentBodyOf(payment, after.cursors) }),
    };
  });
  if (first === undefined) throw new Error("a change without an event");
  return recordEvents(fx.db, { invoice: after.invoice, firstSequence, operationId, body, nowMs: fx.nowMs }, [
    first,
    ...more,
  ]);
}

function mergeMethods(stored: readonly PaymentMethod[], changed: readonly PaymentMethod[]): readonly PaymentMethod[] {
  const kept = stored.filter((method) => !changed.some((other) => isSamePair(method, other)));
  return [...kept, ...changed];
}
