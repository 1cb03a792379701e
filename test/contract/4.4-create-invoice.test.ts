// Interface 4.4 and decisions 1 "Drop-in": the main use, from a merchant's wallet to an invoice that a customer can pay.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  call,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  service,
  shop,
  stranger,
  unique,
} from "./client.ts";
import { extendedKey, xpubWallet } from "./key-material.ts";
import { expectInvoiceShape, type Invoice, idOf } from "./shapes.ts";

beforeAll(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

describe("creating an invoice", () => {
  test("returns 201 with the same invoice as a later read", async () => {
    const answer = await shop.post<Invoice>("/invoices", { name: "Order", rawAmount: 10 });
    const invoice = expectOk(answer, 201);
    expectInvoiceShape(invoice);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200)).toEqual(invoice);
  });

  test("works for an existing client that only changed its base URL", async () => {
    const base = `${service.baseUrl}/api`;
    const response = await fetch(`${base}/v1/merchants/merchant/${service.merchantId}/invoices`, {
      method: "POST",
      headers: {
        "X-Api-Key": service.secretKey,
        "Idempotency-Key": unique(),
        "Content-Type": "application/json; charset=utf-8",
        Accept: "application/json, text/plain, */*",
        "User-Agent": "axios/1.7.7",
      },
      body: JSON.stringify({ name: "Order", rawAmount: 49.99, customerEmail: "ann@example.com" }),
    });
    expect(response.status).toBe(201);
    expectInvoiceShape(JSON.parse(await response.text()));
  });

  test("works right after a wallet is registered, and uses an address of that wallet", async () => {
    const key = extendedKey();
    await registerWallet(shop, xpubWallet(key));
    const invoice = await createInvoice(shop, { rawAmount: 49.99 });
    expect(invoice.paymentMethods[0]).toMatchObject({ status: "ACTIVE", address: key.address(0) });
    await removeWallets(shop);
  });

  test("gives each of a hundred invoices created at once its own id", async () => {
    const invoices = await Promise.all(Array.from({ length: 100 }, () => createInvoice(shop)));
    expect(new Set(invoices.map((invoice) => invoice.id)).size).toBe(100);
    expect(new Set(invoices.flatMap((invoice) => invoice.invoiceTimeline.map((item) => item.id))).size).toBe(100);
  });
});

describe("an invoice", () => {
  test("of another merchant gives the same 404 as an unknown or malformed id", async () => {
    const theirs = await createInvoice(stranger);
    const seen = (answer: Answer<unknown>) => {
      const { requestId, ...rest } = expectRefusal(answer, 404, "INVOICE_NOT_FOUND");
      expect(requestId).toMatch(/\S/);
      return rest;
    };
    const unknown = seen(await shop.get("/invoices/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    for (const id of [
      theirs.id,
      "inv_1",
      "1",
      theirs.id.toLowerCase(),
      `${theirs.id}0`,
      "wal_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ]) {
      expect(seen(await shop.get(`/invoices/${id}`))).toEqual(unknown);
    }
  });

  test("shares no random part of its id with its customer or its timeline", async () => {
    const invoice = await createInvoice(shop, { customerName: "Ann" });
    expect(invoice.id).toMatch(idOf("inv"));
    const randomPart = (id: string | null | undefined) => id?.slice(-14);
    const ids = [invoice.id, invoice.customerId, invoice.invoiceTimeline[0]?.id];
    expect(new Set(ids.map(randomPart)).size).toBe(3);
  });
});

describe("the request", () => {
  const path = `/api/v1/merchants/merchant/${service.merchantId}/invoices`;
  const body = JSON.stringify({ name: "Order", rawAmount: 10 });
  const post = (raw: string | Uint8Array, headers: Record<string, string> = {}) =>
    call<Invoice>(path, { method: "POST", key: service.secretKey, raw, headers });

  test("may have its fields in any order and with any white space", async () => {
    const invoice = expectOk(await post(' \r\n{\t"rawAmount" : 10 ,\n"name":"Order" } '), 201);
    expect(invoice).toMatchObject({ name: "Order", rawAmount: "10.000000" });
  });

  test("may contain escaped characters in the names and values of its JSON", async () => {
    const invoice = expectOk(await post('{"n\\u0061me":"\\u004f\\ud83d\\ude00\\/","rawAmount":10}'), 201);
    expect(invoice.name).toBe("O\u{1F600}/");
  });

  test("is refused if it is not UTF-8, because it could not be returned as it was sent", async () => {
    const bytes = Uint8Array.of(...Buffer.from('{"rawAmount":10,"name":"a'), 0xff, 0xfe, ...Buffer.from('"}'));
    expectRefusal(await post(bytes), 400);
  });

  test("may have a content type with parameters, in upper or lower case", async () => {
    for (const type of ["application/json;charset=UTF-8", "Application/JSON", 'application/json; charset="utf-8"']) {
      expectOk(await post(body, { "content-type": type }), 201);
    }
  });
});
