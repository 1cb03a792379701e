// Payments, products, customers, pages, endpoints and events, for both the service and the client's fake.
import { expect } from "vitest";
import { EdgetillError, type Invoice } from "../../client/edgetill.ts";
import type { Behaviours } from "./fake-invoice-behaviours.ts";
import { type Stage, USDT } from "./fake-stages.ts";

const ORDER = { name: "Order 1001", rawAmount: 50 };
const codeOf = ({ status, body }: { readonly status: number; readonly body: unknown }) =>
  `${status} ${Object(body).code}`;

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof EdgetillError ? `${error.status} ${error.code}` : String(error);
}

/** An invoice's events up to the first of a type. Later events depend on when the chain is final. */
async function eventsUntil({ edgetill }: Stage, { id }: Pick<Invoice, "id">, last: string): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of edgetill.events.poll({ invoiceId: id, intervalMs: 50 }))
    if (types.push(type) > 0 && type === last) break;
  return types;
}

export const PAYMENTS: Behaviours = {
  "a payment in full is detected, then confirmed": async (stage) => {
    const { edgetill, pay, confirm, ask } = stage;
    const invoice = await edgetill.invoices.create(ORDER);
    const { id } = await pay(invoice.id, "50");
    expect(await edgetill.payments.get(id)).toMatchObject({ status: "DETECTED", matchedBy: "EXACT_AMOUNT" });
    expect((await edgetill.invoices.get(invoice.id)).status).toBe("PENDING_CONFIRMATION");
    expect(codeOf(await ask("POST", `/invoices/${invoice.id}/cancel`))).toBe("422 INVOICE_HAS_PAYMENTS");
    await confirm(id);
    expect(await edgetill.invoices.get(invoice.id)).toMatchObject({ status: "PAID", amountConfirmed: "50.000000" });
    expect(await eventsUntil(stage, invoice, "payment.paid")).toEqual([
      "invoice.created",
      "payment.created",
      "payment.detected",
      "invoice.pending_confirmation",
      "payment.confirmed",
      "invoice.paid",
      "payment.paid",
    ]);
    expect((await edgetill.payments.get(id)).evidence.weighing?.by).toBe("EXACT_UNITS");
    await edgetill.invoices.listPayments(invoice.id);
    await edgetill.payments.list({ invoiceId: invoice.id, status: "CONFIRMED", network: "ethereum" });
    expect(await refusalOf(edgetill.payments.get("pay_none"))).toBe("404 PAYMENT_NOT_FOUND");
    for (const query of ["network=mars", "status=PAID"])
      expect(codeOf(await ask("GET", `/payments?${query}`))).toBe("400 VALIDATION_FAILED");
    const again = { action: "IGNORE", reason: "no" } as const;
    expect(await refusalOf(edgetill.payments.resolve(id, again))).toBe("422 PAYMENT_NOT_RESOLVABLE");
  },
  "an invoice is paid in part, and then by exactly the amount still due": async (stage) => {
    const { edgetill, pay, confirm } = stage;
    const invoice = await edgetill.invoices.create(ORDER);
    const part = await pay(invoice.id, "20");
    await edgetill.invoices.get(invoice.id);
    await confirm(part.id);
    const open = await edgetill.invoices.get(invoice.id);
    expect(open).toMatchObject({ status: "AWAITING_PAYMENT", amountConfirmed: "20.000000" });
    const rest = await pay(invoice.id, open.paymentMethods[0]?.amountDue ?? "");
    await edgetill.invoices.get(invoice.id);
    await confirm(rest.id);
    expect((await edgetill.invoices.get(invoice.id)).status).toBe("PAID");
    await eventsUntil(stage, invoice, "payment.paid");
  },
  "an amount within the tolerance pays the invoice": async ({ edgetill, pay, confirm }) => {
    const near = await edgetill.invoices.create(ORDER);
    await confirm((await pay(near.id, "49.6")).id);
    expect(await edgetill.invoices.get(near.id)).toMatchObject({
      status: "PAID",
      payments: [{ matchedBy: "TOLERANCE" }],
    });
  },
  "an amount above the tolerance overpays the invoice": async (stage) => {
    const { edgetill, pay, confirm } = stage;
    const over = await edgetill.invoices.create({ ...ORDER, rawAmount: 80 });
    await confirm((await pay(over.id, "90")).id);
    expect((await edgetill.invoices.get(over.id)).status).toBe("OVERPAID");
    await eventsUntil(stage, over, "payment.overpaid");
    const back = { action: "RETURNED", reason: "sent ten back", txHash: "0x1" } as const;
    expect((await edgetill.invoices.resolve(over.id, back)).needsReview).toBe(false);
  },
  "an invoice expires if it is unpaid, and is underpaid if it was paid in part": async (stage) => {
    const { edgetill, pay, confirm, end, ask } = stage;
    const unpaid = await edgetill.invoices.create(ORDER);
    await end(unpaid.id);
    expect((await edgetill.invoices.get(unpaid.id)).status).toBe("EXPIRED");
    expect(codeOf(await ask("POST", `/invoices/${unpaid.id}/cancel`))).toBe("422 INVOICE_NOT_CANCELLABLE");
    const half = await edgetill.invoices.create({ ...ORDER, name: "Order 2", rawAmount: 90 });
    await confirm((await pay(half.id, "30")).id);
    await end(half.id);
    expect((await edgetill.invoices.get(half.id)).status).toBe("UNDERPAID");
    await eventsUntil(stage, half, "payment.underpaid");
  },
  "a payment that matches no invoice is resolved by a user": async (stage) => {
    const { edgetill, pay, ask } = stage;
    const { id: invoiceId } = await edgetill.invoices.create({ ...ORDER, rawAmount: 1_000 });
    const { id } = await pay(undefined, "77");
    await edgetill.payments.list({ status: "UNMATCHED", limit: 10 });
    const resolve = (body: object) => ask("POST", `/payments/${id}/resolve`, { body });
    expect(codeOf(await resolve({ action: "ASSIGN", reason: "x" }))).toBe("400 VALIDATION_FAILED");
    expect(codeOf(await resolve({ action: "IGNORE", reason: "x", invoiceId: "inv_1" }))).toBe("400 VALIDATION_FAILED");
    const nowhere = { action: "ASSIGN", reason: "x", invoiceId: "inv_none" };
    expect(codeOf(await resolve(nowhere))).toBe("404 INVOICE_NOT_FOUND");
    expect(codeOf(await resolve({ action: "REOPEN", reason: "x" }))).toBe("422 PAYMENT_NOT_RESOLVABLE");
    await edgetill.payments.resolve(id, { action: "IGNORE", reason: "not ours" });
    await edgetill.payments.resolve(id, { action: "REOPEN", reason: "ours after all" });
    await edgetill.payments.list({ page: 1 });
    const assigned = await edgetill.payments.resolve(id, {
      action: "ASSIGN",
      invoiceId,
      reason: "the customer said so",
    });
    expect(assigned).toMatchObject({ status: "CONFIRMED", matchedBy: "MANUAL", fiatAmount: "77.000000" });
    expect(await edgetill.invoices.get(invoiceId)).toMatchObject({ amountConfirmed: "77.000000" });
    await eventsUntil(stage, { id: invoiceId }, "invoice.partially_paid");
  },
};

