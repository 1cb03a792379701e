// The fake's operations, by operationId: each turns a request into the work that answers it.
import { canonicalPairs } from "../../src/chains/registry/pair.ts";
import { customerBodyOf, locatedCustomerBodyOf } from "../../src/commerce/customers/customer-body.ts";
import type { InvoiceFile } from "../../src/commerce/invoice-records/invoice.ts";
import { advisedBodyOf } from "../../src/commerce/invoices/advise-invoice.ts";
import { asksMoreThanPublic } from "../../src/commerce/invoices/contract.ts";
import { invoiceBodyOf, methodBodyOf, publicInvoiceBody } from "../../src/commerce/invoices/invoice-body.ts";
import { listMethods } from "../../src/commerce/invoices/list-methods.ts";
import { isSeen } from "../../src/commerce/payments/payment.ts";
import { paymentBodyOf, paymentDetailsOf } from "../../src/commerce/payments/payment-body.ts";
import { isShownTo, type Product } from "../../src/commerce/products/product.ts";
import { productBodyOf } from "../../src/commerce/products/product-body.ts";
import { walletBodyOf } from "../../src/commerce/wallet-records/wallet-body.ts";
import { emailKeyOf } from "../../src/lib/email.ts";
import { isoTime } from "../../src/lib/time.ts";
import { webhookBodyOf } from "../../src/notifications/webhooks/webhook-body.ts";
import type { Operations, PublicOperations } from "../api-types.ts";
import * as catalogue from "./catalogue.ts";
import { currentFile } from "./changes.ts";
import * as events from "./events.ts";
import * as invoices from "./invoices.ts";
import { pageOf } from "./pages.ts";
import * as payments from "./payments.ts";
import { allowed, Refused } from "./refusal.ts";
import { BODIES, checked, QUERIES, type Query } from "./requests.ts";
import { bodyContext, type FakeState, fileOf } from "./state.ts";
import * as webhooks from "./webhooks.ts";

interface FakeRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Undefined if the request has no body. */
  readonly body: unknown;
  readonly isPublic: boolean;
  /** The key's id. */
  readonly actor: string;
}

export interface FakeAnswer {
  readonly status: number;
  /** JSON; null if there is none. */
  readonly text: string | null;
}

/** Checks the request, and returns the work to run once per idempotency key. */
type FakeOperation = (state: FakeState, request: FakeRequest) => () => FakeAnswer;

/** Operations by operationId. */
type Some<Operation> = { readonly [Name in keyof Operations]?: Operation };

/** The operations that a public key may call, from the generated types. */
const PUBLIC: Readonly<Record<keyof PublicOperations, true>> = {
  createInvoice: true,
  getInvoice: true,
  listPaymentMethods: true,
  activatePaymentMethod: true,
  listProducts: true,
  getProduct: true,
};
export const PUBLIC_OPERATIONS: readonly string[] = Object.keys(PUBLIC);

const OF_INVOICES: Some<FakeOperation> = {
  createInvoice: (state, { body: given, isPublic }) => {
    const { paymentMethods, ...body } = checked(BODIES.createInvoice, given);
    if (isPublic && asksMoreThanPublic({ ...body, paymentMethods }))
      throw new Refused({ code: "PUBLIC_KEY_FORBIDDEN" });
    const pairs = paymentMethods === undefined ? undefined : allowed(canonicalPairs(paymentMethods));
    return () => shown(state, invoices.createInvoice(state, { ...body, pairs }, isPublic), isPublic, 201);
  },
  getInvoice: (state, request) => () => shown(state, currentFile(state, idIn(request, "invoiceId")), request.isPublic),
  listInvoices: (state, { query }) => {
    const wanted = checked(QUERIES.listInvoices, query);
    return () => ok(listInvoices(state, wanted));
  },
  updateInvoice: (state, request) => {
    const body = checked(BODIES.updateInvoice, request.body);
    return () => shown(state, invoices.updateInvoice(state, idIn(request, "invoiceId"), body));
  },
  cancelInvoice: (state, request) => () => shown(state, invoices.cancelInvoice(state, idIn(request, "invoiceId"))),
  resolveInvoice: (state, request) => {
    const body = checked(BODIES.resolveInvoice, request.body);
    return () => shown(state, invoices.resolveInvoice(state, idIn(request, "invoiceId"), body, request.actor));
  },
  listPaymentMethods: (state, request) => () => {
    const context = { ...bodyContext(state), isWatched: () => true, cursors: [] };
    return ok({ data: listMethods(currentFile(state, idIn(request, "invoiceId")), state.wallets, context) });
  },
  activatePaymentMethod: (state, request) => {
    const named = checked(BODIES.activatePaymentMethod, request.body);
    fileOf(state, idIn(request, "invoiceId"));
    const [pair] = allowed(canonicalPairs([named]));
    if (pair === undefined) throw new Error("canonicalPairs returned no pair for one");
    return () => {
      const { isNew, method, invoice } = invoices.addMethod(state, idIn(request, "invoiceId"), pair);
      return ok(methodBodyOf(invoice, method, bodyContext(state)), isNew ? 201 : 200);
    };
  },
  listInvoicePayments: (state, request) => () => {
    const file = currentFile(state, idIn(request, "invoiceId"));
    return ok({ data: file.payments.map((payment) => paymentBodyOf(payment, [])) });
  },
};

