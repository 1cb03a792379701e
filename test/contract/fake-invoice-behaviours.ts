// What a shop does with invoices and their payments, for both the service and the client's fake.
import { expect } from "vitest";
import type { Invoice } from "../../client/edgetill.ts";
import { type Stage, USDT } from "./fake-stages.ts";

export type Behaviours = Readonly<Record<string, (stage: Stage) => Promise<void>>>;

const ORDER = { name: "Order 1001", rawAmount: 49.9 };
const WHOLE = {
  ...ORDER,
  currency: "EUR",
  externalId: "1001",
  description: "Two bags",
  redirectUrl: "https://shop.example/thanks?order=1001",
  customerEmail: "Ann@example.com",
  customerName: "Ann",
  customerAddress: "1 Main Street",
  customerPhoneNumber: "+1 555",
  metadata: { cart: "77" },
  expiresInSeconds: 600,
  paymentMethods: [USDT],
} as const;

const INVALID: readonly unknown[] = [
  {},
  [],
  "Order",
  null,
  { ...ORDER, name: "" },
  { ...ORDER, name: "x".repeat(201) },
  { ...ORDER, name: 7, rawAmount: "10" },
  { ...ORDER, rawAmount: -1 },
  { ...ORDER, rawAmount: 1_000_000.5 },
  { ...ORDER, rawAmount: 0.0000001 },
  { ...ORDER, currency: "XXX" },
  { ...ORDER, colour: "red", size: 1 },
  { ...ORDER, customerEmail: "ann" },
  { ...ORDER, redirectUrl: "ftp://shop.example" },
  { ...ORDER, redirectUrl: "https://me:secret@shop.example" },
  { ...ORDER, metadata: { a: 1 } },
  { ...ORDER, metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, "v"])) },
  { ...ORDER, metadata: { a: "x".repeat(8_200) } },
  { ...ORDER, expiresInSeconds: 59 },
  { ...ORDER, expiresInSeconds: 60.5 },
  { ...ORDER, paymentMethods: [{ cryptocurrency: "USDT" }] },
  { ...ORDER, paymentMethods: [USDT, USDT] },
  { ...ORDER, externalId: "" },
  { productId: 7 },
];

const codeOf = ({ status, body }: { readonly status: number; readonly body: unknown }) =>
  `${status} ${Object(body).code}`;

