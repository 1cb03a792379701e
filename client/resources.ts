// What a merchant's server can do, by resource. The route, parameters and result of each call come from the generated types.
import type * as Api from "./api-types.ts";
import type { WebhookEvent } from "./events.ts";
import { bodyOf, linesOf } from "./lines.ts";
import { pagesOf } from "./pages.ts";
import { type CallOptions, pause } from "./request.ts";

/** A product may replace the name and the amount. */
export type NewInvoice = Api.CreateInvoiceBody | (Partial<Api.CreateInvoiceBody> & { readonly productId: string });

type Parts<Name extends keyof Api.Operations> = Name extends "createInvoice"
  ? { readonly body: NewInvoice }
  : Omit<Api.Operations[Name], "answer">;

/** One operation of the API, by its operationId. */
export type Call = <Name extends keyof Api.Operations>(
  name: Name,
  parts: Parts<Name>,
  options: CallOptions | undefined,
) => Promise<Api.Operations[Name]["answer"]>;

/** The routes that answer with lines. */
type ExportName = Extract<keyof Api.Operations, `export${"Payments" | "Invoices" | "Statement"}${"" | "Csv"}`>;

/** The answer of an export, as soon as it begins. */
export type Open = (name: ExportName, query: object, options: CallOptions | undefined) => Promise<Response>;

