// The fake's invoices: created, changed, cancelled, decided by hand, and their payment methods.
import { isSamePair, type Pair } from "../../src/chains/registry/pair.ts";
import { type Customer, namesCustomer, newCustomer, withFields } from "../../src/commerce/customers/customer.ts";
import type { Invoice, InvoiceFile, PaymentMethod } from "../../src/commerce/invoice-records/invoice.ts";
import {
  isMarked,
  resolutionRefusal,
  resolvedColumns,
  withResolution,
} from "../../src/commerce/invoice-records/resolution.ts";
import { type NewInvoice, planInvoice } from "../../src/commerce/invoices/create-invoice.ts";
import { settlementChange } from "../../src/commerce/invoices/settle-invoice.ts";
import {
  activeMethod,
  quoteMethod,
  unavailableMethod,
  walletRefusal,
  withRemainder,
} from "../../src/commerce/payment-methods/payment-method.ts";
import { restUnits } from "../../src/commerce/payment-methods/rest.ts";
import type { Wallet } from "../../src/commerce/wallet-records/wallet.ts";
import { emailKeyOf } from "../../src/lib/email.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";
import { isoTime, SECOND_MS } from "../../src/lib/time.ts";
import type { Failure } from "../../src/platform/failures.ts";
import { fixedRateTable } from "../../src/rates/fixed-rates.ts";
import { customerWithEmail } from "./catalogue.ts";
import { carryOut, currentFile } from "./changes.ts";
import { recordChange } from "./events.ts";
import { allowed, Refused } from "./refusal.ts";
import type { Body } from "./requests.ts";
import { type FakeState, fileOf } from "./state.ts";
import { amountFor, payableWallets, walletFor } from "./wallets.ts";

export function createInvoice(state: FakeState, wanted: NewInvoice, isPublic: boolean): InvoiceFile {
  const { customerEmail, externalId, productId } = wanted;
  const known = customerEmail === undefined ? undefined : customerWithEmail(state, customerEmail);
  const named = [...state.invoices.values()].find(
    ({ invoice }) => externalId !== undefined && invoice.externalId === externalId,
  );
  const facts = {
    wallets: payableWallets(state),
    customer: known,
    product: state.products.get(productId ?? ""),
    sameExternalId: named?.invoice.id,
  };
  const { merchant } = state;
  const origin = isPublic ? "PUBLIC_KEY" : "API";
  const request = { merchant, origin, callers: [], invoice: wanted, facts } as const;
  const plan = planInvoice(contextOf(state), request, state.newId("inv").slice("inv_".length));
  if ("code" in plan) throw new Refused(plan);
  const customer = plan.customer === undefined ? undefined : putCustomer(state, plan.customer, known);
  const planned: Invoice = { ...plan.invoice, customerId: customer?.id ?? null };
  const methods = plan.toActivate.map((wallet) => {
    const activated = activate(state, planned, wallet);
    return activated.ok ? activated.value : unavailableMethod(planned, wallet, activated.error.code);
  });
  const active = methods.filter(({ status }) => status === "ACTIVE");
  const invoice: Invoice = { ...planned, eventSequence: 1 + active.length };
  const { id: invoiceId, status: paymentStatus, createdAtMs: timeMs } = invoice;
  const item = { id: state.newId("itl"), invoiceId, position: 1, paymentStatus, timeMs };
  state.invoices.set(invoiceId, { invoice, methods, timeline: [item] });
  const activations = active.map((method) => ({ type: "payment.created" as const, method }));
  const made = fileOf(state, invoiceId);
  recordChange(state, made, [{ type: "invoice.created" }, ...activations]);
  return made;
}

/** Stores the customer of an invoice. A new customer gets an id from the fake, which sorts by creation. */
function putCustomer(state: FakeState, customer: Customer, before: Customer | undefined): Customer {
  const id = before?.id ?? state.newId("cus");
  const { metadata = null } = state.customers.get(id) ?? {};
  state.customers.set(id, { metadata, ...customer, id });
  return { ...customer, id };
}

function contextOf({ macKeys, now }: FakeState) {
  return { macKeys, isWatched: () => true, nowMs: now() };
}

export function updateInvoice(state: FakeState, id: string, update: Body<"updateInvoice">): InvoiceFile {
  const file = currentFile(state, id);
  const { invoice } = file;
  const { status } = invoice;
  const { metadata: notes, ...others } = update;
  const isOnlyNotes = notes !== undefined && Object.values(others).every((each) => each === undefined);
  if (status !== "AWAITING_PAYMENT" && !isOnlyNotes) throw new Refused({ code: "INVOICE_NOT_EDITABLE", status });
  const { name = invoice.name, metadata } = update;
  const { description = invoice.description, redirectUrl = invoice.redirectUrl } = update;
  const texts = { name, description, redirectUrl };
  const columns: Partial<Invoice> = {
    ...texts,
    metadata: metadata === undefined ? invoice.metadata : JSON.stringify(metadata),
    customerId: namesCustomer(update) ? customerAfter(state, file, update).id : invoice.customerId,
  };
  const isSame = Object.entries(columns).every(([column, value]) => Reflect.get(invoice, column) === value);
  const customer = columns.customerId == null ? undefined : state.customers.get(columns.customerId);
  if (isSame && customer === file.customer) return file;
  return carryOut(state, file, { columns, events: [{ type: "invoice.updated" }] });
}

/**
 * The customer after an update: the one with the given email; otherwise the invoice's own, unless that has a different email; otherwise a new
 * customer. The given fields are set.
 */
