// The search over a merchant's invoices, customers and payments: what it finds, for whom, and that its cost does not grow with the number of rows.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { searchBody } from "../../../src/commerce/search/contract.ts";
import { searchReads } from "../../../src/commerce/search/read-found.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { expectRefusal, seedKey, send } from "../../support/access.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedPayment } from "../../support/payments.ts";
import { planOf } from "../../support/query-plan.ts";
import { directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const BTC = { cryptocurrency: "BTC", network: "BTC" };

async function invoiceOf(shop: TestMerchant, body: object = {}): Promise<Answer["body"]> {
  const made = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [], ...body });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** What a search text finds, by kind, each with its id and how it was found. */
async function found(shop: TestMerchant, text: string) {
  const { status, body, text: answer } = await shop.get(`/search?q=${encodeURIComponent(text)}`);
  expect(status, answer).toBe(200);
  expectDocumented(searchBody, body);
  const short = (rows: readonly { readonly id: string; readonly matchedBy: string }[]) =>
    rows.map(({ id, matchedBy }) => [id, matchedBy]);
  return { invoices: short(body.invoices), customers: short(body.customers), payments: short(body.payments) };
}

const NOTHING = { invoices: [], customers: [], payments: [] };

describe("a search finds", () => {
  it("an invoice by its id, whole or by prefix, and by its external id, exact matches first", async () => {
    const shop = await freshMerchant();
    const ids = [];
    for (const externalId of ["ORD-1", "ORD-10", "ORD-11", "ord-1"])
      ids.push((await invoiceOf(shop, { externalId })).id);
    const [one, ten, eleven, lower] = ids;
    expect(await found(shop, one)).toEqual({ ...NOTHING, invoices: [[one, "ID"]] });
    expect(await found(shop, ` ${one.slice(0, 22).toLowerCase()} `)).toEqual({ ...NOTHING, invoices: [[one, "ID"]] });
    expect((await found(shop, one.slice(0, 12))).invoices).toEqual([]);
    const byOrder = await found(shop, "ORD-1");
    expect(byOrder.invoices[0]).toEqual([one, "EXTERNAL_ID"]);
    expect(
      byOrder.invoices
        .slice(1)
        .map(([id]) => id)
        .sort(),
    ).toEqual([ten, eleven, lower].sort());
    expect((await found(shop, "ord-1")).invoices[0]).toEqual([lower, "EXTERNAL_ID"]);
    expect((await found(shop, "RD-1")).invoices).toEqual([]);
  });

  it("customers by id, by name, and by email in upper or lower case, and their invoices by email, newest first", async () => {
    const shop = await freshMerchant();
    const first = await invoiceOf(shop, { customerEmail: "Anna@Shop.example", customerName: "Anna Berg" });
    const second = await invoiceOf(shop, { customerEmail: "anna@shop.EXAMPLE" });
    const invoices = [second, first].map(({ id }) => [id, "EMAIL"]);
    const { customerId } = first;
    for (const text of ["ANNA@shop.example", "aNNa@s"]) {
      expect(await found(shop, text)).toEqual({ invoices, customers: [[customerId, "EMAIL"]], payments: [] });
    }
    // "anna" is a prefix of both the name and the email.
    expect((await found(shop, "anna")).customers).toEqual([[customerId, "EMAIL"]]);
    const byName = invoices.map(([id]) => [id, "CUSTOMER_NAME"]);
    expect(await found(shop, "anna b")).toEqual({ ...NOTHING, invoices: byName, customers: [[customerId, "NAME"]] });
    expect(await found(shop, customerId)).toEqual({ ...NOTHING, customers: [[customerId, "ID"]] });
    expect((await shop.delete(`/customers/${customerId}`)).status).toBe(200);
    for (const text of ["anna", "anna b", customerId]) expect((await found(shop, text)).customers).toEqual([]);
  });

  it("payments and their invoices by transaction hash, whole or by prefix, in upper or lower case, with or without 0x", async () => {
    const shop = await freshMerchant();
    const { id: invoiceId } = await invoiceOf(shop);
    const hash = randomHex(32);
    const credited = { txHash: `0x${hash}`, invoiceId, status: "CONFIRMED", matchedBy: "MANUAL" } as const;
    const { id } = await seedPayment(shop.merchantId, credited);
    const other = await seedPayment(shop.merchantId, { ...BTC, txHash: hash, amountUnits: 5n });
    for (const text of [`0x${hash}`, `0X${hash.toUpperCase()}`, hash, hash.toUpperCase(), hash.slice(0, 8)]) {
      const { payments, ...rest } = await found(shop, text);
      expect(rest).toEqual({ invoices: [[invoiceId, "TRANSACTION"]], customers: [] });
      // Bitcoin hashes are written without 0x.
      const ids = /^0x/i.test(text) ? [id] : [id, other.id];
      expect(payments.toSorted()).toEqual(ids.map((each) => [each, "TRANSACTION"]).toSorted());
    }
    expect((await found(shop, hash.slice(0, 5))).payments).toEqual([]);
    expect((await found(shop, id)).payments).toEqual([[id, "ID"]]);
    const growth = await seedPayment(shop.merchantId, { txHash: "block:123", outputIndex: "balance:x:1" });
    expect((await found(shop, "block:123")).payments).toEqual([[growth.id, "TRANSACTION"]]);
  });

  it("invoices by their own address, and the newest ones of a shared address, even for deleted wallets", async () => {
    const shop = await freshMerchant();
    const direct = directWallet();
    const wallet = await shop.post("/wallets", direct);
    expect((await shop.post("/wallets", xpubWallet())).status).toBe(201);
    const own = await invoiceOf(shop, { paymentMethods: [BTC] });
    const shared = [];
    for (let n = 0; n < 10; n++) shared.push((await invoiceOf(shop, { paymentMethods: [USDT] })).id);
    const address = own.paymentMethods.find(({ status }: { status: string }) => status === "ACTIVE").address;
    for (const text of [address, address.toUpperCase()]) {
      expect((await found(shop, text)).invoices).toEqual([[own.id, "ADDRESS"]]);
    }
    const newest = shared
      .toReversed()
      .slice(0, 8)
      .map((id) => [id, "ADDRESS"]);
    const digits = direct.address.slice(2);
    const texts = [wallet.body.address, direct.address, digits, digits.toUpperCase(), `0X${digits.toUpperCase()}`];
    for (const text of texts) expect((await found(shop, text)).invoices).toEqual(newest);
    for (const id of shared) expect((await shop.post(`/invoices/${id}/cancel`)).status).toBe(200);
    expect((await shop.delete(`/wallets/${wallet.body.id}`)).status).toBe(200);
    expect((await found(shop, direct.address)).invoices).toEqual(newest);
    expect((await found(shop, direct.address.slice(0, 6).toUpperCase())).invoices).toEqual(newest);
    expect((await found(shop, `${address.slice(0, -1)}1`)).invoices).toEqual([]);
  });

  it("nothing that belongs to another merchant", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const made = await invoiceOf(shop, { externalId: "ORD-9", customerEmail: "a@b.example", customerName: "Zoe" });
    const payment = await seedPayment(shop.merchantId);
    const texts = [made.id, "ORD-9", "a@b.example", "Zoe", made.customerId, payment.id, payment.txHash];
    for (const text of texts) expect(await found(other, text)).toEqual(NOTHING);
  });

  it("at most 8 of each kind", async () => {
    const shop = await freshMerchant();
    const txHash = `0x${randomHex(32)}`;
    for (let n = 0; n < 10; n++) {
      await invoiceOf(shop, { externalId: `many-${n}`, customerEmail: `many-${n}@b.example` });
      await seedPayment(shop.merchantId, { txHash, outputIndex: String(n) });
    }
    const many = await found(shop, "many-");
    expect([many.invoices.length, many.customers.length]).toEqual([8, 8]);
    expect((await found(shop, txHash)).payments).toHaveLength(8);
  });
});

