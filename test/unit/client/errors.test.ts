// How a user of the client handles a refusal: its code determines the types of its status and facts.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EdgetillConnectionError, EdgetillError } from "../../../client/edgetill.ts";

const call = { route: "POST /invoices", attempts: 1, idempotencyKey: "order-1" };

function refusal(status: number, members: object): unknown {
  const text = JSON.stringify({ statusCode: status, message: "refused", error: "Error", ...members });
  return new EdgetillError(call, { status, requestId: "req_1", retryAfterMs: undefined, text });
}

/** Code that a shop writes: the compiler checks that each code has its own facts. */
function adviceFor(error: unknown): string {
  if (!(error instanceof EdgetillError)) return "not refused";
  switch (error.code) {
    case "EXTERNAL_ID_EXISTS":
      error.status satisfies 409;
      return `use ${error.facts.invoiceId satisfies string | undefined}`;
    case "LIMIT_REACHED":
      return `${error.facts.name satisfies string} is ${error.facts.limit satisfies number}`;
    case "WALLET_HAS_ACTIVE_PAYMENTS":
      return `wait for ${(error.facts.invoiceIds satisfies readonly string[]).join()}`;
    case "INVOICE_NOT_FOUND":
      error.facts.invoiceId satisfies undefined;
      return "no facts";
    case "HTTP_502":
      return "the proxy";
    // @ts-expect-error No such code.
    case "INVOICE_NOT_FOUNT":
      return "";
    default:
      return `other: ${error.code}`;
  }
}

describe("an error", () => {
  it.each([
    [409, { code: "EXTERNAL_ID_EXISTS", invoiceId: "inv_1" }, "use inv_1"],
    [422, { code: "LIMIT_REACHED", name: "products", limit: 5 }, "products is 5"],
    [409, { code: "WALLET_HAS_ACTIVE_PAYMENTS", invoiceIds: ["inv_1", "inv_2"] }, "wait for inv_1,inv_2"],
    [404, { code: "INVOICE_NOT_FOUND" }, "no facts"],
    [502, {}, "the proxy"],
    [503, { code: "RATE_UNAVAILABLE" }, "other: RATE_UNAVAILABLE"],
    [418, { code: "OF_A_NEWER_SERVICE" }, "other: OF_A_NEWER_SERVICE"],
  ])("with status %i and %j is narrowed by its code", (status, members, advice) => {
    expect(adviceFor(refusal(status, members))).toBe(advice);
  });

  it("is not an EdgetillError if it is a connection error or does not come from the client", () => {
    expect(adviceFor(new EdgetillConnectionError(call, "no answer", undefined))).toBe("not refused");
    for (const other of [undefined, null, {}, new Error("x"), { code: "EXTERNAL_ID_EXISTS" }])
      expect(adviceFor(other)).toBe("not refused");
  });

  it("of a subclass is an instance of EdgetillError, but other errors are not instances of the subclass", () => {
    class Special extends EdgetillError {}
    const answer = { status: 404, requestId: null, retryAfterMs: undefined, text: "{}" };
    expect(new Special(call, answer)).toBeInstanceOf(EdgetillError);
    expect(new EdgetillError(call, answer)).not.toBeInstanceOf(Special);
  });
});

describe("the table of codes", () => {
  const table = readFileSync("client/error-table.ts", "utf8");

  it("has every code that a key can receive exactly once, and none from sign-in", () => {
    const codes = [...table.matchAll(/^ {2}([A-Z_]+): \{/gm)].map(([, code]) => code);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes).toEqual(
      expect.arrayContaining(["INVOICE_NOT_FOUND", "WALLET_EXISTS", "ROUTE_NOT_FOUND", "CONTENTION"]),
    );
    expect(codes.filter((code) => /SIGN_IN|PASSKEY|INVITATION|OPERATOR/.test(code ?? ""))).toEqual([]);
  });

  it("marks a fact that may be missing as optional, and has no links to the guide", () => {
    expect(table).toMatch(/EXTERNAL_ID_EXISTS: \{[^}]*facts: \{ readonly invoiceId\?: string \}/);
    expect(table).not.toContain("](");
  });
});
