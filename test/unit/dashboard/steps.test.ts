// A merchant's first steps on Home, and the code they show.
import { describe, expect, test } from "vitest";
import type { Merchant } from "../../../dashboard/src/api/operations.ts";
import { stepsFor, takenSteps } from "../../../dashboard/src/home/steps.ts";
import { snippets } from "../../../dashboard/src/welcome/snippets.ts";
import { ROLE_PERMISSIONS } from "../../../src/accounts/roles/roles.ts";

describe("the first steps", () => {
  test.each([
    ["OWNER", ["WALLET", "SALE", "PAID"]],
    ["MEMBER", ["SALE", "PAID"]],
    ["VIEWER", []],
  ] as const)("for a user with the role %s are %j", (role, wanted) => {
    const permissions: Merchant["permissions"] = [...ROLE_PERMISSIONS[role]];
    expect(stepsFor({ permissions })).toEqual(wanted);
  });

  test.each([
    [{ wallets: 0, products: 0, apiKeys: 0, paidInvoices: 0 }, []],
    [{ wallets: 2, products: 0, apiKeys: 0, paidInvoices: 0 }, ["WALLET"]],
    [{ wallets: 0, products: 1, apiKeys: 0, paidInvoices: 0 }, ["SALE"]],
    [{ wallets: 1, products: 0, apiKeys: 1, paidInvoices: 1 }, ["WALLET", "SALE", "PAID"]],
    [{ wallets: 1, products: undefined, apiKeys: 1, paidInvoices: 1 }, undefined],
  ])("that are completed with %j are %j", (facts, wanted) => {
    expect(takenSteps(facts)).toEqual(wanted);
  });
});

describe("the code that creates an invoice", () => {
  const code = snippets({ origin: "https://pay.example", merchantId: "mer_1", secret: "sk_secret" });

  test.each(["curl", "fetch"] as const)(
    "with %s has three lines, with the address, the key and an Idempotency-Key",
    (name) => {
      expect(code[name].split("\n").length).toBe(3);
      for (const part of [
        "https://pay.example/api/v1/merchants/merchant/mer_1/invoices",
        "sk_secret",
        "idempotency-key",
      ]) {
        expect(code[name]).toContain(part);
      }
    },
  );
});
