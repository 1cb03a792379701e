// A merchant's searches use D1's indexes and scan no whole table.
import { describe, expect, it } from "vitest";
import { countCustomers, selectCustomerPage, selectLocation } from "../../../src/commerce/customers/store.ts";
import { selectInvoicePage, selectInvoiceRow } from "../../../src/commerce/invoice-records/store.ts";
import { countProducts, selectProductPage } from "../../../src/commerce/products/store.ts";
import { planOf } from "../../support/query-plan.ts";
import { testDb } from "../../support/worker-merchant.ts";

const page = { limit: 21, offset: 0, after: { createdAtMs: 1, id: "x" }, page: undefined };

describe("the query for a list", () => {
  it.each([
    ["products", selectProductPage(testDb, "mer_1", { page }), "products_listed"],
    ["customers", selectCustomerPage(testDb, "mer_1", { page, search: undefined }), "customers_listed"],
  ] as const)("of %s seeks to the page's start in an index, and needs no sorting", async (_, query, index) => {
    const plan = await planOf(query);
    expect(plan).toMatch(
      new RegExp(`^SEARCH \\w+ USING INDEX ${index} \\(merchant_id=\\? AND \\(created_at_ms,id\\)<`),
    );
    expect(plan).not.toContain("TEMP B-TREE");
  });
});

describe("the query for a customer's location", () => {
  it("uses the customer's id", async () => {
    const { sql, params } = selectLocation(testDb, "mer_1", "cus_1").toSQL();
    const plan = await planOf({ toSQL: () => ({ sql, params }) });
    expect(plan).toMatch(/^SEARCH \w+ USING PRIMARY KEY \(customer_id=\?\)$/);
  });
});

describe("the query for one invoice", () => {
  it("reads only the rows that belong to that invoice, however many others its networks watch", async () => {
    const { sql, params } = selectInvoiceRow(testDb, "mer_1", "inv_1").toSQL();
    const plan = await planOf({ toSQL: () => ({ sql, params }) });
    expect(plan.match(/SEARCH payment_methods USING INDEX .*/g)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining("(invoice_id=?")),
    );
    expect(plan).not.toMatch(/payment_methods_watch|SCAN (invoices|payments|payment_methods)/);
  });
});

describe("the query for the review queue", () => {
  it("starts in the index of invoices that need review, however many invoices there are", async () => {
    const plan = await planOf(selectInvoicePage(testDb, "mer_1", { ...page, filter: { needsReview: true } }));
    expect(plan).toMatch(/^SEARCH invoices USING INDEX invoices_in_review \(merchant_id=\? AND \(created_at_ms,id\)</);
  });
});

describe("the query for a search", () => {
  it.each([
    ["products", selectProductPage(testDb, "mer_1", { page, search: "a" }), ["products_name"]],
    ["products, counted", countProducts(testDb, "mer_1", { search: "a" }, true), ["products_name"]],
    ["customers", selectCustomerPage(testDb, "mer_1", { page, search: "a" }), ["customers_name", "customers_email"]],
    ["customers, counted", countCustomers(testDb, "mer_1", "a", true), ["customers_name", "customers_email"]],
  ] as const)("of %s uses its indexes and reads only the rows that they found", async (_, query, indexes) => {
    const plan = await planOf(query);
    expect(plan).toMatch(/^SEARCH \w+ USING (INDEX sqlite_autoindex_\w+_1|PRIMARY KEY) \(id=\?\)/);
    for (const index of indexes) expect(plan).toContain(`USING INDEX ${index} (merchant_id=? AND `);
    expect(plan).not.toContain("_listed");
  });
});
