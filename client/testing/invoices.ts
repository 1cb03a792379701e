// Invoices of the fake: created, read, changed, cancelled, decided by hand, and their payment methods.
import { formatMicros, formatUnits } from "../../src/lib/money.ts";
import type * as Api from "../api-types.ts";
import type { NewInvoice } from "../resources.ts";
import { microsOf } from "./amounts.ts";
import { change as changeRow, customerWithEmail, newCustomer } from "./catalogue.ts";
import { type News, record } from "./events.ts";
import { amountsFor, type Pair, pairNamed, paymentUri, priceUnits, rateOf } from "./pairs.ts";
import { invalid, Refused, ruleProblem } from "./refusal.ts";
import { methodOf, paymentsOf, settle } from "./settle.ts";
import { type FakeInvoice, type FakeMethod, type FakeState, timeOf } from "./state.ts";

/** At first, of every merchant. */
const LIFETIME_SECONDS = 3_600;
const MONITOR_SECONDS = 86_400;
const PUBLIC_SECONDS = 86_400;

export function createInvoice(state: FakeState, body: NewInvoice, isPublic: boolean): FakeInvoice {
  const pairs = namedPairs(body.paymentMethods);
  const same = [...state.invoices.values()].find(
    (each) => body.externalId !== undefined && each.body.externalId === body.externalId,
  );
  if (same !== undefined) throw new Refused("EXTERNAL_ID_EXISTS", { invoiceId: same.body.id });
  const { name, micros, currency, product } = termsOf(state, body, isPublic);
  const chosen = chosenPairs(state, pairs, micros);
  const customer = customerOfInvoice(state, body, isPublic);
  const at = timeOf(state);
  const asked = body.expiresInSeconds ?? LIFETIME_SECONDS;
  const seconds = isPublic ? Math.min(asked, PUBLIC_SECONDS) : asked;
  const later = (ms: number) => new Date(state.now() + ms).toISOString();
  const id = state.newId("inv");
  const shown: Api.Invoice = {
    id,
    merchantId: state.merchantId,
    customerId: customer?.id ?? null,
    productId: product?.id ?? null,
    name,
    description: body.description ?? null,
    redirectUrl: body.redirectUrl ?? null,
    rawAmount: formatMicros(micros),
    endAmount: formatMicros(micros),
    currency,
    status: "AWAITING_PAYMENT",
    expiresAt: later(seconds * 1_000),
    createdAt: at,
    updatedAt: at,
    customer: shownCustomer(customer),
    product: product ?? null,
    payments: [],
    invoiceTimeline: [],
    metadata: body.metadata === undefined ? null : { ...body.metadata },
    externalId: body.externalId ?? null,
    origin: isPublic ? "PUBLIC_KEY" : "API",
    checkoutUrl: `${state.origin}/pay/${id}`,
    paymentMethods: [],
    amountReceived: formatMicros(0n),
    amountConfirmed: formatMicros(0n),
    isLate: false,
    needsReview: false,
    resolution: null,
    warnings: state.wallets.length === 0 ? ["NO_ENABLED_WALLET"] : [],
    monitorUntil: later((seconds + MONITOR_SECONDS) * 1_000),
  };
  shown.invoiceTimeline.push({ id: state.newId("itl"), invoiceId: id, paymentStatus: "AWAITING_PAYMENT", time: at });
  const nothing = { receivedMicros: 0n, confirmedMicros: 0n, sequence: 0, isCancelled: false, isAccepted: false };
  const invoice: FakeInvoice = { body: shown, expectedMicros: micros, methods: [], ...nothing };
  state.invoices.set(id, invoice);
  const active = chosen.flatMap((pair) => activated(state, invoice, pair));
  record(state, invoice, [{ type: "invoice.created" }, ...active]);
  return invoice;
}

/** Settled by the clock first. */
export function invoiceOf(state: FakeState, id: string): FakeInvoice {
  const invoice = state.invoices.get(id);
  if (invoice === undefined) throw new Refused("INVOICE_NOT_FOUND");
  settle(state, invoice);
  return invoice;
}

