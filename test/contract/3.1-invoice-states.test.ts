// Interface 3.1 and decisions 4: how an invoice starts, what may be changed while it awaits payment, and how it is cancelled. EXPIRED cannot be
// tested here without long waits, because the shortest lifetime is 60 seconds: tests with a clock of their own cover it (expiry on read and by
// sweep).
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  stranger,
  unique,
} from "./client.ts";
import { extendedKey, freshDirectWallet, xpubWallet } from "./key-material.ts";
import { expectInvoiceShape, type Invoice } from "./shapes.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const cancel = (invoice: Invoice) => shop.post<Invoice>(`/invoices/${invoice.id}/cancel`);
const read = async (invoice: Invoice) => expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200);
const patch = (invoice: Invoice, body: unknown) => shop.patch<Invoice>(`/invoices/${invoice.id}`, body);

describe("creation", () => {
  test("puts an invoice into AWAITING_PAYMENT with one timeline item and an expiry time", async () => {
    const invoice = await createInvoice(shop, { expiresInSeconds: 600 });
    expect(invoice.status).toBe("AWAITING_PAYMENT");
    expect(invoice.invoiceTimeline.map((item) => item.paymentStatus)).toEqual(["AWAITING_PAYMENT"]);
    expect(invoice.invoiceTimeline[0]?.time).toBe(invoice.createdAt);
    expect(invoice.updatedAt).toBe(invoice.createdAt);
    expect(Date.parse(invoice.expiresAt)).toBe(Date.parse(invoice.createdAt) + 600_000);
    expect(Math.abs(Date.parse(invoice.createdAt) - Date.now())).toBeLessThan(60_000);
  });

  test("returns the same invoice as a read right after it", async () => {
    const invoice = await createInvoice(shop, { expiresInSeconds: 60 });
    expect(await read(invoice)).toEqual(invoice);
    await cancel(invoice);
  });
});

describe("an invoice that awaits payment", () => {
  test("can be given a new name, description, redirectUrl, metadata and customer fields", async () => {
    const customerEmail = `${unique("ann")}@example.com`;
    const invoice = await createInvoice(shop, { customerEmail, customerName: "Ann", metadata: { a: "1" } });
    const changes = { name: "New", description: "Text", redirectUrl: "https://shop.example/", metadata: { b: "2" } };
    const customer = { customerName: "Ann Lee", customerAddress: "1 Long Street", customerPhoneNumber: "555" };
    const changed = expectOk(await patch(invoice, { ...changes, ...customer }), 200);
    expectInvoiceShape(changed);
    expect(changed).toMatchObject({
      ...changes,
      id: invoice.id,
      rawAmount: invoice.rawAmount,
      status: "AWAITING_PAYMENT",
      createdAt: invoice.createdAt,
      expiresAt: invoice.expiresAt,
      customer: { email: customerEmail, name: "Ann Lee", address: "1 Long Street", phoneNumber: "555" },
    });
    expect(changed.metadata).toEqual({ b: "2" });
    expect(changed.invoiceTimeline).toEqual(invoice.invoiceTimeline);
    expect(await read(invoice)).toEqual(changed);
  });

  test("can be given a customer that it did not have before", async () => {
    const customerEmail = `${unique("ann")}@example.com`;
    const known = await createInvoice(shop, { customerEmail, customerName: "Ann" });
    const changed = expectOk(await patch(await createInvoice(shop), { customerEmail }), 200);
    expect(changed.customer).toEqual(known.customer);
    const named = expectOk(await patch(await createInvoice(shop), { customerName: "Bob" }), 200);
    expect(named.customer).toMatchObject({ id: named.customerId, email: null, name: "Bob" });
  });

  test("applies five concurrent changes without losing any", async () => {
    const invoice = await createInvoice(shop);
    const fields = ["name", "description", "customerName", "customerAddress", "customerPhoneNumber"];
    const answers = await Promise.all(fields.map((field) => patch(invoice, { [field]: `new ${field}` })));
    expect(answers.map((answer) => answer.status)).toEqual(fields.map(() => 200));
    expect(await read(invoice)).toMatchObject({
      name: "new name",
      description: "new description",
      customer: { name: "new customerName", address: "new customerAddress", phoneNumber: "new customerPhoneNumber" },
    });
  });

  test("keeps the fields that a change does not name", async () => {
    const invoice = await createInvoice(shop, { description: "Text", metadata: { a: "1" }, customerName: "Ann" });
    const changed = expectOk(await patch(invoice, { name: "New" }), 200);
    expect({ ...changed, updatedAt: "" }).toEqual({ ...invoice, name: "New", updatedAt: "" });
  });

  test.each([
    { rawAmount: 5 },
    { currency: "EUR" },
    { status: "PAID" },
    { expiresAt: "2030-01-01T00:00:00.000Z" },
    { expiresInSeconds: 600 },
    { externalId: "x" },
    { paymentMethods: [] },
    { nmae: "slip" },
  ])("refuses to change %j", async (body) => {
    const invoice = await createInvoice(shop);
    expectRefusal(await patch(invoice, body), 400);
    expect(await read(invoice)).toEqual(invoice);
  });

  test.each([
    { name: "x".repeat(201) },
    { name: 7 },
    { name: "a\u0000" },
    { description: "x".repeat(1_001) },
    { redirectUrl: "javascript:alert(1)" },
    { metadata: { a: 1 } },
    { customerEmail: "nobody" },
    { customerAddress: "x".repeat(501) },
    { customerPhoneNumber: "x".repeat(51) },
  ])("applies the bounds of creation to a change: %j", async (body) => {
    expectRefusal(await patch(await createInvoice(shop), body), 400);
  });

  test("keeps the address and amount of its payment methods after a change", async () => {
    await registerWallet(shop, xpubWallet(extendedKey()));
    const invoice = await createInvoice(shop);
    expect(expectOk(await patch(invoice, { name: "New" }), 200).paymentMethods).toEqual(invoice.paymentMethods);
  });
});

