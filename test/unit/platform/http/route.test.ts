import { describe, expect, it } from "vitest";
import { noBody, noQuery, type RouteSpec, servesPath } from "../../../../src/platform/http/route.ts";

const spec: RouteSpec = {
  method: "GET",
  path: "/api/v1/merchants/merchant/:merchantId/invoices/:invoiceId",
  operationId: "x",
  tag: "Service",
  summary: "x",
  callers: "ANYBODY" as const,
  permission: null,
  isForPublicKeys: false,
  isIdempotent: false,
  body: noBody,
  query: noQuery,
  answers: [],
  refusals: [],
};

describe("a route serves a path", () => {
  it.each([
    "/api/v1/merchants/merchant/mer_1/invoices/inv_1",
    "/api/v1/merchants/merchant/x/invoices/%2e%2e",
    "/api/v1/merchants/merchant/:merchantId/invoices/:invoiceId",
  ])("%s", (path) => {
    expect(servesPath(spec, path)).toBe(true);
  });
});

describe("a route does not serve", () => {
  it.each([
    ["one more part", "/api/v1/merchants/merchant/mer_1/invoices/inv_1/cancel"],
    ["a trailing slash", "/api/v1/merchants/merchant/mer_1/invoices/inv_1/"],
    ["one part fewer", "/api/v1/merchants/merchant/mer_1/invoices"],
    ["different words", "/api/v1/merchants/merchant/mer_1/wallets/inv_1"],
    ["different upper and lower case", "/api/v1/merchants/merchant/mer_1/Invoices/inv_1"],
    ["a different version", "/api/v2/merchants/merchant/mer_1/invoices/inv_1"],
    ["a path that begins elsewhere", "/x/api/v1/merchants/merchant/mer_1/invoices/inv_1"],
    // The router does not match an empty parameter. If this function did, the refusal of a GET would list GET as allowed.
    ["an empty parameter", "/api/v1/merchants/merchant//invoices/inv_1"],
    ["an empty parameter at the end", "/api/v1/merchants/merchant/mer_1/invoices/"],
    ["an empty path", ""],
  ])("%s: %s", (_, path) => {
    expect(servesPath(spec, path)).toBe(false);
  });
});

describe("a route without a body", () => {
  it("accepts no body or an empty object, and nothing else", () => {
    expect([undefined, {}].map((body) => noBody().safeParse(body).success)).toEqual([true, true]);
    expect([null, [], "", 0, { a: 1 }].filter((body) => noBody().safeParse(body).success)).toEqual([]);
  });

  it("ignores unknown query parameters", () => {
    expect(noQuery().safeParse({ utm: "x" }).success).toBe(true);
  });
});