export function updateInvoice(state: FakeState, id: string, body: Api.UpdateInvoiceBody): FakeInvoice {
  const invoice = invoiceOf(state, id);
  const { status } = invoice.body;
  if (status !== "AWAITING_PAYMENT") throw new Refused("INVOICE_NOT_EDITABLE", { status });
  const { name, description, redirectUrl, metadata } = body;
  const before = JSON.stringify(invoice.body);
  const customer = customerOfInvoice(state, body, false, invoice.body.customerId);
  const about = customer === undefined ? {} : { customerId: customer.id, customer: shownCustomer(customer) };
  changeRow(state, invoice.body, { name, description, redirectUrl, metadata, ...about });
  if (JSON.stringify(invoice.body) !== before) record(state, invoice, [{ type: "invoice.updated" }]);
  return invoice;
}

export function cancelInvoice(state: FakeState, id: string): FakeInvoice {
  const invoice = invoiceOf(state, id);
  if (paymentsOf(state, invoice).length > 0) throw new Refused("INVOICE_HAS_PAYMENTS");
  const { status } = invoice.body;
  if (status !== "AWAITING_PAYMENT") throw new Refused("INVOICE_NOT_CANCELLABLE", { status });
  invoice.isCancelled = true;
  invoice.body.monitorUntil = new Date(state.now() + MONITOR_SECONDS * 1_000).toISOString();
  settle(state, invoice);
  return invoice;
}

/** By hand. `actor`: the key that decides. */
export function resolveInvoice(state: FakeState, id: string, body: Api.ResolveInvoiceBody, actor: string): FakeInvoice {
  const invoice = invoiceOf(state, id);
  const { action, reason, txHash = null } = body;
  const isAccepting = action === "ACCEPT";
  if (!isAccepting && !invoice.body.needsReview) throw new Refused("NOTHING_TO_REVIEW");
  const { status } = invoice.body;
  if (isAccepting && !["AWAITING_PAYMENT", "EXPIRED", "UNDERPAID", "CANCELLED"].includes(status))
    throw new Refused("INVOICE_NOT_RESOLVABLE", { status });
  invoice.isAccepted ||= isAccepting;
  invoice.body.needsReview = false;
  invoice.body.resolution = { action, reason, actor, at: timeOf(state), txHash };
  invoice.body.updatedAt = timeOf(state);
  if (isAccepting) settle(state, invoice);
  else record(state, invoice, [{ type: "invoice.updated" }]);
  return invoice;
}

/** Whether the method was made now, and how it is shown. */
export function activate(state: FakeState, id: string, body: Api.ActivatePaymentMethodBody) {
  const invoice = invoiceOf(state, id);
  const pair = pairNamed(body);
  if (pair === undefined) throw pairRefused("UNSUPPORTED_PAIR", body);
  const shown = () => shownMethods(state, invoice).find((each) => isOf(each, pair));
  if (methodOf(invoice, pair) !== undefined) return { status: 200, body: shown() };
  const { status } = invoice.body;
  if (status !== "AWAITING_PAYMENT") throw new Refused("INVOICE_NOT_PAYABLE", { status });
  if (walletFor(state, pair) === undefined) throw pairRefused("NO_ENABLED_WALLET", pair);
  if (invoice.expectedMicros === 0n) throw new Refused("ANY_AMOUNT_NEEDS_OWN_ADDRESS");
  const news = activated(state, invoice, pair);
  invoice.body.updatedAt = timeOf(state);
  record(state, invoice, news);
  return { status: 201, body: shown() };
}

/** Active ones, and those that can be picked. */
export function shownMethods(state: FakeState, { body, expectedMicros }: FakeInvoice): Api.PaymentMethod[] {
  const active = body.paymentMethods.filter(({ status }) => status === "ACTIVE");
  const others = state.wallets.filter(
    (wallet) =>
      !active.some((each) => each.cryptocurrency === wallet.cryptocurrency && each.network === wallet.network),
  );
  const closed = body.status === "AWAITING_PAYMENT" ? null : "INVOICE_NOT_PAYABLE";
  const reason = closed ?? (expectedMicros === 0n ? "ANY_AMOUNT_NEEDS_OWN_ADDRESS" : null);
  return [...active, ...others.map((wallet) => blankMethod(wallet, reason))];
}

