// Applies a change that the service's rules decided for an invoice: the new rows, the amounts asked for from then on, and the events.
import { isSamePair } from "../../src/chains/registry/pair.ts";
import type { Invoice, InvoiceFile, PaymentMethod } from "../../src/commerce/invoice-records/invoice.ts";
import { isQuoteOver, lockEndMs } from "../../src/commerce/invoice-records/invoice.ts";
import type { Change, ChangeEvent } from "../../src/commerce/invoices/change-invoice.ts";
import { settlementChange } from "../../src/commerce/invoices/settle-invoice.ts";
import { quotedMethod, quoteMethod, withRemainder } from "../../src/commerce/payment-methods/payment-method.ts";
import { lacksRest, restUnits } from "../../src/commerce/payment-methods/rest.ts";
import { isActive, isDue } from "../../src/commerce/settlement/status.ts";
import { usedBy } from "../../src/commerce/settlement/weighing.ts";
import { fixedRateTable } from "../../src/rates/fixed-rates.ts";
import { recordChange } from "./events.ts";
import { allowed } from "./refusal.ts";
import { type FakeState, fileOf } from "./state.ts";
import { amountFor } from "./wallets.ts";

/** A change without the fields that only the service's tables need. */
type Decided = Pick<Change, "columns" | "methods" | "payments" | "moves"> & {
  readonly events: readonly ChangeEvent[];
};

/** Stores the change, and returns the invoice after it. */
export function carryOut(state: FakeState, file: InvoiceFile, change: Decided): InvoiceFile {
  const { columns, methods = [], payments = [], moves = [], events } = change;
  const { id, timelinePosition, eventSequence, status } = file.invoice;
  const items = moves.map((paymentStatus, n) => ({
    id: state.newId("itl"),
    invoiceId: id,
    position: timelinePosition + n + 1,
    paymentStatus,
    timeMs: state.now(),
  }));
  const invoice: Invoice = {
    ...file.invoice,
    ...columns,
    status: moves.at(-1) ?? columns.status ?? status,
    timelinePosition: timelinePosition + items.length,
    eventSequence: eventSequence + events.length,
    updatedAtMs: state.now(),
  };
  const kept = file.methods.filter((method) => !methods.some((other) => isSamePair(method, other)));
  state.invoices.set(id, { invoice, methods: [...kept, ...methods], timeline: [...file.timeline, ...items] });
  for (const payment of payments) state.payments.set(payment.id, payment);
  const after = fileOf(state, id);
  recordChange(state, after, events);
  return after;
}

/** The current invoice: settled if that is due, and with new quotes in place of expired ones. */
export function currentFile(state: FakeState, id: string): InvoiceFile {
  const file = fileOf(state, id);
  const due = isDue(file.invoice, state.now()) ? settlementChange(file, state.now()) : undefined;
  return requoted(state, due === undefined ? file : carryOut(state, file, due));
}

function requoted(state: FakeState, file: InvoiceFile): InvoiceFile {
  const { invoice } = file;
  const nowMs = state.now();
  const isAny = invoice.amountMicros === 0n;
  const forMicros = isAny ? 0n : invoice.amountMicros - invoice.receivedMicros;
  const asked = { currency: invoice.currency, amountMicros: forMicros };
  const methods = file.methods
    .filter((method) => isQuoteOver(invoice, method, nowMs))
    .map((method) => {
      const quote = allowed(quoteMethod({ invoice: asked, wallet: method, table: fixedRateTable(nowMs), nowMs }));
      const amountUnits = quote.amountUnits === null ? null : amountFor(state, invoice, method, quote.amountUnits);
      const of = { forMicros, nowMs, lockedUntilMs: lockEndMs(invoice, nowMs), isUsed: usedBy(file.payments) };
      return quotedMethod(method, { ...of, quote: { ...quote, amountUnits } });
    });
  if (methods.length === 0) return file;
  const events = methods.map((method) => ({ type: "payment.updated" as const, method }));
  const quoted = file.methods.map((method) => methods.find((other) => isSamePair(method, other)) ?? method);
  // The new quote may apply to a payment that was made before it.
  const settled: Decided | undefined = settlementChange({ ...file, methods: quoted }, nowMs);
  const { columns = {}, payments = [], moves = [], events: more = [] } = settled ?? {};
  return carryOut(state, file, { columns, payments, moves, methods, events: [...events, ...more] });
}

/** The change, together with an amount for the remainder after a partial payment (the service's reserve-remainder.ts). */
export function withRests(state: FakeState, file: InvoiceFile, change: Decided): Decided {
  const { invoice } = file;
  const { status, receivedMicros } = { ...invoice, ...change.columns };
  const after = change.moves?.at(-1) ?? status;
  const isSame = receivedMicros === invoice.receivedMicros && after === invoice.status;
  const mayBeAdded = isActive(after) || after === "UNDERPAID";
  const methods = file.methods.flatMap((method): readonly PaymentMethod[] => {
    if (method.status !== "ACTIVE" || (isSame && !lacksRest(invoice, method))) return [];
    const due = mayBeAdded ? restUnits(method, invoice, receivedMicros) : null;
    const remainderUnits = due === null ? null : amountFor(state, invoice, method, due);
    if (remainderUnits === method.remainderUnits) return [];
    const forMicros = invoice.amountMicros - receivedMicros;
    const of = { remainderUnits, forMicros, nowMs: state.now(), isUsed: usedBy(file.payments) };
    return [withRemainder(method, of)];
  });
  return methods.length === 0 ? change : { ...change, methods };
}
