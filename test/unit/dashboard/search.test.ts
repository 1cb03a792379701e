import { describe, expect, it } from "vitest";
import { auditSearch } from "../../../dashboard/src/audit/search.ts";
import { developersSearch } from "../../../dashboard/src/developers/search.ts";
import { endpointSearch } from "../../../dashboard/src/endpoint/search.ts";
import { invoicesSearch } from "../../../dashboard/src/invoices/search.ts";
import { productsSearch } from "../../../dashboard/src/products/search.ts";

describe("the search parameters of a list", () => {
  it("are only those that the list supports", () => {
    const search = { search: "tea", isActive: false, cursor: "c1" };
    expect(productsSearch({ ...search, other: "x" })).toEqual(search);
    expect(endpointSearch({ status: "FAILED", cursor: "c1" })).toEqual({ status: "FAILED", cursor: "c1" });
    expect(developersSearch({ tab: "events", type: "invoice.*" })).toEqual({ tab: "events", type: "invoice.*" });
    const days = { from: "2026-11-01", to: "2026-11-30" };
    expect(auditSearch({ actor: "SYSTEM", action: "product.created", ...days })).toEqual({
      actor: "SYSTEM",
      action: "product.created",
      ...days,
    });
  });

  it("keep digits as text, although the router parses them as numbers", () => {
    expect(productsSearch({ search: 1001, cursor: 7 })).toEqual({ search: "1001", cursor: "7" });
    expect(auditSearch({ cursor: 7 })).toEqual({ cursor: "7" });
  });

  it("include the amounts and the coin for invoices only if the API would accept them", () => {
    const chosen = { amountFrom: "0.000001", amountTo: "1000000", cryptocurrency: "USDT", network: "ETH" };
    expect(invoicesSearch(chosen)).toEqual(chosen);
    expect(invoicesSearch({ amountFrom: 12.5, amountTo: "1,5", cryptocurrency: "USDT" })).toEqual({
      amountFrom: "12.5",
    });
  });

  // A list with an empty search would say that no row matches, and not that the list is empty.
  it.each([
    ["the products", () => productsSearch({ search: "", isActive: "yes", cursor: "" })],
    ["the log", () => auditSearch({ actor: "a b", action: "toString", from: "yesterday", to: "", cursor: "" })],
    ["the developers' page", () => developersSearch({ tab: "toString", type: "a b", cursor: "" })],
    ["the deliveries", () => endpointSearch({ status: "LOST", cursor: "" })],
  ])("of %s are empty if no valid value was chosen", (_, search) => {
    expect(Object.keys(search())).toEqual([]);
  });
});