describe("cancelling an invoice", () => {
  test("moves it to CANCELLED, adds a timeline item and shortens the time it is monitored", async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const invoice = await createInvoice(shop);
    const cancelled = expectOk(await cancel(invoice), 200);
    expectInvoiceShape(cancelled);
    expect(cancelled.status).toBe("CANCELLED");
    expect(cancelled.invoiceTimeline.map((item) => item.paymentStatus)).toEqual(["AWAITING_PAYMENT", "CANCELLED"]);
    expect(cancelled.invoiceTimeline[0]).toEqual(invoice.invoiceTimeline[0]);
    const cancelledAt = Date.parse(cancelled.invoiceTimeline[1]?.time ?? "");
    expect(Date.parse(cancelled.monitorUntil)).toBe(cancelledAt + 86_400_000);
    expect(await read(invoice)).toEqual(cancelled);
  });

  test("that is already cancelled is refused and changes nothing", async () => {
    const invoice = await createInvoice(shop);
    const cancelled = expectOk(await cancel(invoice), 200);
    expectRefusal(await cancel(invoice), 422, "INVOICE_NOT_CANCELLABLE");
    expect(await read(invoice)).toEqual(cancelled);
  });

  test("by ten callers at once succeeds once and adds one timeline item", async () => {
    const invoice = await createInvoice(shop);
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(invoice)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    for (const answer of answers.filter((each) => each.status !== 200)) {
      expectRefusal(answer, 422, "INVOICE_NOT_CANCELLABLE");
    }
    expect((await read(invoice)).invoiceTimeline).toHaveLength(2);
  });

  test("prevents every later change", async () => {
    const invoice = await createInvoice(shop);
    const cancelled = expectOk(await cancel(invoice), 200);
    const answer = await patch(invoice, { name: "New" });
    expect([409, 422]).toContain(answer.status);
    expectRefusal(answer, answer.status);
    expect(await read(invoice)).toEqual(cancelled);
  });

  test("is refused for an invoice of another merchant", async () => {
    const theirs = await createInvoice(stranger);
    expectRefusal(await cancel(theirs), 404, "INVOICE_NOT_FOUND");
    expectRefusal(await patch(theirs, { name: "New" }), 404, "INVOICE_NOT_FOUND");
    expect(expectOk(await stranger.get<Invoice>(`/invoices/${theirs.id}`), 200)).toEqual(theirs);
  });
});

describe("payments", () => {
  test("of an invoice that received none are an empty list", async () => {
    const { id } = await createInvoice(shop);
    const body = expectOk(await shop.get<unknown[] | { data: unknown[] }>(`/invoices/${id}/payments`), 200);
    expect("data" in body ? body.data : body).toEqual([]);
  });
});
