// What a merchant's server can do, by resource. The route, parameters and result of each call come from the generated types.
import type * as Api from "./api-types.ts";
import type { WebhookEvent } from "./events.ts";
import { bodyOf, linesOf } from "./lines.ts";
import { pagesOf } from "./pages.ts";
import { type CallOptions, pause } from "./request.ts";

/** With a product, the name and the amount may be omitted. */
export type NewInvoice = Api.CreateInvoiceBody | (Partial<Api.CreateInvoiceBody> & { readonly productId: string });

type Parts<Name extends keyof Api.Operations> = Name extends "createInvoice"
  ? { readonly body: NewInvoice }
  : Omit<Api.Operations[Name], "answer">;

/** Calls one operation of the API, by its operationId. */
export type Call = <Name extends keyof Api.Operations>(
  name: Name,
  parts: Parts<Name>,
  options: CallOptions | undefined,
) => Promise<Api.Operations[Name]["answer"]>;

/** The routes that respond line by line. */
type ExportName = Extract<keyof Api.Operations, `export${"Payments" | "Invoices" | "Statement"}${"" | "Csv"}`>;

/** Returns the response of an export as soon as it begins. */
export type Open = (name: ExportName, query: object, options: CallOptions | undefined) => Promise<Response>;

export const invoices = (call: Call) => ({
  /** With your own `externalId` or an `idempotencyKey`, an order gets one invoice no matter how often you call. */
  create: (body: NewInvoice, options?: CallOptions) => call("createInvoice", { body }, options),
  get: (invoiceId: string, options?: CallOptions) => call("getInvoice", { params: { invoiceId } }, options),
  /** Newest first. */
  list: (query: Api.ListInvoicesQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listInvoices", { query: pageAt(query, cursor) }, options)),
  /** Possible only while the invoice awaits payment; `metadata` alone can be changed at any time. */
  update: (invoiceId: string, body: Api.UpdateInvoiceBody, options?: CallOptions) =>
    call("updateInvoice", { params: { invoiceId }, body }, options),
  /** Possible only before any payment was seen. */
  cancel: (invoiceId: string, options?: CallOptions) => call("cancelInvoice", { params: { invoiceId } }, options),
  resolve: (invoiceId: string, body: Api.ResolveInvoiceBody, options?: CallOptions) =>
    call("resolveInvoice", { params: { invoiceId }, body }, options),
  /** Locks the rate and returns an address or an amount. Another call with the same pair returns the same method. */
  addPaymentMethod: (invoiceId: string, body: Api.ActivatePaymentMethodBody, options?: CallOptions) =>
    call("activatePaymentMethod", { params: { invoiceId }, body }, options),
  /** The active payment methods, and those that the customer can pick. */
  listPaymentMethods: (invoiceId: string, options?: CallOptions) =>
    call("listPaymentMethods", { params: { invoiceId } }, options),
  /** The payments credited to the invoice. */
  listPayments: (invoiceId: string, options?: CallOptions) =>
    call("listInvoicePayments", { params: { invoiceId } }, options),
});

export const payments = (call: Call) => ({
  /** Includes the evidence for how the payment was credited. */
  get: (paymentId: string, options?: CallOptions) => call("getPayment", { params: { paymentId } }, options),
  /** Newest first. */
  list: (query: Api.ListPaymentsQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listPayments", { query: pageAt(query, cursor) }, options)),
  /** Reads a transaction from the chain, and returns the merchant's payments in it. */
  lookUp: (body: Api.LookUpPaymentBody, options?: CallOptions) => call("lookUpPayment", { body }, options),
  resolve: (paymentId: string, body: Api.ResolvePaymentBody, options?: CallOptions) =>
    call("resolvePayment", { params: { paymentId }, body }, options),
});

export const wallets = (call: Call) => ({
  /** Registers one wallet per pair of cryptocurrency and network. */
  register: (body: Api.RegisterWalletBody, options?: CallOptions) => call("registerWallet", { body }, options),
  get: (walletId: string, options?: CallOptions) => call("getWallet", { params: { walletId } }, options),
  /** All wallets, oldest first. */
  list: (options?: CallOptions) => call("listWallets", {}, options),
  update: (walletId: string, body: Api.UpdateWalletBody, options?: CallOptions) =>
    call("updateWallet", { params: { walletId }, body }, options),
  /** Possible only while no active invoice uses the wallet. */
  delete: (walletId: string, options?: CallOptions) => call("deleteWallet", { params: { walletId } }, options),
  /** Previews the addresses of an extended key, without using an index. */
  previewAddresses: (walletId: string, query: Api.PreviewAddressesQuery = {}, options?: CallOptions) =>
    call("previewAddresses", { params: { walletId }, query }, options),
  /** Checks the EVM networks for code at the wallet's address, and says for each network whether the address may be registered there. */
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
  /** Creates a customer, or changes the one with this email. */
  upsert: (body: Api.UpsertCustomerBody, options?: CallOptions) => call("upsertCustomer", { body }, options),
  get: (customerId: string, options?: CallOptions) => call("getCustomer", { params: { customerId } }, options),
  list: (query: Api.ListCustomersQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listCustomers", { query: pageAt(query, cursor) }, options)),
  update: (customerId: string, body: Api.UpdateCustomerBody, options?: CallOptions) =>
    call("updateCustomer", { params: { customerId }, body }, options),
  /** Erases the personal data and keeps the invoices. */
  delete: (customerId: string, options?: CallOptions) => call("deleteCustomer", { params: { customerId } }, options),
  /** The customer's invoices and payments, summed up. */
  resume: (customerId: string, options?: CallOptions) => call("getCustomerResume", { params: { customerId } }, options),
});

export const reports = (call: Call, open: Open) => ({
  /** The number of invoices and the sum of payments, by day, week or month in a time zone. */
  totals: (query: Api.GetTotalsQuery, options?: CallOptions) => call("getTotals", { query }, options),
  /** Every payment in a range of days, in the order in which they were recorded. Continues automatically after a broken connection. */
  payments: (query: Api.ExportPaymentsQuery = {}, options?: CallOptions) =>
    linesOf<Api.ExportedPayment>((place) => open("exportPayments", { ...query, ...place }, options), options),
  /** Every invoice in a range of days, in the same way. */
  invoices: (query: Api.ExportInvoicesQuery = {}, options?: CallOptions) =>
    linesOf<Api.ExportedInvoice>((place) => open("exportInvoices", { ...query, ...place }, options), options),
  /** The payments of a month, followed by their sums. */
  statement: (query: Api.ExportStatementQuery, options?: CallOptions) =>
    linesOf<Api.StatementLine>((place) => open("exportStatement", { ...query, ...place }, options), options),
  /** The payments as CSV, to be written to a file as they arrive. A stream error means that the file is incomplete. */
  paymentsCsv: (query: Api.ExportPaymentsCsvQuery = {}, options?: CallOptions) =>
    bodyOf(open("exportPaymentsCsv", query, options)),
  invoicesCsv: (query: Api.ExportInvoicesCsvQuery = {}, options?: CallOptions) =>
    bodyOf(open("exportInvoicesCsv", query, options)),
  statementCsv: (query: Api.ExportStatementCsvQuery, options?: CallOptions) =>
    bodyOf(open("exportStatementCsv", query, options)),
});

/**
 * Invoices, customers and payments, found by the beginning of an id, order number, email, transaction or address, by
 * words of a name, or by an amount.
 */
export const search = (call: Call) => (text: string, options?: CallOptions) =>
  call("search", { query: { q: text } }, options);

/** Everything that needs attention, by kind, most urgent first. */
export const attention = (call: Call) => (options?: CallOptions) => call("getAttention", {}, options);

/** Whether the merchant can be paid now: in which coins, and why not in the others. */
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
  /** The pause after a page that was not full; 5,000 by default. */
  readonly intervalMs?: number | undefined;
}

export const events = (call: Call) => ({
  get: (eventId: string, options?: CallOptions) => call("getEvent", { params: { eventId } }, options),
  /** The endpoints to which the event was sent, and the results. */
  deliveries: (eventId: string, options?: CallOptions) => call("listEventDeliveries", { params: { eventId } }, options),
  /** Newest first. */
  list: (query: Omit<Api.ListEventsQuery, "after"> = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listEvents", { query: pageAt(query, cursor) }, options)),
  /**
   * Every stored event and then every new one, oldest first, until the loop ends or the signal is aborted. It includes events that a webhook
   * missed.
   */
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
  /** All endpoints, oldest first. */
  list: (options?: CallOptions) => call("listWebhooks", {}, options),
  update: (webhookId: string, body: Api.UpdateWebhookBody, options?: CallOptions) =>
    call("updateWebhook", { params: { webhookId }, body }, options),
  delete: (webhookId: string, options?: CallOptions) => call("deleteWebhook", { params: { webhookId } }, options),
  /** Sends a `ping` event to the endpoint, even if it does not subscribe to that type. */
  ping: (webhookId: string, options?: CallOptions) => call("pingWebhook", { params: { webhookId } }, options),
  /** Only this answer shows the new `secret`; for 24 hours the old secret signs too. */
  rotateSecret: (webhookId: string, options?: CallOptions) =>
    call("rotateWebhookSecret", { params: { webhookId } }, options),
  /** The endpoint's deliveries, newest first. */
  deliveries: (webhookId: string, query: Api.ListDeliveriesQuery = {}, options?: CallOptions) =>
    pagesOf((cursor) => call("listDeliveries", { params: { webhookId }, query: pageAt(query, cursor) }, options)),
  /** Includes the attempts of the delivery. */
  getDelivery: (webhookId: string, deliveryId: string, options?: CallOptions) =>
    call("getDelivery", { params: { webhookId, deliveryId } }, options),
  /** Sends the delivery again at once, no matter what its first result was. */
  redeliver: (webhookId: string, deliveryId: string, options?: CallOptions) =>
    call("redeliver", { params: { webhookId, deliveryId } }, options),
  /** Delivers the events of a time range again. */
  replay: (webhookId: string, body: Api.ReplayEventsBody, options?: CallOptions) =>
    call("replayEvents", { params: { webhookId }, body }, options),
});

export const settings = (call: Call) => ({
  get: (options?: CallOptions) => call("getSettings", {}, options),
  /** Members that are left out keep their values. */
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

/** The query for the page at a cursor. The service counts all rows for a page without a cursor, which nobody needs who asked for no limit or page. */
export function pageAt<
  Query extends { limit?: number | undefined; page?: number | undefined; cursor?: string | undefined },
>(query: Query, cursor: string | undefined): Query {
  if (cursor !== undefined) return { ...query, page: undefined, cursor };
  const isPlain = query.limit === undefined && query.page === undefined && query.cursor === undefined;
  return isPlain ? { ...query, cursor: "" } : query;
}
