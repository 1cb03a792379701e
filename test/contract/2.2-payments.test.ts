// Decisions 4 "Resolve" and 5, as far as they show without a chain: the payment list of a merchant without payments, what a user decides about
// invoices, and payers' claims on networks that have no chain source. The scenarios on real nodes show the rest.
import { randomBytes } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  browser,
  call,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  stranger,
} from "./client.ts";
import { freshDirectWallet } from "./key-material.ts";
import { type Claim, expectInvoiceShape, type Invoice, idOf, type Page, TIMESTAMP } from "./shapes.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const NOBODY = "pay_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const hash = () => `0x${randomBytes(32).toString("hex")}`;
const resolve = (invoice: Invoice, action: string, more: object = {}) =>
  shop.post<Invoice>(`/invoices/${invoice.id}/resolve`, { action, reason: "The customer paid in cash", ...more });

describe("payments", () => {
  test("are paged like other lists: with a total unless the query has a cursor, and with no rows if there are no payments", async () => {
    const all = expectOk(await shop.get<Page<unknown>>("/payments"), 200);
    expect(all).toEqual({ data: [], nextCursor: null, pagination: { page: 1, limit: 20, total: 0, lastPage: 1 } });
    const five = expectOk(await shop.get<Page<unknown>>("/payments?limit=5"), 200);
    expect(five).toEqual({ data: [], nextCursor: null, pagination: { page: 1, limit: 5, total: 0, lastPage: 1 } });
    expect(expectOk(await shop.get<Page<unknown>>("/payments?cursor="), 200)).toEqual({ data: [], nextCursor: null });
  });

  test("can be filtered by status, network in any spelling, transaction and invoice; the refusal of an invalid filter names the filter", async () => {
    const { id } = await createInvoice(shop);
    for (const filter of ["status=UNMATCHED", "network=bitcoin", "network=ETH", `txHash=${hash()}`, `invoiceId=${id}`])
      expect(expectOk(await shop.get<Page<unknown>>(`/payments?${filter}`), 200).data).toEqual([]);
    for (const [filter, path] of [
      ["status=PAID", "status"],
      ["network=DOGE", "network"],
      ["limit=0", "limit"],
    ]) {
      const refusal = expectRefusal(await shop.get(`/payments?${filter}`), 400, "VALIDATION_FAILED");
      expect(refusal.details?.map((detail) => detail.path)).toEqual([path]);
    }
    expect(expectOk(await shop.get(`/invoices/${id}/payments`), 200)).toEqual({ data: [] });
  });

  test("are a 404 when unknown, and a 403 for a public key", async () => {
    for (const id of [NOBODY, "pay_1", "x"]) {
      expectRefusal(await shop.get(`/payments/${id}`), 404, "PAYMENT_NOT_FOUND");
      const decision = { action: "IGNORE", reason: "Not ours" };
      expectRefusal(await shop.post(`/payments/${id}/resolve`, decision), 404, "PAYMENT_NOT_FOUND");
    }
    expectRefusal(await browser.get("/payments"), 403, "PUBLIC_KEY_FORBIDDEN");
    expectRefusal(await browser.get(`/payments/${NOBODY}`), 403, "PUBLIC_KEY_FORBIDDEN");
  });

  test("can be resolved only with a reason, and assigned only if the request says to which invoice", async () => {
    for (const body of [{}, { action: "ASSIGN", reason: "x" }, { action: "IGNORE" }, { action: "CREDIT", reason: "x" }])
      expectRefusal(await shop.post(`/payments/${NOBODY}/resolve`, body), 400, "VALIDATION_FAILED");
  });
});

