// A job indexes rows that a release without the index wrote, and rows that two concurrent changes wrote.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { Customer } from "../../../src/commerce/customers/customer.ts";
import { updateLiveCustomer } from "../../../src/commerce/customers/store.ts";
import { refreshIndex } from "../../../src/commerce/search-index/refresh-index.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

async function invoiceOf(shop: TestMerchant, body: object) {
  const made = await shop.post("/invoices", { rawAmount: 10, paymentMethods: [], ...body });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

async function found(shop: TestMerchant, text: string): Promise<readonly string[]> {
  const { body } = await shop.get(`/search?q=${encodeURIComponent(text)}`);
  return body.invoices.map(({ id }: { readonly id: string }) => id);
}

const run = (sql: string, ...values: readonly unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

/** Removes the row's words, as in a row from before the migration. */
async function forgetWords(id: string): Promise<void> {
  const table = id.startsWith("inv_") ? "invoices" : "customers";
  await run(`update ${table} set search_text = null, indexed_at_ms = null where id = ?`, id);
  await run("delete from search_words where id = ?", id);
}

const wordsOfRow = async (id: string) =>
  (
    await env.DB.prepare("select word from search_words where id = ? order by word").bind(id).all<{ word: string }>()
  ).results.map(({ word }) => word);

async function refreshAll(): Promise<void> {
  while ((await refreshIndex(testDb)) === "more");
}

describe("the job that refreshes the index", () => {
  it("indexes an invoice and a customer written by a release without an index", async () => {
    const shop = await freshMerchant();
    const { id, customerId } = await invoiceOf(shop, {
      name: "Blue jacket",
      customerName: "Zoë",
      customerEmail: "z@b.example",
    });
    await forgetWords(id);
    await forgetWords(customerId);
    expect([await found(shop, "jacket"), await found(shop, "zoe")]).toEqual([[], []]);
    await refreshAll();
    expect([await found(shop, "jacket"), await found(shop, "zoe")]).toEqual([[id], [id]]);
    expect(await refreshIndex(testDb)).toBe("nothing");
  });

  it("reindexes rows that a release without an index renamed, and removes the words of customers that it erased", async () => {
    const shop = await freshMerchant();
    const { id, customerId } = await invoiceOf(shop, {
      name: "Blue jacket",
      customerName: "Zoë",
      customerEmail: "z@b.example",
    });
    await run("update invoices set name = 'Blue scarf', updated_at_ms = updated_at_ms + 1 where id = ?", id);
    await run(
      "update customers set name = null, email = null, email_key = null, deleted_at_ms = 1, updated_at_ms = updated_at_ms + 1 where id = ?",
      customerId,
    );
    await refreshAll();
    expect([await found(shop, "scarf"), await found(shop, "jacket"), await found(shop, "zoe")]).toEqual([[id], [], []]);
    expect(await wordsOfRow(id)).toEqual(["blue", "scarf"]);
    expect(await wordsOfRow(customerId)).toEqual([]);
    const [buyer] = await testDb.select().from(customers).where(eq(customers.id, customerId));
    expect(buyer).toMatchObject({ searchText: "", deletedAtMs: 1 });
  });

  it("indexes changes that were made before it ran, including changes made by this release", async () => {
    const shop = await freshMerchant();
    const { id, customerId } = await invoiceOf(shop, {
      name: "Blue jacket",
      customerName: "Zoë",
      customerEmail: "z@b.example",
    });
    await forgetWords(id);
    await forgetWords(customerId);
    expect((await shop.patch(`/invoices/${id}`, { name: "Red scarf" })).status).toBe(200);
    expect((await shop.patch(`/customers/${customerId}`, { name: "Anna" })).status).toBe(200);
    await refreshAll();
    expect(await wordsOfRow(id)).toEqual(["red", "scarf"]);
    expect(await wordsOfRow(customerId)).toEqual(["anna", "b", "example", "z"]);
  });

  it("commits only one of two changes to a customer that are both based on the same read", async () => {
    const shop = await freshMerchant();
    const { id, customerId } = await invoiceOf(shop, { name: "x", customerName: "Zoë", customerEmail: "z@b.example" });
    const [before] = await testDb.select().from(customers).where(eq(customers.id, customerId));
    if (before === undefined) throw new Error(customerId);
    const updatedAtMs = before.updatedAtMs + 1;
    const change = async (columns: Partial<Customer>) =>
      batch(
        testDb,
        updateLiveCustomer(testDb, { before, after: { ...before, ...columns } }, { ...columns, updatedAtMs }),
      );
    await change({ name: "Anna" });
    await change({ email: "y@c.example", emailKey: "y@c.example" });
    await refreshAll();
    expect(await wordsOfRow(customerId)).toEqual(["anna", "c", "example", "y"]);
    expect(await found(shop, "anna example")).toEqual([id]);
  });

  it("leaves no indexed word of a customer who is erased while it runs, no matter when it read the customer", async () => {
    const shop = await freshMerchant();
    const { customerId } = await invoiceOf(shop, { name: "x", customerName: "Zoë", customerEmail: "z@b.example" });
    await run("update customers set name = 'Anna', updated_at_ms = updated_at_ms + 1 where id = ?", customerId);
    const [before] = await testDb.select().from(customers).where(eq(customers.id, customerId));
    if (before === undefined) throw new Error(customerId);
    await refreshAll();
    expect(await wordsOfRow(customerId)).toContain("anna");
    const nothing = { name: null, email: null, emailKey: null, deletedAtMs: before.updatedAtMs + 1 };
    const columns = { ...nothing, updatedAtMs: before.updatedAtMs + 1 };
    await batch(testDb, updateLiveCustomer(testDb, { before, after: { ...before, ...nothing } }, columns));
    expect(await wordsOfRow(customerId)).toEqual([]);
  });

  it("goes through 5,000 invoices in bounded runs", async () => {
    const shop = await freshMerchant();
    const { id } = await invoiceOf(shop, { name: "Blue jacket" });
    await forgetWords(id);
    await copyInvoice(id, 4_999);
    expect(await refreshIndex(testDb)).toBe("more");
    expect(await refreshIndex(testDb)).toBe("nothing");
    const { total } = (await shop.get("/invoices?search=jacket")).body.pagination;
    expect(total).toBe(1_000);
    const words = await env.DB.prepare("select count(*) as n from search_words where merchant_id = ?")
      .bind(shop.merchantId)
      .first();
    expect(words).toEqual({ n: 10_000 });
  });
});
