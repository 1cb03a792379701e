import { describe, expect, it } from "vitest";
import { ROUTES } from "../../../client/api-types.ts";
import { Edgetill } from "../../../client/edgetill.ts";
import { json, MERCHANT, refusal, rejection, scriptedApi } from "./scripted-api.ts";

const BASE = `/api/v1/merchants/merchant/${MERCHANT}`;
/** The contents of bodies do not matter here. */
const body = {} as never;

/** A call to each operation, by the operation's name. */
const CALLS: Readonly<Record<keyof typeof ROUTES, (client: Edgetill) => PromiseLike<unknown>>> = {
  createInvoice: ({ invoices }) => invoices.create(body),
  listInvoices: ({ invoices }) => invoices.list(),
  getInvoice: ({ invoices }) => invoices.get("id1"),
  updateInvoice: ({ invoices }) => invoices.update("id1", body),
  cancelInvoice: ({ invoices }) => invoices.cancel("id1"),
  resolveInvoice: ({ invoices }) => invoices.resolve("id1", body),
  listPaymentMethods: ({ invoices }) => invoices.listPaymentMethods("id1"),
  activatePaymentMethod: ({ invoices }) => invoices.addPaymentMethod("id1", body),
  listInvoicePayments: ({ invoices }) => invoices.listPayments("id1"),
  listPayments: ({ payments }) => payments.list(),
  getPayment: ({ payments }) => payments.get("id1"),
  lookUpPayment: ({ payments }) => payments.lookUp(body),
  resolvePayment: ({ payments }) => payments.resolve("id1", body),
  registerWallet: ({ wallets }) => wallets.register(body),
  listWallets: ({ wallets }) => wallets.list(),
  getWallet: ({ wallets }) => wallets.get("id1"),
  updateWallet: ({ wallets }) => wallets.update("id1", body),
  deleteWallet: ({ wallets }) => wallets.delete("id1"),
  previewAddresses: ({ wallets }) => wallets.previewAddresses("id1"),
  checkNetworks: ({ wallets }) => wallets.checkNetworks("id1"),
  exportRecovery: ({ wallets }) => wallets.recovery("id1"),
  createProduct: ({ products }) => products.create(body),
  listProducts: ({ products }) => products.list(),
  getProduct: ({ products }) => products.get("id1"),
  updateProduct: ({ products }) => products.update("id1", body),
  deleteProduct: ({ products }) => products.delete("id1"),
  upsertCustomer: ({ customers }) => customers.upsert(body),
  listCustomers: ({ customers }) => customers.list(),
  getCustomer: ({ customers }) => customers.get("id1"),
  updateCustomer: ({ customers }) => customers.update("id1", body),
  deleteCustomer: ({ customers }) => customers.delete("id1"),
  getCustomerResume: ({ customers }) => customers.resume("id1"),
  getTotals: ({ reports }) => reports.totals({ from: "2026-11-01", to: "2026-11-30" }),
  exportPayments: ({ reports }) => firstOf(reports.payments()),
  exportInvoices: ({ reports }) => firstOf(reports.invoices()),
  exportStatement: ({ reports }) => firstOf(reports.statement({ month: "2026-11" })),
  exportPaymentsCsv: ({ reports }) => parsed(reports.paymentsCsv()),
  exportInvoicesCsv: ({ reports }) => parsed(reports.invoicesCsv()),
  exportStatementCsv: ({ reports }) => parsed(reports.statementCsv({ month: "2026-11" })),
  getAttention: (client) => client.attention(),
  getReadiness: (client) => client.readiness({ currency: "EUR" }),
  search: (client) => client.search("ORDER-1001"),
  listEvents: ({ events }) => events.list(),
  getEvent: ({ events }) => events.get("id1"),
  listEventDeliveries: ({ events }) => events.deliveries("id1"),
  createWebhook: ({ webhooks }) => webhooks.create(body),
  listWebhooks: ({ webhooks }) => webhooks.list(),
  getWebhook: ({ webhooks }) => webhooks.get("id1"),
  updateWebhook: ({ webhooks }) => webhooks.update("id1", body),
  deleteWebhook: ({ webhooks }) => webhooks.delete("id1"),
  pingWebhook: ({ webhooks }) => webhooks.ping("id1"),
  rotateWebhookSecret: ({ webhooks }) => webhooks.rotateSecret("id1"),
  listDeliveries: ({ webhooks }) => webhooks.deliveries("id1"),
  getDelivery: ({ webhooks }) => webhooks.getDelivery("id1", "id1"),
  redeliver: ({ webhooks }) => webhooks.redeliver("id1", "id1"),
  replayEvents: ({ webhooks }) => webhooks.replay("id1", body),
  uploadImage: ({ merchant }) => merchant.uploadImage(body),
  getMerchant: ({ merchant }) => merchant.get(),
  updateMerchant: ({ merchant }) => merchant.update(body),
  getSettings: ({ settings }) => settings.get(),
  updateSettings: ({ settings }) => settings.update(body),
  listApiKeys: ({ apiKeys }) => apiKeys.list(),
  getApiKey: ({ apiKeys }) => apiKeys.get("id1"),
  listAuditEvents: ({ auditEvents }) => auditEvents.list(),
};