export const INVOICES: Behaviours = {
  "an invoice is created, read and listed": async ({ edgetill }) => {
    const made = await edgetill.invoices.create(ORDER);
    expect(made).toMatchObject({ rawAmount: "49.900000", currency: "USD", status: "AWAITING_PAYMENT" });
    expect(await edgetill.invoices.get(made.id)).toEqual(made);
    expect((await edgetill.invoices.list({ page: 1 })).pagination).toEqual({
      page: 1,
      limit: 20,
      total: 1,
      lastPage: 1,
    });
  },
  "an invoice has every field that it was created with": async ({ edgetill }) => {
    const made = await edgetill.invoices.create(WHOLE);
    expect(made.customer).toMatchObject({ email: "Ann@example.com", name: "Ann" });
    expect((await edgetill.invoices.create({ ...ORDER, customerEmail: "ann@EXAMPLE.com" })).customerId).toBe(
      made.customerId,
    );
    await edgetill.invoices.create({ ...ORDER, customerName: "Bob" });
    await edgetill.customers.get(made.customerId ?? "");
  },
  "null for an optional field counts as an absent field": async ({ edgetill, ask }) => {
    const nulls = { description: null, metadata: null, externalId: null, currency: null, paymentMethods: null };
    const made = await ask("POST", "/invoices", { body: { ...ORDER, ...nulls } });
    expect(made.status).toBe(201);
    expect(codeOf(await ask("POST", "/invoices", { body: { ...ORDER, name: null } }))).toBe("400 VALIDATION_FAILED");
    expect(codeOf(await ask("POST", "/invoices", { body: { ...ORDER, nmae: null } }))).toBe("400 VALIDATION_FAILED");
    const { id } = await edgetill.invoices.create({ ...ORDER, description: "Two cups" });
    const changed = await ask("PATCH", `/invoices/${id}`, { body: { description: null, customerName: null } });
    expect(changed.body).toMatchObject({ description: null, customer: null });
  },
  "an invalid invoice is refused with each wrong field": async ({ ask }) => {
    for (const body of INVALID)
      expect(codeOf(await ask("POST", "/invoices", { body })), JSON.stringify(body)).toMatch(/^400 VALI/);
  },
  "a request that the API does not accept is refused with the right code": async ({ ask }) => {
    const json = { "content-type": "application/json" };
    const codes = [
      await ask("POST", "/invoices", { raw: "{", headers: json }),
      await ask("POST", "/invoices", { raw: "{}", headers: { "content-type": "text/plain" } }),
      await ask("POST", "/invoices", { raw: `"${"x".repeat(70_000)}"`, headers: json }),
      await ask("POST", "/invoices", { key: null, raw: "{", headers: json }),
      await ask("POST", "/invoices", { key: "sk_live_wrong", body: ORDER }),
      await ask("POST", "/invoices", { merchantId: "mer_00000000000000000000000000", body: ORDER }),
      await ask("GET", "/nothing/here"),
      await ask("PUT", "/invoices", { body: ORDER }),
      await ask("POST", "/invoices"),
    ].map(codeOf);
    expect(codes).toEqual([
      "400 MALFORMED_JSON",
      "415 UNSUPPORTED_MEDIA_TYPE",
      "413 BODY_TOO_LARGE",
      "401 UNAUTHORIZED",
      "401 UNAUTHORIZED",
      "403 MERCHANT_MISMATCH",
      "404 ROUTE_NOT_FOUND",
      "405 METHOD_NOT_ALLOWED",
      "400 VALIDATION_FAILED",
    ]);
  },
  "a request repeated with its idempotency key creates one invoice": async ({ ask }) => {
    const send = (key: string, body: unknown, path = "/invoices") =>
      ask("POST", path, { body, headers: { "idempotency-key": key } });
    const first = await send("order-1", ORDER);
    expect(await send("order-1", { rawAmount: 49.9, name: "Order 1001" })).toEqual(first);
    expect(codeOf(await send("order-1", { ...ORDER, rawAmount: 50 }))).toBe("409 IDEMPOTENCY_KEY_REUSED");
    expect(codeOf(await send("order-1", { ...ORDER, rawAmount: -1 }))).toBe("400 VALIDATION_FAILED");
    expect(codeOf(await send("x".repeat(256), ORDER))).toBe("400 IDEMPOTENCY_KEY_INVALID");
    // The key stays bound to this refused request: a repeat gets the same answer, and a different request with the key is refused.
    for (const _ of [1, 2])
      expect(codeOf(await send("order-2", { productId: "prd_none" }))).toBe("404 PRODUCT_NOT_FOUND");
    expect(codeOf(await send("order-2", ORDER))).toBe("409 IDEMPOTENCY_KEY_REUSED");
    const doge = { cryptocurrency: "DOGE", network: "ETH" };
    expect(codeOf(await send("order-3", { ...ORDER, paymentMethods: [doge] }))).toBe("400 UNSUPPORTED_PAIR");
    expect((await send("order-3", ORDER)).status).toBe(201);
    expect((await ask("GET", "/invoices?limit=100")).body).toMatchObject({ data: [{}, {}] });
  },
  "a change repeated with its idempotency key returns the first response": async ({ edgetill, ask }) => {
    const [cancelled, accepted] = [await edgetill.invoices.create(ORDER), await edgetill.invoices.create(ORDER)];
    const twice = async (method: string, path: string, body?: unknown) => {
      const send = () => ask(method, path, { body, headers: { "idempotency-key": `${method} ${path}` } });
      const first = await send();
      expect(first.status, path).toBe(200);
      expect(await send(), path).toEqual(first);
    };
    await twice("PATCH", `/invoices/${cancelled.id}`, { name: "Order 1002" });
    await twice("POST", `/invoices/${cancelled.id}/cancel`);
    await twice("POST", `/invoices/${accepted.id}/resolve`, { action: "ACCEPT", reason: "Cash" });
    const product = await edgetill.products.create({ name: "Tea", price: 4.5, currency: "EUR" });
    await twice("DELETE", `/products/${product.id}`);
    expect(codeOf(await ask("DELETE", `/products/${product.id}`))).toBe("404 PRODUCT_NOT_FOUND");
  },
  "an externalId cannot be used by two invoices": async ({ edgetill, ask }) => {
    const { id } = await edgetill.invoices.create({ ...ORDER, externalId: "1" });
    const again = await ask("POST", "/invoices", { body: { ...ORDER, externalId: "1" } });
    expect(again).toMatchObject({ status: 409, body: { code: "EXTERNAL_ID_EXISTS", invoiceId: id } });
  },
  "lists are filtered and read page by page": async ({ edgetill, ask }) => {
    const made: Invoice[] = [];
    for (const name of ["Tea", "Tea 2", "Coffee", "Tea 3", "Cake"])
      made.push(await edgetill.invoices.create({ ...ORDER, name }));
    await edgetill.invoices.cancel(made[1]?.id ?? "");
    const names: string[] = [];
    for await (const { name } of edgetill.invoices.list({ search: "Tea", limit: 2 })) names.push(name);
    expect(names).toEqual(["Tea 3", "Tea 2", "Tea"]);
    await edgetill.invoices.list({ status: "CANCELLED" });
    await edgetill.invoices.list({ page: 2, limit: 2 });
    await edgetill.invoices.list({ currency: "EUR", needsReview: false, createdFrom: "2026-01-01", limit: 100 });
    await edgetill.invoices.list({ createdTo: new Date(0), limit: 1 });
    await edgetill.invoices.list({ amountFrom: "1", amountTo: "100000.5", limit: 100 });
    await edgetill.invoices.list({ amountFrom: "100001" });
    await edgetill.invoices.list({ cryptocurrency: "USDT", network: "ETH" });
    await edgetill.invoices.list({ cursor: "", limit: 1 });
    for (const query of [
      "cursor=x",
      "limit=0",
      "limit=101",
      "page=0",
      "status=PIAD",
      "createdFrom=now",
      "amountTo=1,000",
      "network=MOON",
      "needsReview=maybe",
    ])
      expect(codeOf(await ask("GET", `/invoices?${query}`)), query).toBe("400 VALIDATION_FAILED");
  },
  "an invoice that awaits payment can be changed and cancelled": async ({ edgetill, ask }) => {
    const { id } = await edgetill.invoices.create(ORDER);
    await edgetill.invoices.update(id, { name: "Order 2", description: "One bag", metadata: { a: "b" } });
    await edgetill.invoices.update(id, { customerEmail: "ann@example.com", customerName: "Ann" });
    await edgetill.invoices.update(id, { description: null, name: "Order 2" });
    expect(codeOf(await ask("PATCH", `/invoices/${id}`, { body: { rawAmount: 1 } }))).toBe("400 VALIDATION_FAILED");
    expect((await edgetill.invoices.cancel(id)).status).toBe("CANCELLED");
    expect(codeOf(await ask("PATCH", `/invoices/${id}`, { body: { name: "x" } }))).toBe("422 INVOICE_NOT_EDITABLE");
    expect(codeOf(await ask("POST", `/invoices/${id}/cancel`))).toBe("422 INVOICE_NOT_CANCELLABLE");
    expect(codeOf(await ask("GET", "/invoices/inv_none"))).toBe("404 INVOICE_NOT_FOUND");
    await edgetill.invoices.listPaymentMethods(id);
  },
  "an invoice is resolved by a user": async ({ edgetill, ask }) => {
    const { id } = await edgetill.invoices.create(ORDER);
    const resolve = (action: string, more: object = {}) =>
      ask("POST", `/invoices/${id}/resolve`, { body: { action, reason: "Cash", ...more } });
    expect(codeOf(await resolve("DISMISS"))).toBe("422 NOTHING_TO_REVIEW");
    expect(codeOf(await resolve("PAID"))).toBe("400 VALIDATION_FAILED");
    await edgetill.invoices.resolve(id, { action: "ACCEPT", reason: "Cash" });
    expect((await edgetill.invoices.get(id)).status).toBe("PAID");
    expect(codeOf(await resolve("ACCEPT"))).toBe("422 INVOICE_NOT_RESOLVABLE");
    expect(codeOf(await resolve("RETURNED", { txHash: "0x1" }))).toBe("422 NOTHING_TO_REVIEW");
    await edgetill.events.list({ invoiceId: id, limit: 100 });
  },
  "payment methods are listed and picked": async ({ edgetill, ask }) => {
    const { id } = await edgetill.invoices.create({ ...ORDER, paymentMethods: [] });
    await edgetill.invoices.listPaymentMethods(id);
    const path = `/invoices/${id}/payment-methods`;
    expect((await ask("POST", path, { body: { cryptocurrency: "usdt", network: "ethereum" } })).status).toBe(201);
    expect((await ask("POST", path, { body: USDT })).status).toBe(200);
    expect(codeOf(await ask("POST", path, { body: { cryptocurrency: "BTC", network: "BTC" } }))).toBe(
      "422 NO_ENABLED_WALLET",
    );
    expect(codeOf(await ask("POST", path, { body: { cryptocurrency: "BTC", network: "ETH" } }))).toBe(
      "400 UNSUPPORTED_PAIR",
    );
    await edgetill.invoices.cancel(id);
    const other = await edgetill.invoices.create({ ...ORDER, paymentMethods: [] });
    await edgetill.invoices.cancel(other.id);
    expect(codeOf(await ask("POST", `/invoices/${other.id}/payment-methods`, { body: USDT }))).toBe(
      "422 INVOICE_NOT_PAYABLE",
    );
    const bodies = [[{ cryptocurrency: "BTC", network: "BTC" }], [{ cryptocurrency: "X", network: "ETH" }]];
    for (const paymentMethods of bodies) await ask("POST", "/invoices", { body: { ...ORDER, paymentMethods } });
    const open = await edgetill.invoices.create({ name: "Gift", rawAmount: 0, paymentMethods: [USDT] });
    await edgetill.invoices.listPaymentMethods(open.id);
    expect(codeOf(await ask("POST", `/invoices/${open.id}/payment-methods`, { body: USDT }))).toMatch(
      "ANY_AMOUNT_NEEDS_OWN",
    );
  },
  "invoices at one price ask for different amounts, and each currency is converted in the same way": async ({
    edgetill,
  }) => {
    const amounts: unknown[] = [];
    for (const rawAmount of [10, 10, 10, 10, 3.5, 3.5, 3.5, 0.07, 100])
      amounts.push((await edgetill.invoices.create({ name: "Order", rawAmount })).paymentMethods[0]?.amount);
    expect(new Set(amounts).size).toBe(amounts.length);
    for (const currency of ["EUR", "JPY", "BTC", "ETH", "USDT", "TRX"] as const)
      await edgetill.invoices.create({ name: "Order", rawAmount: 7.77, currency });
    await edgetill.invoices.create({ name: "Order", rawAmount: 0.1 + 0.2 });
  },
  "wallets are read": async ({ edgetill, ask }) => {
    const [wallet] = await edgetill.wallets.list();
    await edgetill.wallets.get(wallet?.id ?? "");
    expect(codeOf(await ask("GET", "/wallets/wal_none"))).toBe("404 WALLET_NOT_FOUND");
  },
};
