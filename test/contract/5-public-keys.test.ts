// Interface 5.2 and decisions 7: what a public key may do, and how little it is shown.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  browser,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  unique,
} from "./client.ts";
import { extendedKey, freshDirectWallet, xpubWallet } from "./key-material.ts";
import type { Invoice, PaymentMethod } from "./shapes.ts";

const key = extendedKey();
beforeAll(async () => {
  await removeWallets(shop);
  await registerWallet(shop, xpubWallet(key));
  await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
});
afterAll(() => removeWallets(shop));

const USDT = { cryptocurrency: "USDT", network: "ETH" };
const BTC = { cryptocurrency: "BTC", network: "BTC" };
/** Decisions 7: the public projection. */
const SHOWN =
  `id merchantId name description rawAmount endAmount currency status expiresAt createdAt updatedAt redirectUrl checkoutUrl
  paymentMethods amountReceived product payments invoiceTimeline`.split(/\s+/);
const HIDDEN = ["customer", "customerId", "metadata", "externalId"];

function expectPublic(invoice: Invoice): void {
  const values = new Map(Object.entries(invoice));
  for (const field of SHOWN) expect(values.get(field), field).not.toBeUndefined();
  for (const field of HIDDEN) expect(values.get(field), field).toBeNull();
  // All members outside the public projection must be null.
  for (const [field, value] of values) if (!SHOWN.includes(field)) expect(value, field).toBeNull();
}

describe("a public key", () => {
  test("creates an invoice and sees only its public fields", async () => {
    const fields = { description: "Text", redirectUrl: "https://shop.example/", paymentMethods: [USDT] };
    const customer = { customerEmail: `${unique("ann")}@example.com`, customerName: "Ann" };
    const invoice = await createInvoice(browser, { ...fields, ...customer });
    expectPublic(invoice);
    expect(invoice).toMatchObject({ ...fields, paymentMethods: [{ ...USDT, status: "ACTIVE" }] });
    const whole = expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200);
    expect(whole.customer).toMatchObject({ email: customer.customerEmail, name: "Ann" });
  });

  test("reads any invoice of the merchant, but only its public fields", async () => {
    const fields = { customerName: "Ann", externalId: unique("order"), metadata: { secret: "plan" } };
    const invoice = await createInvoice(shop, fields);
    const answer = await browser.get<Invoice>(`/invoices/${invoice.id}`);
    expectPublic(expectOk(answer, 200));
    for (const hidden of ["Ann", "plan", fields.externalId, invoice.customerId])
      expect(answer.text).not.toContain(hidden);
  });

  test("lists and picks the payment methods of an invoice", async () => {
    const invoice = await createInvoice(browser);
    expect((await browser.get(`/invoices/${invoice.id}/payment-methods`)).status).toBe(200);
    const picked = await browser.post<PaymentMethod>(`/invoices/${invoice.id}/payment-methods`, BTC);
    expect([200, 201]).toContain(picked.status);
    expect(picked.body).toMatchObject({ ...BTC, status: "ACTIVE" });
  });

  test.each([
    { externalId: "order-1" },
    { metadata: { a: "b" } },
    { expiresInSeconds: 600 },
    { paymentMethods: [USDT, BTC] },
  ])("cannot create an invoice with %j", async (fields) => {
    expectRefusal(await browser.post("/invoices", { name: "Order", rawAmount: 10, ...fields }), 403);
  });

  test("can neither change a customer nor learn about one", async () => {
    const customerEmail = `${unique("ann")}@example.com`;
    const first = await createInvoice(shop, { customerEmail, customerName: "Ann", customerAddress: "1 Long Street" });
    const forged = await browser.post<Invoice>("/invoices", {
      name: "Order",
      rawAmount: 10,
      customerEmail,
      customerName: "Mallory",
      customerPhoneNumber: "666",
    });
    expectPublic(expectOk(forged, 201));
    for (const secret of ["Ann", "Long Street", first.customerId]) expect(forged.text).not.toContain(secret);
    const { customer } = expectOk(await shop.get<Invoice>(`/invoices/${first.id}`), 200);
    expect(customer).toEqual(first.customer);
  });

  test("has its own namespace of idempotency keys", async () => {
    const headers = { "idempotency-key": unique() };
    const mine = await shop.post<Invoice>("/invoices", { name: "Server", rawAmount: 10 }, headers);
    const theirs = await browser.post<Invoice>("/invoices", { name: "Browser", rawAmount: 10 }, headers);
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.body.id).not.toBe(mine.body.id);
  });

  test("gets at most twenty unpaid addresses, after which invoices created with the secret key continue to get addresses", async () => {
    const fields = { name: "Order", rawAmount: 10, paymentMethods: [BTC] };
    const invoices: Invoice[] = [];
    for (let count = 0; count < 22; count += 1) {
      const answer = await browser.post<Invoice>("/invoices", fields);
      if (answer.status === 201) invoices.push(answer.body);
      else expectRefusal(answer, answer.status);
    }
    const active = invoices.filter((invoice) => invoice.paymentMethods[0]?.status === "ACTIVE");
    expect(active.length).toBeGreaterThan(15);
    expect(active.length).toBeLessThanOrEqual(20);
    expect((await createInvoice(shop, { paymentMethods: [BTC] })).paymentMethods[0]?.status).toBe("ACTIVE");
  });

  test("cannot cancel, change or list invoices, or see or change wallets", async () => {
    const { id } = await createInvoice(shop);
    const wallet = freshDirectWallet("TRX", "TRX");
    expectRefusal(await browser.post(`/invoices/${id}/cancel`), 403);
    expectRefusal(await browser.patch(`/invoices/${id}`, { name: "New" }), 403);
    expectRefusal(await browser.get(`/invoices/${id}/payments`), 403);
    expectRefusal(await browser.get("/invoices"), 403);
    expectRefusal(await browser.get("/wallets"), 403);
    expectRefusal(await browser.post("/wallets", wallet), 403);
    for (const path of ["", "/addresses", "/recovery"]) {
      expectRefusal(await browser.get(`/wallets/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV${path}`), 403);
    }
    expectRefusal(await browser.patch("/wallets/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV", { isEnabled: false }), 403);
    expectRefusal(await browser.delete("/wallets/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV"), 403);
    expect(expectOk(await shop.get<Invoice>(`/invoices/${id}`), 200).status).toBe("AWAITING_PAYMENT");
  });
});