describe("a search text", () => {
  it.each([
    "%",
    "_",
    "%%",
    "ORD%",
    "'",
    '"',
    "' or 1=1 --",
    "*",
    "?",
    "\\",
    "$.x",
    "[]",
    "\u0000",
    "a\u0000b",
    "💶",
    "é",
    "ﬀ",
    "\u{10ffff}",
    "\u{10ffff}x",
    "null",
    "0x",
  ])("such as %j finds only what contains its words or starts with it", async (text) => {
    const shop = await freshMerchant();
    await invoiceOf(shop, { name: "Goods", externalId: "SKU-7", customerEmail: "g@h.sample", customerName: "Zoe" });
    await seedPayment(shop.merchantId);
    expect(await found(shop, text)).toEqual(NOTHING);
    if (text.includes("\u0000")) return;
    const { id } = await invoiceOf(shop, { externalId: `${text}1` });
    // No text sorts after U+10FFFF, so a prefix search cannot find it; it is found only as a whole external id.
    const isGreatest = text === "\u{10ffff}";
    if (!isGreatest) expect((await found(shop, text)).invoices).toEqual([[id, "EXTERNAL_ID"]]);
  });

  it.each(["", "q=", "q=%20%20", "Q=a"])("is required: the query %j is refused", async (query) => {
    const shop = await freshMerchant();
    expect(await shop.get(`/search?${query}`)).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
  });

  it.each([
    [320, 200],
    [321, 400],
    [10_000, 400],
  ])("of %i characters is answered with %i", async (length, status) => {
    const shop = await freshMerchant();
    expect((await shop.get(`/search?q=${"x".repeat(length)}`)).status).toBe(status);
  });
});

