// The reference also documents the statuses of pages and of /mcp, whose refusals are not in the API's format.
import { beforeAll, describe, expect, test } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { type Shop, seedShop, send } from "../../support/access.ts";
import { operationOf, useDocument } from "./reference-harness.ts";

useDocument();

let shop: Shop;
beforeAll(async () => {
  shop = await seedShop();
});

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** The reference's description of an answer: its status, and its possible media types. */
function documented(operationId: string, status: number): readonly string[] | undefined {
  const spec = SPECS.find((each) => each.operationId === operationId);
  const answer = spec && operationOf(spec).responses[status];
  return answer === undefined ? undefined : Object.keys(answer.content ?? {});
}

const pages = () => SPECS.filter(({ isPage }) => isPage);

test("every page documents the error statuses that all pages share, as HTML", () => {
  expect(pages().length).toBeGreaterThan(5);
  for (const { operationId, method } of pages()) {
    const statuses = [404, 429, 500, 503, ...(method === "POST" ? [400, 413, 415] : [])];
    for (const status of statuses)
      expect([operationId, status, documented(operationId, status)]).toEqual([operationId, status, ["text/html"]]);
  }
});

describe("a page requested with an unknown id", () => {
  test.each([
    ["without a body", {}],
    ["with a body of the wrong content type", { headers: { "content-type": "text/plain" }, body: "a=b" }],
    ["with a body that is too large", { headers: FORM, body: `a=${"x".repeat(70_000)}` }],
    ["with a form that lacks its fields", { headers: FORM, body: "x=1" }],
  ] as const)("and %s answers with a documented status", async (_, ask) => {
    for (const { operationId, method, path } of pages()) {
      const to = path.replace(":invoiceId", `inv_${ULID}`).replace(":productId", `prd_${ULID}`);
      const sent = method === "GET" ? {} : ask;
      const answer = await send(to, { method, ...sent });
      const type = answer.headers.get("content-type")?.split(";")[0];
      const types = documented(operationId, answer.status);
      expect([operationId, answer.status, types]).toEqual([operationId, answer.status, expect.any(Array)]);
      if (answer.text !== "") expect(types, `${operationId} ${answer.status}`).toContain(type);
    }
  });
});

describe("POST /mcp", () => {
  const both = { accept: "application/json, text/event-stream" };
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  test.each([
    ["a list of tools", { headers: both, body: list }],
    ["a notification", { headers: both, body: { jsonrpc: "2.0", method: "notifications/initialized" } }],
    ["no supported media type", { headers: { accept: "text/html" }, body: list }],
    ["an unknown version of the protocol", { headers: { ...both, "mcp-protocol-version": "1999" }, body: list }],
    ["a method that does not exist", { headers: both, body: { ...list, method: "nothing" } }],
    ["a message without a method", { headers: both, body: { jsonrpc: "2.0", id: 1 } }],
    ["a wrong version of JSON-RPC", { headers: both, body: { ...list, jsonrpc: "1.0" } }],
    ["a new version without its envelope", { headers: { ...both, "mcp-protocol-version": "2026-07-28" }, body: list }],
    ["a body that is not JSON", { headers: { ...both, "content-type": "application/json" }, body: "{" }],
  ] as const)("with %s answers with a documented status", async (_, ask) => {
    const answer = await send("/mcp", { method: "POST", key: shop.secretKey, ...ask });
    expect([answer.status, documented("mcp", answer.status)], answer.text).toEqual([answer.status, expect.any(Array)]);
  });
});
