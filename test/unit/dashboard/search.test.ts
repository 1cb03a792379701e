import { describe, expect, it } from "vitest";
import { auditSearch } from "../../../dashboard/src/audit/search.ts";
import { developersSearch } from "../../../dashboard/src/developers/search.ts";
import { endpointSearch } from "../../../dashboard/src/endpoint/search.ts";
import { productsSearch } from "../../../dashboard/src/products/search.ts";

describe("the search parameters of a list", () => {
  it("are those that the list knows", () => {
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

  it("read digits as text, which the router reads as a number", () => {
    expect(productsSearch({ search: 1001, cursor: 7 })).toEqual({ search: "1001", cursor: "7" });
    expect(auditSearch({ cursor: 7 })).toEqual({ cursor: "7" });
  });

  // A list with an empty search would say that no row matches instead of that there is none.
  it.each([
    ["the products", () => productsSearch({ search: "", isActive: "yes", cursor: "" })],
    ["the log", () => auditSearch({ actor: "a b", action: "toString", from: "yesterday", to: "", cursor: "" })],
    ["the developers' page", () => developersSearch({ tab: "toString", type: "a b", cursor: "" })],
    ["the deliveries", () => endpointSearch({ status: "LOST", cursor: "" })],
  ])("are empty if nothing was chosen for %s", (_, search) => {
    expect(Object.keys(search())).toEqual([]);
  });
});
