// What the fake offers, by operationId: from a checked request to the answer.
import * as catalogue from "./catalogue.ts";
import * as events from "./events.ts";
import * as invoices from "./invoices.ts";
import { pageOf, rowsOf } from "./lists.ts";
import { networkNamed } from "./pairs.ts";
import * as payments from "./payments.ts";
import { Refused } from "./refusal.ts";
import { settle } from "./settle.ts";
import type { FakeInvoice, FakeState } from "./state.ts";
import { bodyOf, queryOf } from "./validate.ts";
import * as webhooks from "./webhooks.ts";

export interface FakeRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Undefined without one. */
  readonly body: unknown;
  readonly isPublic: boolean;
  /** Of the key. */
  readonly actor: string;
}

export interface FakeAnswer {
  readonly status: number;
  readonly body: unknown;
}

export type FakeOperation = (state: FakeState, request: FakeRequest) => FakeAnswer;

/** What a public key may call. */
export const PUBLIC_OPERATIONS: readonly string[] = [
  "createInvoice",
  "getInvoice",
  "listPaymentMethods",
  "activatePaymentMethod",
  "listProducts",
  "getProduct",
];

export const OPERATIONS: Readonly<Record<string, FakeOperation>> = {
  createInvoice: (state, request) => {
    const body = bodyOf("createInvoice", request.body);
    const { externalId, metadata, expiresInSeconds, paymentMethods = [] } = body;
    const ofServers = [externalId, metadata, expiresInSeconds].some((value) => value !== undefined);
    if (request.isPublic && (ofServers || paymentMethods.length > 1)) throw new Refused("PUBLIC_KEY_FORBIDDEN");
    return shown(state, invoices.createInvoice(state, body, request.isPublic), request, 201);
  },
  getInvoice: (state, request) => shown(state, invoices.invoiceOf(state, idIn(request, "invoiceId")), request),
  listInvoices: (state, { query }) => ok(listInvoices(state, queryOf("listInvoices", query))),
  updateInvoice: (state, request) => {
    const body = bodyOf("updateInvoice", request.body);
    return shown(state, invoices.updateInvoice(state, idIn(request, "invoiceId"), body), request);
  },
  cancelInvoice: (state, request) => shown(state, invoices.cancelInvoice(state, idIn(request, "invoiceId")), request),
  resolveInvoice: (state, request) => {
    const body = bodyOf("resolveInvoice", request.body);
    return shown(state, invoices.resolveInvoice(state, idIn(request, "invoiceId"), body, request.actor), request);
  },
  listPaymentMethods: (state, request) =>
    ok({ data: invoices.shownMethods(state, invoices.invoiceOf(state, idIn(request, "invoiceId"))) }),
  activatePaymentMethod: (state, request) => {
    const body = bodyOf("activatePaymentMethod", request.body);
    return invoices.activate(state, idIn(request, "invoiceId"), body);
  },
  listInvoicePayments: (state, request) =>
    ok({ data: invoices.invoiceOf(state, idIn(request, "invoiceId")).body.payments }),

  listPayments: (state, { query }) => ok(listPayments(state, queryOf("listPayments", query))),
  getPayment: (state, request) => ok(detailed(state, payments.paymentOf(state, idIn(request, "paymentId")))),
  resolvePayment: (state, request) => {
    const body = bodyOf("resolvePayment", request.body);
    return ok(detailed(state, payments.resolvePayment(state, idIn(request, "paymentId"), body, request.actor)));
  },

  createProduct: (state, { body }) => made(catalogue.createProduct(state, bodyOf("createProduct", body))),
  getProduct: (state, request) => ok(catalogue.productOf(state, idIn(request, "productId"), request.isPublic)),
  listProducts: (state, request) => ok(listProducts(state, queryOf("listProducts", request.query), request.isPublic)),
  updateProduct: (state, request) =>
    ok(catalogue.updateProduct(state, idIn(request, "productId"), bodyOf("updateProduct", request.body))),
  deleteProduct: (state, request) => ok(catalogue.deleteProduct(state, idIn(request, "productId"))),

  upsertCustomer: (state, { body }) => catalogue.upsertCustomer(state, bodyOf("upsertCustomer", body)),
  getCustomer: (state, request) => ok({ ...catalogue.customerOf(state, idIn(request, "customerId")), location: null }),
  listCustomers: (state, { query }) => ok(listCustomers(state, queryOf("listCustomers", query))),
  updateCustomer: (state, request) =>
    ok(catalogue.updateCustomer(state, idIn(request, "customerId"), bodyOf("updateCustomer", request.body))),
  deleteCustomer: (state, request) => ok(catalogue.deleteCustomer(state, idIn(request, "customerId"))),

  listWallets: (state) => ok(state.wallets),
  getWallet: (state, request) => {
    const wallet = state.wallets.find(({ id }) => id === idIn(request, "walletId"));
    if (wallet === undefined) throw new Refused("WALLET_NOT_FOUND");
    return ok(wallet);
  },

  listEvents: (state, { query }) => ok(events.listEvents(state, queryOf("listEvents", query))),
  getEvent: (state, request) => ok(events.eventNamed(state, idIn(request, "eventId"))),

  createWebhook: (state, { body }) => made(webhooks.createWebhook(state, bodyOf("createWebhook", body))),
  listWebhooks: (state) => ok(Array.from(state.webhooks.values(), ({ body }) => body)),
  getWebhook: (state, request) => ok(webhooks.webhookOf(state, idIn(request, "webhookId")).body),
  updateWebhook: (state, request) =>
    ok(webhooks.updateWebhook(state, idIn(request, "webhookId"), bodyOf("updateWebhook", request.body))),
  deleteWebhook: (state, request) => {
    webhooks.deleteWebhook(state, idIn(request, "webhookId"));
    return { status: 204, body: undefined };
  },
  pingWebhook: (state, request) => made(events.ping(state, webhooks.webhookOf(state, idIn(request, "webhookId")))),
};