async function firstOf(lines: AsyncIterable<unknown>): Promise<unknown> {
  for await (const line of lines) return line;
  return undefined;
}

async function parsed(stream: Promise<ReadableStream<Uint8Array>>): Promise<unknown> {
  return await new Response(await stream).json();
}

describe("a method of the client", () => {
  it.each(Object.entries(CALLS))("%s requests its route", async (name, run) => {
    await using api = await scriptedApi(json(200, { data: [], nextCursor: null }));
    expect(await run(api.client())).toEqual({ data: [], nextCursor: null });
    const [method, path = ""] = Object(ROUTES)[name].split(" ");
    const url = new URL(api.seen[0]?.url ?? "", "http://any");
    expect([api.seen[0]?.method, url.pathname]).toEqual([method, BASE + path.replace(/\{\w+\}/g, "id1")]);
    expect(api.seen[0]?.headers["content-type"]).toBe(api.seen[0]?.body === "" ? undefined : "application/json");
  });

  it("puts each of two ids in the right position", async () => {
    await using api = await scriptedApi(json(200, {}));
    await api.client().webhooks.redeliver("whk_1", "dlv_1");
    expect(api.seen[0]?.url).toBe(`${BASE}/webhooks/whk_1/deliveries/dlv_1/redeliver`);
  });

  it("returns undefined when the response has no body", async () => {
    await using api = await scriptedApi((response) => response.writeHead(204).end());
    expect(await api.client().invoices.cancel("inv_1")).toBeUndefined();
  });

  it("sends Dates and booleans in a query as text, and omits undefined members", async () => {
    await using api = await scriptedApi(json(200, { data: [], nextCursor: null }));
    const createdFrom = new Date(Date.UTC(2026, 0, 2));
    await api.client().invoices.list({ createdFrom, needsReview: true, limit: 5, search: "a&b c", status: undefined });
    const query = new URL(api.seen[0]?.url ?? "", "http://any").searchParams;
    expect(Object.fromEntries(query)).toEqual({
      createdFrom: "2026-01-02T00:00:00.000Z",
      needsReview: "true",
      limit: "5",
      search: "a&b c",
    });
  });

  it("sends Dates in a body as ISO strings", async () => {
    await using api = await scriptedApi(json(202, { scheduled: 0 }));
    await api.client().webhooks.replay("whk_1", { from: new Date(0), to: "1970-01-02", types: ["invoice.*"] });
    const sent = { from: "1970-01-01T00:00:00.000Z", to: "1970-01-02", types: ["invoice.*"] };
    expect(JSON.parse(api.seen[0]?.body ?? "")).toEqual(sent);
  });

  it("escapes an id, and refuses one that would change the route", async () => {
    await using api = await scriptedApi(json(200, {}));
    const { invoices } = api.client();
    await invoices.get("../wallets?x=1#y");
    expect(api.seen[0]?.url).toBe(`${BASE}/invoices/..%2Fwallets%3Fx%3D1%23y`);
    for (const id of ["", ".", ".."]) expect(await rejection(invoices.cancel(id))).toBeInstanceOf(TypeError);
    expect(api.seen).toHaveLength(1);
  });
});

describe("the constructor", () => {
  it.each(["", "/", "/pay", "/pay/"])("accepts a baseUrl with a path: %j", async (path) => {
    await using api = await scriptedApi(json(200, {}));
    await api.client({ baseUrl: api.origin + path }).merchant.get();
    expect(api.seen[0]?.url).toBe(path.replace(/\/$/, "") + BASE);
  });

  it.each([
    ["a baseUrl that is not a URL", { baseUrl: "pay.example.com" }],
    ["no merchant", { merchantId: "" }],
    ["a merchant id that is ..", { merchantId: ".." }],
  ])("refuses invalid options: %s", (_, wrong) => {
    const right = { baseUrl: "https://pay.example.com", apiKey: "sk_1", merchantId: MERCHANT };
    expect(() => new Edgetill({ ...right, ...wrong })).toThrow(TypeError);
  });

  it("uses the given fetch", async () => {
    const asked: string[] = [];
    const given: typeof fetch = async (url) => {
      asked.push(String(url));
      return Response.json({ id: "mer" });
    };
    const client = new Edgetill({
      baseUrl: "https://pay.example.com",
      apiKey: "sk_1",
      merchantId: MERCHANT,
      fetch: given,
    });
    expect(await client.merchant.get()).toEqual({ id: "mer" });
    expect(asked).toEqual([`https://pay.example.com${BASE}`]);
  });
});