/** Of settlement and of the merchant's own. */
const HIDDEN = ["amountConfirmed", "isLate", "needsReview", "resolution", "warnings", "monitorUntil", "origin"];

/** What a public key is shown. */
export function publicBody(body: Api.Invoice): object {
  const open = Object.fromEntries(Object.entries(body).filter(([name]) => !HIDDEN.includes(name)));
  const payments = body.payments.map((payment) => ({ ...payment, fromAddress: null }));
  return { ...open, customerId: null, customer: null, metadata: null, externalId: null, payments };
}

interface Terms {
  readonly name: string;
  readonly micros: bigint;
  readonly currency: string;
  readonly product: Api.Product | undefined;
}

function termsOf(state: FakeState, body: NewInvoice, isPublic: boolean): Terms {
  const product = body.productId === undefined ? undefined : state.products.get(body.productId);
  const isShown = product?.deletedAt === null && (product.isActive || !isPublic);
  if (body.productId !== undefined && !isShown) throw new Refused("PRODUCT_NOT_FOUND");
  if (product?.isActive === false) throw new Refused("PRODUCT_NOT_AVAILABLE");
  const { name = product?.name ?? "", rawAmount, currency = product?.currency ?? "USD" } = body;
  const micros = microsOf(rawAmount ?? Number(product?.price ?? 0));
  const isOther = product !== undefined && (formatMicros(micros) !== product.price || currency !== product.currency);
  if (isPublic && isOther && Number(product.price) > 0) throw new Refused("PRICE_IS_FIXED");
  if (rawAmount === undefined && product !== undefined && currency !== product.currency)
    throw invalid([ruleProblem("productCurrency", product)]);
  return { name, micros, currency, product };
}

function namedPairs(named: NewInvoice["paymentMethods"]): readonly Pair[] | undefined {
  return named?.map((each, place) => {
    const pair = pairNamed(each);
    if (pair === undefined) throw pairRefused("UNSUPPORTED_PAIR", each);
    if (named.slice(0, place).some((other) => pairNamed(other) === pair))
      throw invalid([ruleProblem("duplicate", { place })]);
    return pair;
  });
}

/** The named ones, or the only one there is. */
function chosenPairs(state: FakeState, named: readonly Pair[] | undefined, micros: bigint): readonly Pair[] {
  if (named !== undefined) {
    const without = named.find((pair) => walletFor(state, pair) === undefined);
    if (without !== undefined) throw pairRefused("NO_ENABLED_WALLET", without);
    return named;
  }
  const all = state.wallets.flatMap((wallet) => pairNamed(wallet) ?? []);
  return all.length === 1 && micros > 0n ? all : [];
}

function pairRefused(
  code: "UNSUPPORTED_PAIR" | "NO_ENABLED_WALLET",
  { cryptocurrency, network }: Pick<Pair, "cryptocurrency" | "network">,
): Refused {
  return new Refused(code, { cryptocurrency, network });
}

function walletFor(state: FakeState, pair: Pair): Api.Wallet | undefined {
  return state.wallets.find((wallet) => isOf(wallet, pair));
}

function isOf(of: { readonly cryptocurrency: string; readonly network: string }, pair: Pair): boolean {
  return of.cryptocurrency === pair.cryptocurrency && of.network === pair.network;
}

