import { describe, expect, test } from "vitest";
import { targetOf } from "../../../dashboard/src/api/call.ts";
import { evidence } from "../../../dashboard/src/invoices/evidence.ts";
import { signInSearch } from "../../../dashboard/src/sign-in/search.ts";
import { MATCH_RULES } from "../../../src/commerce/payments/payment.ts";

const merchantId = "mer_1";

describe("the URL of a call", () => {
  test.each([
    ["getMe", {}, "GET /api/v1/me"],
    ["getMerchant", { merchantId }, "GET /api/v1/merchants/merchant/mer_1"],
    [
      "cancelInvoice",
      { merchantId, params: { invoiceId: "a/b" } },
      "POST /api/v1/merchants/merchant/mer_1/invoices/a%2Fb/cancel",
    ],
    [
      "listInvoices",
      { merchantId, query: { search: "a&b", status: undefined } },
      "GET /api/v1/merchants/merchant/mer_1/invoices?search=a%26b",
    ],
    // A list without a page number is requested by cursor, so that the service does not count its rows.
    ...(
      [
        [{ limit: 20 }, "limit=20&cursor="],
        [{ limit: 20, cursor: undefined }, "limit=20&cursor="],
        [{ limit: 20, cursor: "abc" }, "limit=20&cursor=abc"],
        [{ limit: 1, page: 1 }, "limit=1&page=1"],
      ] as const
    ).map(
      ([query, wanted]) =>
        ["listInvoices", { merchantId, query }, `GET /api/v1/merchants/merchant/mer_1/invoices?${wanted}`] as const,
    ),
  ] as const)("to %s contains its parameters", (operation, input, wanted) => {
    const { method, url } = targetOf(operation, input);
    expect(`${method} ${url}`).toBe(wanted);
  });

  test("to an operation of a merchant cannot be built without the merchant's id", () => {
    expect(() => targetOf("listInvoices", {})).toThrow("needs its id");
  });
});

describe("the page after signing in", () => {
  test.each([
    ["/console/mer_1/invoices?search=x", true],
    ["//evil.example", false],
    ["/\\evil.example", false],
    ["https://evil.example", false],
    [7, false],
  ])("may be %j: %s", (returnTo, isKept) => {
    expect(signInSearch({ returnTo })).toEqual(isKept ? { returnTo } : {});
  });
});

test("each rule that matches payments has a text that explains its evidence", () => {
  for (const rule of MATCH_RULES) expect(evidence(rule)).not.toMatch(/by the rule/);
  expect(evidence(null)).toBeUndefined();
});
