// Invoices are found by the words of their names and order numbers, and by customer, amount, address and transaction, in the search and in the list.
import { describe, expect, it } from "vitest";
import { searchBody } from "../../../src/commerce/search/contract.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedPayment } from "../../support/payments.ts";
import { randomHex, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant } from "../../support/worker-merchant.ts";

const BTC = { cryptocurrency: "BTC", network: "BTC" };

async function invoiceOf(shop: TestMerchant, body: object = {}): Promise<Answer["body"]> {
  const made = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [], ...body });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** The invoices that a text finds, each with its id and how it was found. The list must find the same invoices. */
async function found(shop: TestMerchant, text: string): Promise<readonly (readonly [string, string])[]> {
  const searched = await shop.get(`/search?q=${encodeURIComponent(text)}`);
  expect(searched.status, searched.text).toBe(200);
  expectDocumented(searchBody, searched.body);
  const invoices: readonly { readonly id: string; readonly matchedBy: string }[] = searched.body.invoices;
  const listed = await shop.get(`/invoices?search=${encodeURIComponent(text)}`);
  expect(listed.status, listed.text).toBe(200);
  const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).toSorted();
  expect(ids(listed.body.data), text).toEqual(ids(invoices));
  expect(listed.body.pagination.total).toBe(invoices.length);
  return invoices.map(({ id, matchedBy }) => [id, matchedBy] as const);
}

async function expectFound(shop: TestMerchant, id: string, matchedBy: string, texts: readonly string[]) {
  for (const text of texts) expect([text, await found(shop, text)]).toEqual([text, [[id, matchedBy]]]);
}

async function expectNothing(shop: TestMerchant, texts: readonly string[]) {
  for (const text of texts) expect([text, await found(shop, text)]).toEqual([text, []]);
}

describe("an invoice is found by", () => {
  it("words of its name, whole or as prefixes, in any order and in upper or lower case", async () => {
    const shop = await freshMerchant();
    const { id } = await invoiceOf(shop, { name: "Blue winter jacket, size M" });
    await invoiceOf(shop, { name: "Red scarf" });
    await expectFound(shop, id, "NAME", [
      "winter",
      "WINTER",
      "jack",
      "jacket blue",
      "size m",
      "Blue winter jacket, size M",
    ]);
    await expectNothing(shop, ["inter", "blue scarf", "jackets"]);
  });

  it("its name without accents, with other accents, in full width, with ss for ß and i for ı", async () => {
    const shop = await freshMerchant();
    const { id } = await invoiceOf(shop, { name: "Café Straße Diyarbakır Łódź İstanbul" });
    const texts = [
      "cafe",
      "CAFÉ",
      "Cafe\u0301",
      "ｃａｆｅ",
      "STRASSE",
      "strasse",
      "diyarbakir",
      "łodz",
      "lodz",
      "istanbul",
    ];
    await expectFound(shop, id, "NAME", texts);
  });

  it("parts of its order number, in upper or lower case and with or without leading zeros", async () => {
    const shop = await freshMerchant();
    const { id } = await invoiceOf(shop, { externalId: "ORD-2026-00123" });
    await invoiceOf(shop, { externalId: "ORD-2027-00999" });
    await expectFound(shop, id, "EXTERNAL_ID", [
      "ORD-2026-00123",
      "ord-2026-00123",
      "ord-2026",
      "2026-00123",
      "00123",
      "123",
      "2026",
      "ORD/2026/123",
    ]);
    await expectNothing(shop, ["ORD-2026-00999", "0123"]);
    const other = await invoiceOf(shop, { externalId: "shop77" });
    await expectFound(shop, other.id, "EXTERNAL_ID", ["SHOP77", "77", "shop"]);
  });

  it("its name in a script without spaces", async () => {
    const shop = await freshMerchant();
    const { id } = await invoiceOf(shop, { name: "青い冬のジャケット" });
    await expectFound(shop, id, "NAME", ["青い", "冬の", "ジャケット", "ット"]);
    await expectNothing(shop, ["青冬"]);
  });

  it("its new name once that is changed, and no longer by the old one", async () => {
    const shop = await freshMerchant();
    const { id } = await invoiceOf(shop, { name: "Blue jacket", externalId: "A-1" });
    expect((await shop.patch(`/invoices/${id}`, { name: "Red jacket" })).status).toBe(200);
    await expectFound(shop, id, "NAME", ["red", "jacket", "red a 1"]);
    await expectNothing(shop, ["blue"]);
    await expectFound(shop, id, "EXTERNAL_ID", ["a-1"]);
  });

  it("its customer's name and email, even after these change, but not after they are erased", async () => {
    const shop = await freshMerchant();
    const body = { customerEmail: "Zoe@Berg.example", customerName: "Zoë Ångström" };
    const { id, customerId } = await invoiceOf(shop, body);
    await expectFound(shop, id, "CUSTOMER_NAME", ["zoe angstrom", "ÅNGSTRÖM", "angstr"]);
    await expectFound(shop, id, "EMAIL", ["zoe@berg.example", "ZOE@", "berg"]);
    const changed = { name: "Anna Müller", email: "anna@mueller.example" };
    expect((await shop.patch(`/customers/${customerId}`, changed)).status).toBe(200);
    await expectFound(shop, id, "CUSTOMER_NAME", ["muller"]);
    await expectFound(shop, id, "EMAIL", ["mueller", "anna@m"]);
    await expectNothing(shop, ["zoe", "angstrom", "berg"]);
    expect((await shop.delete(`/customers/${customerId}`)).status).toBe(200);
    await expectNothing(shop, ["anna", "muller", "mueller", "anna@mueller.example"]);
  });

  it("its amount, in any notation, with or without its currency", async () => {
    const shop = await freshMerchant();
    const { id } = await invoiceOf(shop, { name: "x", rawAmount: 1234.5, currency: "EUR" });
    await invoiceOf(shop, { name: "y", rawAmount: 1234, currency: "EUR" });
    await expectFound(shop, id, "AMOUNT", [
      "1234.50",
      "1234.5",
      "1,234.50",
      "1.234,50",
      "€ 1234.50",
      "1,234.50 EUR",
      "eur 1234.5",
      "1234.500000",
    ]);
    await expectNothing(shop, ["1234.51", "1,234.50 USD", "234.50", "1234.5000001"]);
  });

  it("its own address or a transaction, whole or by at least the first 6 characters", async () => {
    const shop = await freshMerchant();
    expect((await shop.post("/wallets", xpubWallet())).status).toBe(201);
    const own = await invoiceOf(shop, { paymentMethods: [BTC] });
    const { address } = own.paymentMethods[0];
    await expectFound(shop, own.id, "ADDRESS", [address, address.slice(0, 14), address.toUpperCase()]);
    await expectNothing(shop, [address.slice(0, 5)]);
    const hash = randomHex(32);
    const { id: invoiceId } = await invoiceOf(shop);
    await seedPayment(shop.merchantId, { txHash: `0x${hash}`, invoiceId, status: "CONFIRMED", matchedBy: "MANUAL" });
    await expectFound(shop, invoiceId, "TRANSACTION", [`0x${hash}`, hash.slice(0, 6), hash.slice(0, 9).toUpperCase()]);
  });
});