const OF_PAYMENTS: Some<FakeOperation> = {
  listPayments: (state, { query }) => {
    const wanted = checked(QUERIES.listPayments, query);
    return () => ok(listPayments(state, wanted));
  },
  getPayment: (state, request) => () => {
    const payment = payments.paymentOf(state, idIn(request, "paymentId"));
    return ok(paymentDetailsOf(payments.paymentFileOf(state, payment), state.now()));
  },
  resolvePayment: (state, request) => {
    const body = checked(BODIES.resolvePayment, request.body);
    return () => {
      const resolved = payments.resolvePayment(state, idIn(request, "paymentId"), body, request.actor);
      return ok(paymentDetailsOf(resolved, state.now()));
    };
  },
};

const OF_THE_CATALOGUE: Some<FakeOperation> = {
  createProduct: (state, request) => {
    const body = checked(BODIES.createProduct, request.body);
    return () => sold(state, catalogue.createProduct(state, body), 201);
  },
  getProduct: (state, request) => () =>
    sold(state, catalogue.productOf(state, idIn(request, "productId"), request.isPublic)),
  listProducts: (state, request) => {
    const wanted = checked(QUERIES.listProducts, request.query);
    return () => ok(listProducts(state, wanted, request.isPublic));
  },
  updateProduct: (state, request) => {
    const body = checked(BODIES.updateProduct, request.body);
    return () => sold(state, catalogue.updateProduct(state, idIn(request, "productId"), body));
  },
  deleteProduct: (state, request) => () => sold(state, catalogue.deleteProduct(state, idIn(request, "productId"))),

  upsertCustomer: (state, request) => {
    const body = checked(BODIES.upsertCustomer, request.body);
    return () => {
      const { status, customer } = catalogue.upsertCustomer(state, body);
      return ok(customerBodyOf(customer), status);
    };
  },
  getCustomer: (state, request) => () =>
    ok(locatedCustomerBodyOf(catalogue.customerOf(state, idIn(request, "customerId")), undefined)),
  listCustomers: (state, { query }) => {
    const wanted = checked(QUERIES.listCustomers, query);
    return () => ok(listCustomers(state, wanted));
  },
  updateCustomer: (state, request) => {
    const body = checked(BODIES.updateCustomer, request.body);
    return () => ok(customerBodyOf(catalogue.updateCustomer(state, idIn(request, "customerId"), body)));
  },
  deleteCustomer: (state, request) => () =>
    ok(customerBodyOf(catalogue.deleteCustomer(state, idIn(request, "customerId")))),
};

const OF_THE_MERCHANT: Some<FakeOperation> = {
  listWallets: (state) => () => ok(state.wallets.map((wallet) => walletBody(state, wallet))),
  getWallet: (state, request) => () => {
    const wallet = state.wallets.find(({ id }) => id === idIn(request, "walletId"));
    if (wallet === undefined) throw new Refused({ code: "WALLET_NOT_FOUND" });
    return ok(walletBody(state, wallet));
  },

  listEvents: (state, { query }) => {
    const wanted = checked(QUERIES.listEvents, query);
    return () => ({ status: 200, text: events.listEvents(state, wanted) });
  },
  getEvent: (state, request) => () => ({
    status: 200,
    text: events.textOf(events.eventNamed(state, idIn(request, "eventId"))),
  }),

  createWebhook: (state, request) => {
    const body = checked(BODIES.createWebhook, request.body);
    return () => {
      const { webhook, secret } = webhooks.createWebhook(state, body);
      return ok({ ...webhookBodyOf(webhook, state.now()), secret }, 201);
    };
  },
  listWebhooks: (state) => () =>
    ok(Array.from(state.webhooks.values(), ({ webhook }) => webhookBodyOf(webhook, state.now()))),
  getWebhook: (state, request) => () =>
    ok(webhookBodyOf(webhooks.webhookOf(state, idIn(request, "webhookId")).webhook, state.now())),
  updateWebhook: (state, request) => {
    const body = checked(BODIES.updateWebhook, request.body);
    return () => ok(webhookBodyOf(webhooks.updateWebhook(state, idIn(request, "webhookId"), body), state.now()));
  },
  deleteWebhook: (state, request) => () => {
    webhooks.deleteWebhook(state, idIn(request, "webhookId"));
    return { status: 204, text: null };
  },
  pingWebhook: (state, request) => () => {
    const { webhook } = webhooks.webhookOf(state, idIn(request, "webhookId"));
    if (!webhook.isActive) throw new Refused({ code: "WEBHOOK_INACTIVE" });
    const of = { eventType: "ping", status: "PENDING", createdAt: isoTime(state.now()) };
    return ok({ ...events.ping(state, webhook), ...of }, 201);
  },
};

