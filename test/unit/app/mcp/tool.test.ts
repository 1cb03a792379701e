// The arguments of a tool must not change the route that it calls.
import fc from "fast-check";
import { expect, test } from "vitest";
import { requestOf, type Tool } from "../../../../src/app/mcp/tool.ts";

const TOOL: Tool = {
  name: "cancel_invoice",
  title: "",
  description: "",
  method: "POST",
  permissions: [],
  isIdempotent: false,
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  path: "/api/v1/merchants/merchant/:merchantId/invoices/:invoiceId/payments/:paymentId",
  input: {},
  output: {},
  isList: false,
  places: { invoiceId: "path", paymentId: "path", note: "query" },
};

/** The segments of the path that a server sees. */
function segments(given: Readonly<Record<string, unknown>>): readonly string[] {
  const { path } = requestOf(TOOL, given, { merchantId: "mer_1", newKey: () => "key" });
  return new URL(`https://pay.example${path}`).pathname.split("/");
}

const texts = fc.oneof(
  fc.constantFrom("..", ".", "%2e%2e", "%2E.", "../..", "..\\..", "/", "?", "#", "", "..;", "\t..", "..\n", " .. "),
  fc.string({ unit: "binary" }),
  fc.string(),
);

test("no argument can change which path a tool calls", () => {
  fc.assert(
    fc.property(texts, texts, texts, (invoiceId, paymentId, note) => {
      const reached = segments({ invoiceId, paymentId, note });
      const fixed = TOOL.path.replace(":merchantId", "mer_1").split("/");
      expect(reached).toHaveLength(fixed.length);
      for (const [n, segment] of fixed.entries()) if (!segment.startsWith(":")) expect(reached[n]).toBe(segment);
    }),
  );
});

test("ids are put into the path of the tool unchanged", () => {
  expect(segments({ invoiceId: "inv_1", paymentId: "pay.2" }).slice(-4)).toEqual([
    "invoices",
    "inv_1",
    "payments",
    "pay.2",
  ]);
});