export const SHOP: Behaviours = {
  "products are created, changed, listed and deleted": async ({ edgetill, ask }) => {
    const { products } = edgetill;
    const coffee = await products.create({ name: "Coffee", price: 19.5 });
    const tea = { name: "Tea", price: 5, currency: "EUR", description: "Green", askForName: true } as const;
    const { id } = await products.create(tea, { idempotencyKey: "tea" });
    await products.create(tea, { idempotencyKey: "tea" });
    await products.update(id, { price: 5.5, description: null, isActive: false });
    await products.update(id, { price: 5.5 });
    for (const query of [{ isActive: false }, { limit: 1 }, {}]) await products.list(query);
    await ask("GET", "/products?search=Cof");
    expect(codeOf(await ask("PATCH", `/products/${id}`, { body: {} }))).toBe("400 VALIDATION_FAILED");
    expect(codeOf(await ask("POST", "/products", { body: { name: "", price: -1 } }))).toBe("400 VALIDATION_FAILED");
    const body = { productId: id };
    expect(codeOf(await ask("POST", "/invoices", { body }))).toBe("422 PRODUCT_NOT_AVAILABLE");
    const invoice = await edgetill.invoices.create({ productId: coffee.id });
    expect(invoice).toMatchObject({ name: "Coffee", rawAmount: "19.500000" });
    await edgetill.invoices.create({ productId: coffee.id, name: "Beans", rawAmount: 12 });
    const inEuro = { productId: coffee.id, currency: "EUR" };
    expect(codeOf(await ask("POST", "/invoices", { body: inEuro }))).toBe("400 VALIDATION_FAILED");
    await products.update(coffee.id, { name: "Coffee, 1 kg" });
    await products.delete(coffee.id);
    expect(await refusalOf(products.get(coffee.id))).toBe("404 PRODUCT_NOT_FOUND");
    expect((await edgetill.invoices.get(invoice.id)).product?.name).toBe("Coffee, 1 kg");
  },
  "customers are found by email, changed and deleted": async ({ edgetill, ask }) => {
    const { customers } = edgetill;
    const ann = await customers.upsert({ email: "Ann@example.com", name: "Ann" });
    await customers.upsert({ email: "ann@example.com", phoneNumber: "1", metadata: { vip: "yes" } });
    const bob = await customers.upsert({ name: "Bob" });
    expect(await refusalOf(customers.update(bob.id, { email: "ANN@example.com" }))).toBe("409 CUSTOMER_EMAIL_EXISTS");
    await customers.update(bob.id, { email: "bob@example.com", name: null });
    await customers.list({ search: "ann@EXAMPLE.com" });
    for (const body of [{}, { name: null }, { email: "x" }])
      expect(codeOf(await ask("POST", "/customers", { body }))).toBe("400 VALIDATION_FAILED");
    expect(codeOf(await ask("PATCH", `/customers/${bob.id}`, { body: {} }))).toBe("400 VALIDATION_FAILED");
    const invoice = await edgetill.invoices.create({ ...ORDER, customerEmail: "ann@example.com" });
    expect(invoice.customerId).toBe(ann.id);
    await customers.delete(ann.id);
    expect(await refusalOf(customers.get(ann.id))).toBe("404 CUSTOMER_NOT_FOUND");
    expect((await edgetill.invoices.get(invoice.id)).customer?.email).toBeNull();
    await edgetill.invoices.create({ ...ORDER, customerEmail: "ann@example.com" });
    await customers.list();
  },
  "a page can sell with a public key, and do nothing else": async ({ edgetill, page, ask, transcript }) => {
    const { id: productId } = await edgetill.products.create({ name: "Coffee", price: 19.5 });
    const hidden = await edgetill.products.create({ name: "Tea", price: 5, isActive: false });
    const known = await edgetill.invoices.create({ ...ORDER, customerEmail: "ann@example.com", metadata: { a: "b" } });
    const sold = await page.invoices.create({ productId, customerEmail: "ann@example.com", customerName: "Mallory" });
    expect((await edgetill.invoices.get(sold.id)).origin).toBe("PUBLIC_KEY");
    await page.invoices.create({ productId, customerName: "Nobody" });
    await page.invoices.get(known.id);
    await page.invoices.listPaymentMethods(sold.id);
    await page.invoices.addPaymentMethod(sold.id, USDT);
    await page.products.list();
    const made = transcript.length;
    const refused = [
      () => page.invoices.create({ productId, rawAmount: 1 }),
      () => page.invoices.create({ productId, currency: "EUR" }),
      () => page.products.get(hidden.id),
      () => page.invoices.create({ productId: hidden.id }),
    ];
    for (const call of refused) expect(await refusalOf(call())).toMatch(/PRICE_IS_FIXED|PRODUCT_NOT_FOUND/);
    expect(transcript.length).toBe(made + refused.length);
    expect(codeOf(await ask("GET", "/customers", { isOfPage: true }))).toBe("403 PUBLIC_KEY_FORBIDDEN");
    expect(codeOf(await ask("POST", `/invoices/${sold.id}/cancel`, { isOfPage: true }))).toBe(
      "403 PUBLIC_KEY_FORBIDDEN",
    );
    const body = { productId, externalId: "1" };
    expect(codeOf(await ask("POST", "/invoices", { body, isOfPage: true }))).toBe("403 PUBLIC_KEY_FORBIDDEN");
  },
  "endpoints get the events they subscribe to, signed": async ({ edgetill, hookUrl, delivered, ask, note }) => {
    const { webhooks, invoices } = edgetill;
    const { id, secret } = await webhooks.create({ url: hookUrl, events: ["invoice.*", "invoice.paid"] });
    await webhooks.list();
    const invoice = await invoices.create({ ...ORDER, externalId: "1" });
    await invoices.resolve(invoice.id, { action: "ACCEPT", reason: "Cash" });
    const events = await delivered(2, secret);
    expect(events).toMatchObject([{ type: "invoice.created", sequence: 1 }, { type: "invoice.paid" }]);
    note("what was delivered", events);
    await webhooks.update(id, { events: ["payment.*"], description: "Main", retryCount: 2 });
    for (const isActive of [false, true, false]) await webhooks.update(id, { isActive });
    expect(await refusalOf(webhooks.ping(id))).toBe("422 WEBHOOK_INACTIVE");
    for (const url of ["http://shop.com/x", "https://shop.com:444/", "https://a@shop.com", "https://shop.com/#a", "x"])
      expect(codeOf(await ask("POST", "/webhooks", { body: { url, events: ["*"] } })), url).toMatch("WEBHOOK_URL_REF");
    for (const body of [{ url: hookUrl }, { url: hookUrl, events: [] }, { url: hookUrl, events: ["invoice.payed"] }])
      expect(codeOf(await ask("POST", "/webhooks", { body }))).toBe("400 VALIDATION_FAILED");
    expect(codeOf(await ask("PATCH", `/webhooks/${id}`, { body: {} }))).toBe("400 VALIDATION_FAILED");
    await webhooks.get(id);
    await webhooks.delete(id);
    expect(await refusalOf(webhooks.get(id))).toBe("404 WEBHOOK_NOT_FOUND");
  },
  "a ping is delivered whatever the endpoint subscribes to": async ({ edgetill, hookUrl, delivered, note }) => {
    const { id, secret } = await edgetill.webhooks.create({ url: hookUrl, events: ["wallet.deleted"] });
    await edgetill.webhooks.ping(id, { idempotencyKey: "ping-1" });
    await edgetill.webhooks.ping(id, { idempotencyKey: "ping-1" });
    note("what was delivered", await delivered(1, secret));
  },
  "events are listed and polled": async ({ edgetill, ask }) => {
    const { id } = await edgetill.invoices.create(ORDER);
    await edgetill.invoices.update(id, { name: "Order 2" });
    await edgetill.invoices.cancel(id);
    const { data } = await edgetill.events.list({ invoiceId: id, limit: 2 });
    const newest = data[0]?.id ?? "";
    await edgetill.events.get(newest);
    const all: string[] = [];
    for await (const { type } of edgetill.events.list({ invoiceId: id, limit: 1 })) all.push(type);
    expect(all).toEqual(["invoice.cancelled", "invoice.updated", "payment.created", "invoice.created"]);
    for (const query of [
      `after=0&limit=2&invoiceId=${id}`,
      `after=${newest}&invoiceId=${id}`,
      "type=invoice.cancelled",
    ])
      await ask("GET", `/events?${query}`);
    for (const query of ["type=invoice.payed", "after=0&cursor=x", "cursor=x", "limit=0"])
      expect(codeOf(await ask("GET", `/events?${query}`)), query).toBe("400 VALIDATION_FAILED");
    expect(await refusalOf(edgetill.events.get("evt_none"))).toBe("404 EVENT_NOT_FOUND");
    expect(codeOf(await ask("GET", "/events?after=evt_none"))).toBe("404 EVENT_NOT_FOUND");
  },
};