function ok(body: unknown): FakeAnswer {
  return { status: 200, body };
}

function made(body: unknown): FakeAnswer {
  return { status: 201, body };
}

function idIn({ params }: FakeRequest, name: string): string {
  return params[name] ?? "";
}

function shown(state: FakeState, invoice: FakeInvoice, { isPublic }: FakeRequest, status = 200): FakeAnswer {
  const body = invoices.shownInvoice(state, invoice);
  return { status, body: isPublic ? invoices.publicBody(body) : body };
}

function detailed(state: FakeState, payment: ReturnType<typeof payments.paymentOf>): object {
  const { invoiceId } = payment.body;
  return payments.detailsOf(payment, invoiceId === null ? undefined : state.invoices.get(invoiceId));
}

type Query = Readonly<Record<string, string>>;

/** Whether a row is what a query asks for, where it asks. */
function fits(wanted: string | undefined, value: unknown): boolean {
  return wanted === undefined || wanted === String(value);
}

function listInvoices(state: FakeState, query: Query): object {
  const { createdFrom, createdTo, search, status, currency, customerId, externalId, needsReview } = query;
  const found = [...state.invoices.values()].filter((invoice) => {
    settle(state, invoice);
    const { body } = invoice;
    const atMs = Date.parse(body.createdAt);
    const isInTime =
      (createdFrom === undefined || atMs >= Date.parse(createdFrom)) &&
      (createdTo === undefined || atMs <= Date.parse(createdTo));
    const isNamed = fits(status, body.status) && fits(currency, body.currency) && fits(needsReview, body.needsReview);
    const isOf = fits(customerId, body.customerId) && fits(externalId, body.externalId);
    return isInTime && isNamed && isOf && (search === undefined || invoices.isFound(state, invoice, search));
  });
  return pageOf(rowsOf(found.map((invoice) => invoices.shownInvoice(state, invoice))), query);
}

function listPayments(state: FakeState, query: Query): object {
  const { status, txHash, invoiceId } = query;
  const network = query.network === undefined ? undefined : networkNamed(query.network);
  const found = Array.from(state.payments.values(), ({ body }) => body).filter(
    (body) =>
      fits(status, body.status) &&
      fits(network, body.network) &&
      fits(txHash?.toLowerCase(), body.txHash) &&
      fits(invoiceId, body.invoiceId),
  );
  return pageOf(rowsOf(found), query);
}

function listProducts(state: FakeState, query: Query, isPublic: boolean): object {
  const { isActive, search } = query;
  const found = [...state.products.values()].filter(
    (product) =>
      product.deletedAt === null &&
      (product.isActive || !isPublic) &&
      fits(isActive, product.isActive) &&
      (search === undefined || product.name.startsWith(search) || product.id === search),
  );
  return pageOf(rowsOf(found), query);
}

function listCustomers(state: FakeState, query: Query): object {
  const { search } = query;
  const found = [...state.customers.values()].filter(
    ({ deletedAt, name, id, email }) =>
      deletedAt === null &&
      (search === undefined ||
        name?.startsWith(search) === true ||
        id === search ||
        email?.toLowerCase() === search.toLowerCase()),
  );
  return pageOf(rowsOf(found), query);
}