function customerAfter(state: FakeState, file: InvoiceFile, update: Body<"updateInvoice">): Customer {
  const own = file.customer?.deletedAtMs === null ? file.customer : undefined;
  const { customerEmail: email } = update;
  const isOwn = email === undefined || own?.emailKey === emailKeyOf(email);
  const named = isOwn ? own : customerWithEmail(state, email);
  // A customer without an email gets the new email; a customer with a different email is a different customer.
  const before = named ?? (own?.emailKey === null ? own : undefined);
  const nowMs = state.now();
  if (before === undefined)
    return putCustomer(
      state,
      newCustomer({ id: state.newId("cus"), merchantId: state.merchant.id }, update, nowMs),
      undefined,
    );
  const after = withFields(before, update, nowMs);
  return after.updatedAtMs === before.updatedAtMs ? before : putCustomer(state, after, before);
}

/** Like the service's cancel-invoice.ts. */
export function cancelInvoice(state: FakeState, id: string): InvoiceFile {
  const file = currentFile(state, id);
  const { status, receivedMicros, expiresAtMs, monitorSeconds } = file.invoice;
  if (receivedMicros > 0n || file.payments.length > 0) throw new Refused({ code: "INVOICE_HAS_PAYMENTS" });
  if (status !== "AWAITING_PAYMENT") throw new Refused({ code: "INVOICE_NOT_CANCELLABLE", status });
  const nowMs = state.now();
  const monitorUntilMs = Math.min(expiresAtMs, nowMs) + monitorSeconds * SECOND_MS;
  const change = settlementChange(file, nowMs, { columns: { cancelledAtMs: nowMs, monitorUntilMs } });
  if (change === undefined) throw new Error(`cancelling changes nothing of ${id}`);
  return carryOut(state, file, change);
}

/** A decision by hand. `actor`: the key that decides. */
export function resolveInvoice(state: FakeState, id: string, body: Body<"resolveInvoice">, actor: string): InvoiceFile {
  const { action, reason, txHash = null } = body;
  const file = currentFile(state, id);
  if (action === "MARK" && isMarked(file.invoice)) return file;
  const hasUnpriced = file.payments.some(({ weighedBy }) => weighedBy === "NO_RATE");
  const refusal = resolutionRefusal(file.invoice, action, { hasUnpriced, nowMs: state.now() });
  if (refusal !== undefined) throw new Refused(refusal);
  const made = { action, reason, actor, at: isoTime(state.now()), txHash };
  const resolution = withResolution(file.invoice.resolution, made);
  if (action === "MARK")
    return carryOut(state, file, { columns: { resolution }, events: [{ type: "invoice.marked" }] });
  const columns = resolvedColumns(action, resolution);
  const settled = settlementChange(file, state.now(), { columns });
  return carryOut(state, file, settled ?? { columns, events: [{ type: "invoice.updated" }] });
}

/** Adds a method, and returns whether it is new, the method, and its invoice. */
export function addMethod(state: FakeState, id: string, pair: Pair) {
  const file = currentFile(state, id);
  const { invoice, methods } = file;
  const known = methods.find((method) => method.status === "ACTIVE" && isSamePair(method, pair));
  if (known !== undefined) return { isNew: false, method: known, invoice };
  const { status } = invoice;
  if (status !== "AWAITING_PAYMENT" || state.now() > invoice.expiresAtMs)
    throw new Refused({ code: "INVOICE_NOT_PAYABLE", status });
  const wallet = walletFor(state, pair);
  if (wallet === undefined) throw new Refused({ code: "NO_ENABLED_WALLET", ...pair });
  const method = allowed(activate(state, invoice, wallet));
  const after = carryOut(state, file, {
    columns: {},
    methods: [method],
    events: [{ type: "payment.created", method }],
  });
  return { isNew: true, method, invoice: after.invoice };
}

/** Locks the rate and an amount that no other open invoice at the address asks for. */
function activate(state: FakeState, invoice: Invoice, wallet: Wallet): Result<PaymentMethod, Failure> {
  const { nowMs, ...context } = contextOf(state);
  const refusal = walletRefusal(wallet, { ...context, nowMs, amountMicros: invoice.amountMicros });
  if (refusal !== undefined) return err(refusal);
  const quote = quoteMethod({ invoice, wallet, table: fixedRateTable(nowMs), nowMs });
  if (!quote.ok) return quote;
  const { address } = wallet;
  const { amountUnits: priceUnits } = quote.value;
  if (address === null || priceUnits === null) throw new Error(`no address or amount: ${wallet.id}`);
  const destination = { address, addressIndex: null, amountUnits: amountFor(state, invoice, wallet, priceUnits) };
  const plain = activeMethod({ ...context, nowMs, invoice, wallet, quote: quote.value, destination });
  const { amountMicros, receivedMicros } = invoice;
  const due = restUnits(plain, invoice, receivedMicros);
  if (due === null) return ok(plain);
  const remainderUnits = amountFor(state, invoice, wallet, due);
  const forMicros = amountMicros - receivedMicros;
  return ok(withRemainder(plain, { remainderUnits, forMicros, nowMs, isUsed: () => false }));
}

/** Whether a search finds the invoice: by a prefix of the name, or an exact id, reference or email. */
export function isFound({ invoice, customer }: InvoiceFile, text: string): boolean {
  const { name, id, externalId } = invoice;
  return name.startsWith(text) || id === text || externalId === text || customer?.emailKey === emailKeyOf(text);
}
