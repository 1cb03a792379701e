// Writes a change to a stored invoice as one batch, in which the unique (invoice, sequence) of its first event is the lock.

import { isSamePair } from "../../chains/registry/pair.ts";
import { derivedId, type InvoiceId, type MerchantId, type PaymentId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { AuditEntry, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { commitChange } from "../../platform/changes/commit-change.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Committed } from "../../platform/db/commit-batch.ts";
import type { BatchConflict } from "../../platform/db/conflict.ts";
import { joinStatements } from "../../platform/db/joined-statements.ts";
import { readRow } from "../../platform/db/retry.ts";
import type { Write } from "../../platform/db/statement.ts";
import { nextSequence } from "../../platform/deployment/restore-epoch.ts";
import type { EventType } from "../../platform/events/event.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Customer } from "../customers/customer.ts";
import {
  fileOf,
  type Invoice,
  type InvoiceFile,
  type PaymentMethod,
  type TimelineItem,
} from "../invoice-records/invoice.ts";
import { insertTimelineItem, selectInvoiceRow, updateInvoice } from "../invoice-records/store.ts";
import { mergePayments, type Payment } from "../payments/payment.ts";
import { paymentBodyOf } from "../payments/payment-body.ts";
import { putPayment } from "../payments/store.ts";
import { firstAskedMs } from "../quotes/quotes.ts";
import { proofMicros } from "../ranks/rank.ts";
import { addProof } from "../ranks/store.ts";
import { entriesOfChange } from "../reports/invoice-entries.ts";
import { addEntries } from "../reports/store.ts";
import { type BodyContext, invoiceBodyOf, methodBodyOf } from "./invoice-body.ts";
import { recordEvents } from "./record-events.ts";

export interface ChangeDependencies extends CommitDependencies {
  readonly body: BodyContext;
  /** The author of the change; the system if the change only follows from the clock. */
  readonly trail: Trail;
  /** Event sequences up to this one are skipped after a restore (`restore-epoch.ts`). Absent if nothing was restored. */
  readonly sequenceFloor?: number | undefined;
}

/** A change to an invoice. It has at least one event, whose sequence is the lock. */
export interface Change {
  readonly columns: Partial<Invoice>;
  readonly customer?: Customer;
  /** The changed methods, in their new state. */
  readonly methods?: readonly PaymentMethod[];
  /** The changed payments, in their new state, and new ones. */
  readonly payments?: readonly Payment[];
  /** The status after each move, in order. */
  readonly moves?: readonly InvoiceStatus[];
  readonly events: readonly [ChangeEvent, ...ChangeEvent[]];
  readonly audit: Pick<AuditEntry, "action" | "before" | "after">;
  /** Assertions about rows that the change depends on but does not write; they come first in the batch. */
  readonly asserts?: readonly Write[];
  /** Writes to other tables: amounts, wallets' counters, customers. */
  readonly statements?: readonly Write[];
  /** Runs after the commit and before the response; must not throw. */
  readonly afterwards?: () => Promise<void>;
}

export interface ChangeEvent {
  readonly type: EventType;
  readonly previousStatus?: InvoiceStatus | undefined;
  /** The payment method that a `payment.*` event is about. */
  readonly method?: PaymentMethod | undefined;
  /** The id of the payment that the event is about. */
  readonly paymentId?: PaymentId | undefined;
}

export function buildChange(
  deps: Pick<ChangeDependencies, "db" | "body" | "nowMs" | "trail" | "sequenceFloor">,
  file: InvoiceFile,
  change: Change,
  operationId: string,
): { readonly file: InvoiceFile; readonly statements: readonly Write[] } {
  const moves = change.moves ?? [];
  const items = moves.map(
    (status, n): TimelineItem => ({
      id: derivedId("itl", operationId, n),
      invoiceId: file.invoice.id,
      position: file.invoice.timelinePosition + n + 1,
      paymentStatus: status,
      timeMs: deps.nowMs,
    }),
  );
  const columns = {
    ...change.columns,
    ...(moves.length === 0 ? {} : { status: moves.at(-1) ?? file.invoice.status }),
    timelinePosition: file.invoice.timelinePosition + items.length,
    eventSequence: nextSequence(file.invoice.eventSequence, deps.sequenceFloor) + change.events.length - 1,
    updatedAtMs: deps.nowMs,
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
      ...recordChange(deps, file, after, change, operationId),
      insertAudit(deps.db, deps.trail, entry, deps.nowMs),
      ...updateInvoice(deps.db, file.invoice, columns),
      ...items.map((item) => insertTimelineItem(deps.db, item)),
      ...knownFirst(file.payments, change.payments ?? []).map((payment) => putPayment(deps.db, payment)),
      ...proofStatements(deps.db, file, change.payments ?? []),
      ...addEntries(deps.db, entriesOfChange(file, after)),
      ...(change.statements ?? []),
    ],
  };
}

/** New rows come last, because one of them may take over the identity of an existing row. */
function knownFirst(stored: readonly Payment[], changed: readonly Payment[]): readonly Payment[] {
  const isKnown = ({ id }: Payment) => stored.some((each) => each.id === id);
  return [...changed.filter(isKnown), ...changed.filter((payment) => !isKnown(payment))];
}

/**
 * Adds to the merchant's proof for an address or key what the changed payments newly prove, and subtracts what they no longer prove. One statement
 * for each wallet and address.
 */
function proofStatements(db: Db, { methods, payments }: InvoiceFile, changed: readonly Payment[]): readonly Write[] {
  const proofs = changed.flatMap((after) => {
    const before = payments.find(({ id }) => id === after.id);
    const { toAddress: address, merchantId } = after;
    const paid = methods.find((method) => isSamePair(method, after) && method.address === address);
    if (paid === undefined) return [];
    const askedFromMs = firstAskedMs(paid, after.amountUnits);
    const usdMicros = proofMicros(after, askedFromMs) - (before === undefined ? 0n : proofMicros(before, askedFromMs));
    return [{ merchantId, walletId: paid.walletId, address, usdMicros }];
  });
  const wallets = Map.groupBy(proofs, ({ walletId, address }) => `${walletId} ${address}`);
  return [...wallets.values()].flatMap((all) => {
    const usdMicros = all.reduce((sum, each) => sum + each.usdMicros, 0n);
    const [first] = all;
    return first === undefined || usdMicros === 0n ? [] : [addProof(db, { ...first, usdMicros })];
  });
}

/**
 * Returns the invoice after the change. `decide` returns undefined when there is nothing to change. After an aborted batch it is called again,
 * with fresh facts and the constraint that failed.
 */
export function changeInvoice(
  deps: ChangeDependencies,
  of: { readonly merchantId: MerchantId; readonly id: string; readonly read: InvoiceFile | undefined },
  decide: (
    file: InvoiceFile,
    conflict: BatchConflict | undefined,
    operationId: string,
  ) => Promise<Result<Change | undefined, Failure>>,
): Promise<Result<InvoiceFile, Failure>> {
  const read = async (tries: number): Promise<Result<InvoiceFile, Failure>> => {
    if (tries > 0) return readFile(deps, of.merchantId, of.id);
    return of.read === undefined ? err({ code: "INVOICE_NOT_FOUND" }) : ok(of.read);
  };
  return change(deps, { name: "a change of an invoice", read }, async (file, { conflict, operationId }) => {
    const decided = await decide(file, conflict, operationId);
    if (!decided.ok) return decided;
    if (decided.value === undefined) return ok({ value: file });
    const built = buildChange(deps, file, decided.value, operationId);
    // Joined statements: a hundred payments in one change need hardly more statements than one.
    const { afterwards } = decided.value;
    return ok({ value: built.file, statements: joinStatements([built.statements]), afterwards });
  });
}

/**
 * Changes several invoices in one batch, without reading them again: all of them or none. `decide` returns undefined for an invoice that does not
 * change.
 */
export async function changeAll(
  deps: ChangeDependencies,
  files: readonly InvoiceFile[],
  decide: (file: InvoiceFile) => Change | undefined,
): Promise<Committed["kind"]> {
  const changes = files.flatMap((file) => {
    const decided = decide(file);
    if (decided === undefined) return [];
    const operationId = deps.newOperationId();
    return [{ operationId, ...buildChange(deps, file, decided, operationId) }];
  });
  return commitAll(deps, changes);
}

/** Further statements in a batch of several changes. */
interface Around {
  /** Assertions that the rows are unchanged since they were read; they come first in the batch. */
  readonly asserts: readonly Write[];
  /** Writes that must come after the writes of all changes. */
  readonly after: readonly Write[];
}

/** Writes changes to different invoices as one batch: all of them or none. */
export async function commitAll(
  deps: CommitDependencies,
  changes: readonly { readonly operationId: string; readonly statements: readonly Write[] }[],
  { asserts, after }: Around = { asserts: [], after: [] },
): Promise<Committed["kind"]> {
  const [first] = changes;
  if (first === undefined) return "committed";
  const statements = [...asserts, ...joinStatements(changes.map((each) => each.statements)), ...after];
  return (await commitChange(deps, derivedId("aud", first.operationId), statements)).kind;
}

/** Reads the invoice. Fails with INVOICE_NOT_FOUND or STORAGE_UNAVAILABLE. */
export async function readFile(
  deps: Pick<ChangeDependencies, "db" | "sleep">,
  merchantId: MerchantId,
  id: InvoiceId | string,
): Promise<Result<InvoiceFile, Failure>> {
  const row = await readRow(deps.sleep, () => selectInvoiceRow(deps.db, merchantId, id), { code: "INVOICE_NOT_FOUND" });
  return row.ok ? ok(fileOf(row.value)) : row;
}

function recordChange(
  deps: Pick<ChangeDependencies, "db" | "body" | "nowMs" | "sequenceFloor">,
  before: InvoiceFile,
  after: InvoiceFile,
  change: Change,
  operationId: string,
): readonly Write[] {
  const body = invoiceBodyOf(after, deps.body);
  const firstSequence = nextSequence(before.invoice.eventSequence, deps.sequenceFloor);
  const [first, ...more] = change.events.map(({ method, paymentId, ...event }) => {
    const payment = after.payments.find(({ id }) => id === paymentId);
    return {
      ...event,
      ...(method === undefined ? {} : { paymentMethod: methodBodyOf(after.invoice, method, deps.body) }),
      ...(payment === undefined ? {} : { payment: paymentBodyOf(payment, after.cursors) }),
    };
  });
  if (first === undefined) throw new Error("a change has no event");
  const hasMoney = after.payments.some(({ status }) => status === "CONFIRMED");
  const context = { invoice: after.invoice, firstSequence, operationId, body, hasMoney, nowMs: deps.nowMs };
  return recordEvents(deps.db, context, [first, ...more]);
}

function mergeMethods(stored: readonly PaymentMethod[], changed: readonly PaymentMethod[]): readonly PaymentMethod[] {
  const kept = stored.filter((method) => !changed.some((other) => isSamePair(method, other)));
  return [...kept, ...changed];
}