describe("an invoice resolved by a user", () => {
  test("is PAID once it is accepted and shows the resolution; accepting it again is refused", async () => {
    const invoice = await createInvoice(shop);
    const accepted = expectOk(await resolve(invoice, "ACCEPT"), 200);
    expectInvoiceShape(accepted);
    expect(accepted).toMatchObject({
      status: "PAID",
      amountReceived: "0.000000",
      needsReview: false,
      resolution: { action: "ACCEPT", reason: "The customer paid in cash", txHash: null },
    });
    expect(accepted.invoiceTimeline.map((item) => item.paymentStatus)).toEqual(["AWAITING_PAYMENT", "PAID"]);
    expect(expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200)).toEqual(accepted);
    expectRefusal(await resolve(invoice, "ACCEPT"), 422, "INVOICE_NOT_RESOLVABLE");
  });

  test("can be accepted after it was cancelled", async () => {
    const invoice = await createInvoice(shop);
    expectOk(await shop.post(`/invoices/${invoice.id}/cancel`), 200);
    expect(expectOk(await resolve(invoice, "ACCEPT"), 200).status).toBe("PAID");
  });

  test("can be dismissed or marked as returned only while it needs review", async () => {
    const invoice = await createInvoice(shop);
    for (const action of ["DISMISS", "RETURNED"])
      expectRefusal(await resolve(invoice, action), 422, "NOTHING_TO_REVIEW");
    expect(expectOk(await shop.get<Page<Invoice>>("/invoices?needsReview=true"), 200).data).toEqual([]);
  });

  test("cannot be resolved by another merchant, by a public key or without a reason", async () => {
    const invoice = await createInvoice(shop);
    const body = { action: "ACCEPT", reason: "x" };
    expectRefusal(await stranger.post(`/invoices/${invoice.id}/resolve`, body), 404, "INVOICE_NOT_FOUND");
    expectRefusal(await browser.post(`/invoices/${invoice.id}/resolve`, body), 403, "PUBLIC_KEY_FORBIDDEN");
    expectRefusal(await resolve(invoice, "ACCEPT", { reason: "" }), 400, "VALIDATION_FAILED");
  });
});

describe("a payer's claim", () => {
  const claim = (invoiceId: string, txHash: string, network = "ETH") =>
    call<Claim>(`/api/v1/checkout/${invoiceId}/claims`, {
      method: "POST",
      body: { txHash, network },
      headers: { origin: "https://shop.example" },
    });
  const payable = async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    return createInvoice(shop);
  };

  test("is accepted without a key from any origin, and repeating it returns the same claim", async () => {
    const invoice = await payable();
    const txHash = hash();
    const answer = await claim(invoice.id, txHash, "ethereum");
    expect(expectOk(answer, 202)).toStrictEqual({
      id: expect.stringMatching(idOf("clm")),
      invoiceId: invoice.id,
      network: "ETH",
      txHash,
      outcome: "UNAVAILABLE",
      standing: "UNAVAILABLE",
      amounts: [],
      createdAt: expect.stringMatching(TIMESTAMP),
    });
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(expectOk(await claim(invoice.id, txHash.toUpperCase().replace("X", "x")), 202)).toEqual(answer.body);
    expect(expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200)).toMatchObject({
      status: "AWAITING_PAYMENT",
      payments: [],
    });
  });

  test("is refused after six claims for an invoice in an hour", async () => {
    const invoice = await payable();
    for (let n = 0; n < 6; n++) expectOk(await claim(invoice.id, hash()), 202);
    const refused = await claim(invoice.id, hash());
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("is refused for an unknown invoice, a network the invoice does not offer, or a malformed hash", async () => {
    const invoice = await payable();
    expectRefusal(await claim("inv_01ARZ3NDEKTSV4RRFFQ69G5FAV", hash()), 404, "INVOICE_NOT_FOUND");
    expectRefusal(await claim(invoice.id, hash().slice(2), "BTC"), 422, "NETWORK_NOT_OFFERED");
    for (const malformed of ["0x12", hash().slice(1), `0x${hash()}`])
      expectRefusal(await claim(invoice.id, malformed), 400, "VALIDATION_FAILED");
  });

  test("passes the CORS preflight from any origin", async () => {
    const answer = await call("/api/v1/checkout/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV/claims", {
      method: "OPTIONS",
      headers: { origin: "https://shop.example", "access-control-request-method": "POST" },
    });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });
});