export const OPERATIONS: Readonly<Record<string, FakeOperation>> = {
  ...OF_INVOICES,
  ...OF_PAYMENTS,
  ...OF_THE_CATALOGUE,
  ...OF_THE_MERCHANT,
};

function ok(body: object, status = 200): FakeAnswer {
  return { status, text: JSON.stringify(body) };
}

function idIn({ params }: FakeRequest, name: string): string {
  return params[name] ?? "";
}

function shown(state: FakeState, file: InvoiceFile, isPublic = false, status = 200): FakeAnswer {
  const context = bodyContext(state);
  return ok(isPublic ? publicInvoiceBody(invoiceBodyOf(file, context)) : advisedBodyOf(file, context), status);
}

function sold({ origin }: FakeState, product: Product, status = 200): FakeAnswer {
  return ok(productBodyOf(product, origin), status);
}

/** A wallet as the API shows it. Every network counts as watched. */
function walletBody({ macKeys, wallets, now }: FakeState, wallet: FakeState["wallets"][number]): object {
  const watchedNetworks = new Set(wallets.map(({ network }) => network));
  return walletBodyOf(wallet, { macKeys, watchedNetworks, nowMs: now() });
}

/** Whether a row matches a query's filter, if there is one. */
function fits<T>(wanted: T | undefined, value: T): boolean {
  return wanted === undefined || wanted === value;
}

function listInvoices(state: FakeState, query: Query<"listInvoices">): object {
  const { createdFrom = 0, createdTo = Number.POSITIVE_INFINITY, search } = query;
  const { status, currency, customerId, externalId, ids, needsReview } = query;
  const files = [...state.invoices.keys()].map((id) => currentFile(state, id));
  const found = files.filter((file) => {
    const { invoice } = file;
    const { createdAtMs: atMs } = invoice;
    const isNamed = fits(status, invoice.status) && fits(currency, invoice.currency);
    const isOf =
      fits<string | null>(customerId, invoice.customerId) &&
      fits<string | null>(externalId, invoice.externalId) &&
      (ids?.includes(invoice.id) ?? true);
    const isMeant = isNamed && isOf && fits(needsReview, invoice.needsReview);
    const isInTime = createdFrom <= atMs && atMs <= createdTo;
    return (
      isMeant &&
      isInTime &&
      isOfAmount(invoice.amountMicros, query) &&
      isPaidIn(file, query) &&
      (search === undefined || invoices.isFound(file, search))
    );
  });
  const rows = found.map((file) => ({ ...file, id: file.invoice.id, createdAtMs: file.invoice.createdAtMs }));
  return pageOf(rows, query, (file) => invoiceBodyOf(file, bodyContext(state)));
}

function isOfAmount(micros: bigint, { amountFrom = 0n, amountTo = micros }: Query<"listInvoices">): boolean {
  return amountFrom <= micros && micros <= amountTo;
}

function isPaidIn({ payments }: InvoiceFile, { cryptocurrency, network }: Query<"listInvoices">): boolean {
  if (cryptocurrency === undefined && network === undefined) return true;
  const paid = payments.filter(isSeen);
  return paid.some((payment) => fits(cryptocurrency, payment.cryptocurrency) && fits<string>(network, payment.network));
}

function listPayments(state: FakeState, query: Query<"listPayments">): object {
  const { status, txHash, invoiceId, network } = query;
  const found = [...state.payments.values()].filter(
    (payment) =>
      fits(status, payment.status) &&
      fits<string>(network, payment.network) &&
      fits(txHash, payment.txHash) &&
      fits<string | null>(invoiceId, payment.invoiceId),
  );
  return pageOf(found, query, (payment) => paymentBodyOf(payment, []));
}

function listProducts(state: FakeState, query: Query<"listProducts">, isPublic: boolean): object {
  const { isActive, search } = query;
  const found = [...state.products.values()].filter(
    (product) =>
      isShownTo(product, isPublic) &&
      fits(isActive, product.isActive) &&
      (search === undefined || product.name.startsWith(search) || product.id === search),
  );
  return pageOf(found, query, (product) => productBodyOf(product, state.origin));
}

function listCustomers(state: FakeState, query: Query<"listCustomers">): object {
  const { search } = query;
  const found = [...state.customers.values()].filter(
    ({ deletedAtMs, name, id, emailKey }) =>
      deletedAtMs === null &&
      (search === undefined || name?.startsWith(search) === true || id === search || emailKey === emailKeyOf(search)),
  );
  return pageOf(found, query, customerBodyOf);
}