describe("a caller sees", () => {
  it.each([
    ["INVOICE_VIEW", ["invoices"]],
    ["CUSTOMER_VIEW", ["customers"]],
    ["PAYMENT_VIEW", ["payments"]],
    ["CUSTOMER_VIEW,INVOICE_VIEW", ["invoices", "customers"]],
  ])("with %s only %j", async (permissions, kinds) => {
    const shop = await freshMerchant();
    const key = await seedKey(shop.merchantId, { permissions: permissions.split(",") });
    const { status, json } = await send(`/api/v1/merchants/merchant/${shop.merchantId}/search?q=a`, { key });
    expect([status, Object.keys(json ?? {})]).toEqual([200, kinds]);
  });

  it("nothing without one of these permissions", async () => {
    const shop = await freshMerchant();
    const key = await seedKey(shop.merchantId, { permissions: ["WALLET_VIEW"] });
    const answer = await send(`/api/v1/merchants/merchant/${shop.merchantId}/search?q=a`, { key });
    expect(expectRefusal(answer, 403, "PERMISSION_DENIED")).toMatchObject({
      permission: "INVOICE_VIEW or CUSTOMER_VIEW or PAYMENT_VIEW",
    });
  });
});

describe("the statements of a search", () => {
  const reads = searchReads(testDb, "mer_1", "x");

  it.each([
    [
      "invoices",
      reads[0],
      [
        "invoices_external_id (merchant_id=? AND external_id>? AND external_id<?)",
        "invoices_by_customer (merchant_id=? AND customer_id=?)",
        "invoices_feed (merchant_id=?)",
        "payment_methods_own_address (merchant_id=? AND <expr>>? AND <expr><?)",
        "KEY (merchant_id=? AND kind=? AND word=?)",
        "KEY (merchant_id=? AND kind=? AND word>? AND word<?)",
        "invoices_amount (merchant_id=? AND amount_micros=? AND currency>? AND currency<?)",
        "payments_identity (network=? AND tx_hash>? AND tx_hash<?)",
      ],
    ],
    [
      "customers",
      reads[1],
      [
        "customers_email (merchant_id=? AND email_key>? AND email_key<?)",
        "KEY (merchant_id=? AND kind=? AND word=?)",
        "KEY (merchant_id=? AND kind=? AND word>? AND word<?)",
      ],
    ],
    ["payments", reads[2], ["payments_identity (network=? AND tx_hash>? AND tx_hash<?)"]],
  ] as const)("for %s find everything through an index and scan no table", async (_, read, indexes) => {
    const { sql, params } = read.toSQL();
    const plan = await planOf({ toSQL: () => ({ sql, params }) });
    for (const index of indexes) expect(plan).toContain(` ${index}`);
    const scanned = [...plan.matchAll(/^SCAN (\S+)/gm)].map(([, name]) => name);
    expect(
      scanned.filter((name) => !/^(term|each|found|used|buyer|recent|\(subquery-\d+\))$/.test(name ?? "")),
    ).toEqual([]);
  });

  it("read a few rows among many invoices of one customer, one address and one prefix", async () => {
    const shop = await freshMerchant();
    const direct = directWallet();
    await shop.post("/wallets", direct);
    const made = await invoiceOf(shop, { customerEmail: "one@b.example", paymentMethods: [USDT] });
    const id: InvoiceId = made.id;
    await copyInvoice(id, 5_000);
    const { merchantId } = shop;
    await env.DB.prepare("update invoices set external_id = 'ORD-' || substr(id, -8) where merchant_id = ?")
      .bind(merchantId)
      .run();
    const [method] = await testDb.select().from(paymentMethods).where(eq(paymentMethods.invoiceId, id));
    const [buyer] = await testDb.select().from(customers).where(eq(customers.merchantId, merchantId));
    const texts = ["ORD-", "o", "one@", method?.address ?? "", buyer?.id ?? "", id, `0x${randomHex(32)}`];
    const words = [
      "order",
      "orde",
      "b example",
      "order ord",
      "order nothing",
      "10",
      "10 USD",
      (method?.address ?? "").slice(0, 6),
    ];
    for (const text of [...texts, ...words]) {
      const read = await env.DB.batch(
        searchReads(testDb, merchantId, text).map((statement) => {
          const { sql, params } = statement.toSQL();
          return env.DB.prepare(sql).bind(...params);
        }),
      );
      const rows = read.reduce((sum, { meta }) => sum + meta.rows_read, 0);
      expect(rows, text).toBeLessThan(text.includes(" ") ? 4_000 : 200);
    }
  });
});