describe("a search of the list", () => {
  it("combines with the other filters, and continues at its cursor, newest first", async () => {
    const shop = await freshMerchant();
    const made: string[] = [];
    for (let n = 0; n < 7; n++) made.push((await invoiceOf(shop, { name: `Jacket ${n}` })).id);
    await invoiceOf(shop, { name: "Scarf" });
    const first = await shop.get("/invoices?search=JACKET&limit=4");
    const rest = await shop.get(`/invoices?search=JACKET&limit=4&cursor=${first.body.nextCursor}`);
    const ids = [...first.body.data, ...rest.body.data].map(({ id }) => id);
    expect(ids).toEqual(made.toReversed());
    expect(rest.body.nextCursor).toBeNull();
    expect((await shop.post(`/invoices/${made[3]}/cancel`)).status).toBe(200);
    const cancelled = await shop.get("/invoices?search=jacket&status=CANCELLED");
    expect(cancelled.body.data.map(({ id }: { readonly id: string }) => id)).toEqual([made[3]]);
    expect(cancelled.body.pagination.total).toBe(1);
  });

  it("finds the oldest invoice, which has the searched words exactly, among 1,200 that match only by a prefix", async () => {
    const shop = await freshMerchant();
    const { id } = await invoiceOf(shop, { name: "Order 777" });
    await copyInvoice((await invoiceOf(shop, { name: "Order 7771" })).id, 1_200);
    for (const text of ["order 777", "777 ORDER"]) {
      const searched = await shop.get(`/search?q=${encodeURIComponent(text)}`);
      const listed = await shop.get(`/invoices?limit=100&status=AWAITING_PAYMENT&search=${encodeURIComponent(text)}`);
      expect(searched.body.invoices).toHaveLength(8);
      const oldest = await shop.get(`/invoices?search=${encodeURIComponent(text)}&page=51`);
      expect(oldest.body.pagination.total).toBe(1_001);
      expect(oldest.body.data.map((each: { readonly id: string }) => each.id)).toEqual([id]);
      expect(listed.body.data).toHaveLength(100);
    }
  });

  it("finds nothing that belongs to another merchant", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const body = {
      name: "Jacket",
      externalId: "ORD-00123",
      customerEmail: "zoe@berg.example",
      customerName: "Zoe Berg",
    };
    const { id, customerId } = await invoiceOf(shop, { ...body, rawAmount: 77 });
    await expectNothing(other, [id, customerId, "jacket", "00123", "zoe@berg.example", "Zoe", "77"]);
  });
});