export const invoices = (call: Call) => ({
  /** With an `externalId` of your own or an `idempotencyKey`, an order gets one invoice however often you ask. */
  create: (body: NewInvoice, options?: CallOptions) => call("createInvoice", { body }, options),
  get: (invoiceId: string, options?: CallOptions) => call("getInvoice", { params: { invoiceId } }, options),
  /** Newest first. */
  list: (query: Api.ListInvoicesQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listInvoices", { query: pageAt(query, cursor) }, options)),
  /** Only while it awaits payment. */
  update: (invoiceId: string, body: Api.UpdateInvoiceBody, options?: CallOptions) =>
    call("updateInvoice", { params: { invoiceId }, body }, options),
  /** Only while no money was seen. */
  cancel: (invoiceId: string, options?: CallOptions) => call("cancelInvoice", { params: { invoiceId } }, options),
  resolve: (invoiceId: string, body: Api.ResolveInvoiceBody, options?: CallOptions) =>
    call("resolveInvoice", { params: { invoiceId }, body }, options),
  /** Locks the rate and returns an address or an amount; the same pair again returns the same. */
  addPaymentMethod: (invoiceId: string, body: Api.ActivatePaymentMethodBody, options?: CallOptions) =>
    call("activatePaymentMethod", { params: { invoiceId }, body }, options),
  /** Active methods, and those that can be picked. */
  listPaymentMethods: (invoiceId: string, options?: CallOptions) =>
    call("listPaymentMethods", { params: { invoiceId } }, options),
  /** The payments credited to it. */
  listPayments: (invoiceId: string, options?: CallOptions) =>
    call("listInvoicePayments", { params: { invoiceId } }, options),
});

export const payments = (call: Call) => ({
  /** With the evidence for how it was credited. */
  get: (paymentId: string, options?: CallOptions) => call("getPayment", { params: { paymentId } }, options),
  /** Newest first. */
  list: (query: Api.ListPaymentsQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listPayments", { query: pageAt(query, cursor) }, options)),
  /** Reads a transaction from the chain, and returns its payments to you. */
  lookUp: (body: Api.LookUpPaymentBody, options?: CallOptions) => call("lookUpPayment", { body }, options),
  resolve: (paymentId: string, body: Api.ResolvePaymentBody, options?: CallOptions) =>
    call("resolvePayment", { params: { paymentId }, body }, options),
});

export const wallets = (call: Call) => ({
  /** Registers one wallet per pair of cryptocurrency and network. */
  register: (body: Api.RegisterWalletBody, options?: CallOptions) => call("registerWallet", { body }, options),
  get: (walletId: string, options?: CallOptions) => call("getWallet", { params: { walletId } }, options),
  /** All of them, oldest first. */
  list: (options?: CallOptions) => call("listWallets", {}, options),
  update: (walletId: string, body: Api.UpdateWalletBody, options?: CallOptions) =>
    call("updateWallet", { params: { walletId }, body }, options),
  /** Only while no active invoice pays to it. */
  delete: (walletId: string, options?: CallOptions) => call("deleteWallet", { params: { walletId } }, options),
  /** Previews the addresses of an extended key, without using an index. */
  previewAddresses: (walletId: string, query: Api.PreviewAddressesQuery = {}, options?: CallOptions) =>
    call("previewAddresses", { params: { walletId }, query }, options),
  /** On which other EVM networks the address may be registered: none if it has code on any of them. */
  checkNetworks: (walletId: string, options?: CallOptions) => call("checkNetworks", { params: { walletId } }, options),
  /** Everything that wallet software needs to find all payments. */
  recovery: (walletId: string, options?: CallOptions) =>
    call("exportRecovery", { params: { walletId }, query: { format: "json" } }, options),
});

export const products = (call: Call) => ({
  create: (body: Api.CreateProductBody, options?: CallOptions) => call("createProduct", { body }, options),
  get: (productId: string, options?: CallOptions) => call("getProduct", { params: { productId } }, options),
  list: (query: Api.ListProductsQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listProducts", { query: pageAt(query, cursor) }, options)),
  update: (productId: string, body: Api.UpdateProductBody, options?: CallOptions) =>
    call("updateProduct", { params: { productId }, body }, options),
  delete: (productId: string, options?: CallOptions) => call("deleteProduct", { params: { productId } }, options),
});

export const customers = (call: Call) => ({
  /** Creates a customer, or changes the one who has the email. */
  upsert: (body: Api.UpsertCustomerBody, options?: CallOptions) => call("upsertCustomer", { body }, options),
  get: (customerId: string, options?: CallOptions) => call("getCustomer", { params: { customerId } }, options),
  list: (query: Api.ListCustomersQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listCustomers", { query: pageAt(query, cursor) }, options)),
  update: (customerId: string, body: Api.UpdateCustomerBody, options?: CallOptions) =>
    call("updateCustomer", { params: { customerId }, body }, options),
  /** Erases the person and keeps the invoices. */
  delete: (customerId: string, options?: CallOptions) => call("deleteCustomer", { params: { customerId } }, options),
  /** What they were invoiced for and have paid. */
  resume: (customerId: string, options?: CallOptions) => call("getCustomerResume", { params: { customerId } }, options),
});

export const reports = (call: Call, open: Open) => ({
  /** Invoices counted and payments added up, by day, week or month of a time zone. */
  totals: (query: Api.GetTotalsQuery, options?: CallOptions) => call("getTotals", { query }, options),
  /** Every payment of a range of days, in the order in which they were recorded. Continues by itself after a broken connection. */
  payments: (query: Api.ExportPaymentsQuery = {}, options?: CallOptions) =>
    linesOf<Api.ExportedPayment>((place) => open("exportPayments", { ...query, ...place }, options), options),
  /** Every invoice of a range of days, the same way. */
  invoices: (query: Api.ExportInvoicesQuery = {}, options?: CallOptions) =>
    linesOf<Api.ExportedInvoice>((place) => open("exportInvoices", { ...query, ...place }, options), options),
  /** The payments of a month, followed by their sums. */
  statement: (query: Api.ExportStatementQuery, options?: CallOptions) =>
    linesOf<Api.StatementLine>((place) => open("exportStatement", { ...query, ...place }, options), options),
  /** The same as CSV, to write to a file as it arrives. A stream error means that the file is incomplete. */
  paymentsCsv: (query: Api.ExportPaymentsCsvQuery = {}, options?: CallOptions) =>
    bodyOf(open("exportPaymentsCsv", query, options)),
  invoicesCsv: (query: Api.ExportInvoicesCsvQuery = {}, options?: CallOptions) =>
    bodyOf(open("exportInvoicesCsv", query, options)),
  statementCsv: (query: Api.ExportStatementCsvQuery, options?: CallOptions) =>
    bodyOf(open("exportStatementCsv", query, options)),
});

/** Invoices, customers and payments by ids, order numbers, emails, transactions or addresses that begin with the text. */
export const search = (call: Call) => (text: string, options?: CallOptions) =>
  call("search", { query: { q: text } }, options);

/** What needs attention, by kind, most urgent first. */
export const attention = (call: Call) => (options?: CallOptions) => call("getAttention", {}, options);

/** Whether the merchant can be paid now, in which coins, and why not in the others. */
export const readiness =
  (call: Call) =>
  (query: Api.GetReadinessQuery = {}, options?: CallOptions) =>
    call("getReadiness", { query }, options);

/** Options for polling events. */
export interface PollOptions extends CallOptions {
  /** Where to continue: the id of the last event that was handled. Without it, from the oldest event that is kept. */
  readonly after?: string | undefined;
  /** Only this type, or `invoice.*` for all of a domain. */
  readonly type?: string | undefined;
  readonly invoiceId?: string | undefined;
  /** Wait after a page that was not full; 5,000 by default. */
  readonly intervalMs?: number | undefined;
}

export const events = (call: Call) => ({
  get: (eventId: string, options?: CallOptions) => call("getEvent", { params: { eventId } }, options),
  /** The endpoints to which it was sent, and the results. */
  deliveries: (eventId: string, options?: CallOptions) => call("listEventDeliveries", { params: { eventId } }, options),
  /** Newest first. */
  list: (query: Omit<Api.ListEventsQuery, "after"> = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listEvents", { query: pageAt(query, cursor) }, options)),
  /** Every event that is kept and then every new one, oldest first, until the loop or the signal ends it. It includes events that a webhook missed. */
  async *poll(options: PollOptions = {}): AsyncGenerator<WebhookEvent, never> {
    const { after = "0", type, invoiceId, intervalMs = 5_000, ...callOptions } = options;
    for (let place = after; ; ) {
      const page = await call("listEvents", { query: { type, invoiceId, after: place, limit: 100 } }, callOptions);
      yield* page.data;
      place = page.nextCursor ?? place;
      if (page.data.length < 100) await pause(intervalMs, options.signal);
    }
  },
});

export const webhooks = (call: Call) => ({
  /** Only this answer shows the `secret`. */
  create: (body: Api.CreateWebhookBody, options?: CallOptions) => call("createWebhook", { body }, options),
  get: (webhookId: string, options?: CallOptions) => call("getWebhook", { params: { webhookId } }, options),
  /** All of them, oldest first. */
  list: (options?: CallOptions) => call("listWebhooks", {}, options),
  update: (webhookId: string, body: Api.UpdateWebhookBody, options?: CallOptions) =>
    call("updateWebhook", { params: { webhookId }, body }, options),
  delete: (webhookId: string, options?: CallOptions) => call("deleteWebhook", { params: { webhookId } }, options),
  /** Sends a `ping` event to it, whatever it subscribes to. */
  ping: (webhookId: string, options?: CallOptions) => call("pingWebhook", { params: { webhookId } }, options),
  /** Only this answer shows the new `secret`; for 24 hours the old one signs too. */
  rotateSecret: (webhookId: string, options?: CallOptions) =>
    call("rotateWebhookSecret", { params: { webhookId } }, options),
  /** The endpoint's deliveries, newest first. */
  deliveries: (webhookId: string, query: Api.ListDeliveriesQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listDeliveries", { params: { webhookId }, query: pageAt(query, cursor) }, options)),
  /** With its attempts. */
  getDelivery: (webhookId: string, deliveryId: string, options?: CallOptions) =>
    call("getDelivery", { params: { webhookId, deliveryId } }, options),
  /** Sends it again at once, whatever its first result. */
  redeliver: (webhookId: string, deliveryId: string, options?: CallOptions) =>
    call("redeliver", { params: { webhookId, deliveryId } }, options),
  /** Delivers the events of a time range again. */
  replay: (webhookId: string, body: Api.ReplayEventsBody, options?: CallOptions) =>
    call("replayEvents", { params: { webhookId }, body }, options),
});

export const settings = (call: Call) => ({
  get: (options?: CallOptions) => call("getSettings", {}, options),
  /** Absent members keep their values. */
  update: (body: Api.UpdateSettingsBody, options?: CallOptions) => call("updateSettings", { body }, options),
});

export const merchant = (call: Call) => ({
  get: (options?: CallOptions) => call("getMerchant", {}, options),
  update: (body: Api.UpdateMerchantBody, options?: CallOptions) => call("updateMerchant", { body }, options),
  /** PNG, JPEG or WebP in base64, at most 32 KB. */
  uploadImage: (body: Api.UploadImageBody, options?: CallOptions) => call("uploadImage", { body }, options),
});

export const apiKeys = (call: Call) => ({
  get: (apiKeyId: string, options?: CallOptions) => call("getApiKey", { params: { apiKeyId } }, options),
  list: (query: Api.ListApiKeysQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listApiKeys", { query: pageAt(query, cursor) }, options)),
});

export const auditEvents = (call: Call) => ({
  /** Who changed what, newest first. */
  list: (query: Api.ListAuditEventsQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listAuditEvents", { query: pageAt(query, cursor) }, options)),
});

/** The query of the page at a cursor. Without a limit or a page the service would count all rows, which the caller does not need. */
export function pageAt<Query extends { limit?: number | undefined; page?: number | undefined }>(
  query: Query,
  cursor: string | undefined,
): Query & { readonly cursor?: string } {
  if (cursor !== undefined) return { ...query, page: undefined, cursor };
  return query.limit === undefined && query.page === undefined ? { ...query, limit: 20 } : query;
}