/** Locks the rate and an amount that no other open invoice of the address asks for. Gives the event, none where it cannot be. */
function activated(state: FakeState, invoice: FakeInvoice, pair: Pair): News[] {
  const wallet = walletFor(state, pair);
  const { body, expectedMicros, methods } = invoice;
  if (wallet?.address == null) return [];
  if (expectedMicros === 0n) {
    body.paymentMethods.push(blankMethod(wallet, "ANY_AMOUNT_NEEDS_OWN_ADDRESS"));
    return [];
  }
  const rate = rateOf(pair, body.currency);
  const amountUnits = freeAmount(state, pair, priceUnits(pair, expectedMicros, rate));
  const method: FakeMethod = {
    pair,
    rate,
    amountUnits,
    forMicros: expectedMicros,
    atMs: state.now(),
    restUnits: undefined,
  };
  methods.push(method);
  const amount = formatUnits(amountUnits, pair.decimals);
  const at = timeOf(state);
  const paymentMethod: Api.PaymentMethod = {
    cryptocurrency: pair.cryptocurrency,
    network: pair.network,
    status: "ACTIVE",
    reason: null,
    address: wallet.address,
    amount,
    amountDue: amount,
    rate,
    rateAt: at,
    quotedAt: at,
    paymentUri: paymentUri(pair, wallet.address, amountUnits),
    requiredConfirmations: wallet.requiredConfirmations,
  };
  const place = body.paymentMethods.findIndex((each) => isOf(each, pair));
  if (place === -1) body.paymentMethods.push(paymentMethod);
  else body.paymentMethods[place] = paymentMethod;
  return [{ type: "payment.created", facts: { paymentMethod } }];
}

/** Amounts stay taken while the invoice is watched. */
function freeAmount(state: FakeState, pair: Pair, price: bigint): bigint {
  const watched = [...state.invoices.values()].filter(({ body }) => Date.parse(body.monitorUntil) >= state.now());
  const taken = new Set(watched.flatMap((invoice) => methodOf(invoice, pair)?.amountUnits ?? []));
  for (const units of amountsFor(pair, price)) if (!taken.has(units)) return units;
  throw new Error(`every amount near ${price} is taken: the fake has too many open invoices of one price`);
}

function blankMethod(wallet: Api.Wallet | Api.PaymentMethod, reason: string | null): Api.PaymentMethod {
  const { cryptocurrency, network, requiredConfirmations } = wallet;
  return {
    cryptocurrency,
    network,
    status: reason === null ? "AVAILABLE" : "UNAVAILABLE",
    reason,
    address: null,
    amount: null,
    amountDue: null,
    rate: null,
    rateAt: null,
    quotedAt: null,
    paymentUri: null,
    requiredConfirmations,
  };
}

type Named = Pick<NewInvoice, "customerEmail" | "customerName" | "customerAddress" | "customerPhoneNumber">;

/** The customer that a request names: by email, else the invoice's own, else a new one. A public key changes none. */
function customerOfInvoice(
  state: FakeState,
  { customerEmail, customerName, customerAddress, customerPhoneNumber }: Named,
  isPublic: boolean,
  ownId: string | null = null,
): Api.Customer | undefined {
  const given = {
    name: customerName,
    address: customerAddress,
    phoneNumber: customerPhoneNumber,
    email: customerEmail,
  };
  if (Object.values(given).every((value) => value === undefined)) return undefined;
  if (isPublic && customerEmail === undefined) return undefined;
  const own = ownId === null ? undefined : state.customers.get(ownId);
  const isOwns = customerEmail === undefined || own?.email === null;
  const live = own?.deletedAt === null && isOwns ? own : undefined;
  const known = (customerEmail === undefined ? undefined : customerWithEmail(state, customerEmail)) ?? live;
  if (known === undefined) return newCustomer(state, given);
  return isPublic ? known : changeRow(state, known, given);
}

function shownCustomer(customer: Api.Customer | undefined): Api.Invoice["customer"] {
  if (customer === undefined) return null;
  const { metadata: _, deletedAt: __, ...shown } = customer;
  return shown;
}

/** How an invoice is shown: its customer and product as they are now. */
export function shownInvoice(state: FakeState, { body }: FakeInvoice): Api.Invoice {
  const customer = body.customerId === null ? undefined : state.customers.get(body.customerId);
  const product = body.productId === null ? null : (state.products.get(body.productId) ?? null);
  return { ...body, customer: shownCustomer(customer), product };
}

/** A prefix of the name, or an exact id, reference or email. */
export function isFound(state: FakeState, { body }: FakeInvoice, text: string): boolean {
  const email = body.customerId === null ? undefined : state.customers.get(body.customerId)?.email?.toLowerCase();
  return body.name.startsWith(text) || [body.id, body.externalId].includes(text) || email === text.toLowerCase();
}