describe("a list", () => {
  const page = (ids: readonly string[], nextCursor: string | null) =>
    json(200, { data: ids.map((id) => ({ id })), nextCursor });
  const queries = (api: { readonly seen: readonly { readonly url: string }[] }) =>
    api.seen.map(({ url }) => url.split("?")[1]);

  it("is its first page when awaited", async () => {
    await using api = await scriptedApi(page(["a", "b"], "c1"));
    expect(await api.client().invoices.list()).toEqual({ data: [{ id: "a" }, { id: "b" }], nextCursor: "c1" });
    expect(queries(api)).toEqual(["cursor="]);
  });

  it("iterates over every row of every page, and requests each page once", async () => {
    await using api = await scriptedApi(page(["a", "b"], "c1"), page([], "c2"), page(["c"], null));
    const ids: string[] = [];
    for await (const { id } of api.client().invoices.list({ status: "PAID", limit: 2 })) ids.push(id);
    expect(ids).toEqual(["a", "b", "c"]);
    expect(queries(api)).toEqual([
      "status=PAID&limit=2",
      "status=PAID&limit=2&cursor=c1",
      "status=PAID&limit=2&cursor=c2",
    ]);
  });

  it("requests no page after the row at which the loop ends", async () => {
    await using api = await scriptedApi(page(["a", "b"], "c1"));
    for await (const { id } of api.client().products.list()) if (id === "b") break;
    expect(api.seen).toHaveLength(1);
  });

  it("starts at a page number and continues by cursor", async () => {
    await using api = await scriptedApi(page(["a"], "c1"), page(["b"], null));
    for await (const _ of api.client().invoices.list({ page: 3 }));
    expect(queries(api)).toEqual(["page=3", "cursor=c1"]);
  });

  it("throws in the loop if a page is refused", async () => {
    await using api = await scriptedApi(page(["a"], "c1"), refusal(403, "PERMISSION_DENIED"));
    const ids: string[] = [];
    const loop = async () => {
      for await (const { id } of api.client().invoices.list()) ids.push(id);
    };
    expect(await rejection(loop())).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(ids).toEqual(["a"]);
  });
});

describe("a poll of events", () => {
  const page = (ids: readonly number[], nextCursor: string) =>
    json(200, { data: ids.map((id) => ({ id })), nextCursor });
  const queries = (api: { readonly seen: readonly { readonly url: string }[] }) =>
    api.seen.map(({ url }) => url.split("?")[1]);
  const full = Array.from({ length: 100 }, (_, n) => n);

  it("yields every event in order, continues after the last one, and does not wait while pages are full", async () => {
    await using api = await scriptedApi(page(full, "evt_a"), page([], "evt_b"), page([100, 101], "evt_c"));
    const ids: unknown[] = [];
    const poll = api.client().events.poll({ after: "evt_0", type: "invoice.*", intervalMs: 5 });
    for await (const { id } of poll) if (ids.push(id) === 102) break;
    expect(ids).toEqual([...full, 100, 101]);
    const asked = (after: string) => `type=invoice.*&after=${after}&limit=100`;
    expect(queries(api)).toEqual(["evt_0", "evt_a", "evt_b"].map(asked));
  });

  it("starts with the oldest event, and waits when there are no more events", async () => {
    await using api = await scriptedApi(page([], "0"), page([1], "evt_1"));
    for await (const _ of api.client().events.poll({ intervalMs: 200 })) break;
    expect(queries(api)).toEqual(["after=0&limit=100", "after=0&limit=100"]);
    expect((api.seen[1]?.atMs ?? 0) - (api.seen[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(195);
  });

  it("ends when its signal is aborted, even while waiting", async () => {
    const controller = new AbortController();
    const reason = new Error("the server stops");
    await using api = await scriptedApi(page([], "0"));
    const next = rejection(api.client().events.poll({ signal: controller.signal, intervalMs: 60_000 }).next());
    await expect.poll(() => api.seen.length).toBe(1);
    controller.abort(reason);
    expect(await next).toBe(reason);
    expect(api.seen).toHaveLength(1);
  });
});
