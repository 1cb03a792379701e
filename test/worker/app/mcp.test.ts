// The Model Context Protocol, used through the protocol's own client, in the 2026-07-28 version and in the 2025 version.

import { exports } from "cloudflare:workers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, it } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { toolsOf } from "../../../src/app/mcp/tools.ts";
import { expectRefusal, type Shop, seedKey, seedShop, send } from "../../support/access.ts";
import { seedCursor, seedPayment } from "../../support/payments.ts";
import { seedUser } from "../../support/people.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";

const ERAS = ["legacy", { pin: "2026-07-28" }] as const;
const URL_OF_MCP = "http://localhost:8787/mcp";
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const STREAMABLE = { accept: "application/json, text/event-stream" };

beforeAll(async () => {
  await seedCursor("ETH", { tipHeight: 104 });
});

async function connected(headers: Readonly<Record<string, string>>, mode: (typeof ERAS)[number] = "legacy") {
  const transport = new StreamableHTTPClientTransport(new URL(URL_OF_MCP), {
    requestInit: { headers },
    fetch: async (url, init) => exports.default.fetch(new Request(url, init as RequestInit)),
  });
  const client = new Client({ name: "assistant", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const use = async (name: string, given: Record<string, unknown> = {}) => {
    const { isError = false, structuredContent, content } = await client.callTool({ name, arguments: given });
    const [said] = content;
    return { isError, told: Object(structuredContent), text: said?.type === "text" ? said.text : "" };
  };
  return { client, use, names: async () => (await client.listTools()).tools.map(({ name }) => name) };
}

const post = (ask: {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}) => send("/mcp", { method: "POST", body: LIST, ...ask, headers: { ...STREAMABLE, ...ask.headers } });

describe.each(ERAS.map((mode) => [JSON.stringify(mode), mode] as const))("an assistant in %s mode", (_, mode) => {
  it("creates an invoice, lists unmatched payments, and assigns one", async () => {
    const shop = await seedShop();
    const wallet = `/api/v1/merchants/merchant/${shop.merchantId}/wallets`;
    expect((await send(wallet, { method: "POST", key: shop.secretKey, body: directWallet() })).status).toBe(201);
    const { use, names } = await connected({ authorization: `Bearer ${shop.secretKey}` }, mode);
    expect(await names()).toEqual(expect.arrayContaining(["create_invoice", "list_payments", "resolve_payment"]));
    const made = await use("create_invoice", {
      name: "Order 7",
      rawAmount: 10,
      paymentMethods: [USDT],
      idempotencyKey: "o-7",
    });
    expect([made.isError, made.told.status], made.text).toEqual([false, "AWAITING_PAYMENT"]);
    const again = await use("create_invoice", {
      name: "Order 7",
      rawAmount: 10,
      paymentMethods: [USDT],
      idempotencyKey: "o-7",
    });
    expect(again.told.id).toBe(made.told.id);
    const payment = await seedPayment(shop.merchantId);
    const waiting = await use("list_payments", { status: "UNMATCHED", limit: 5 });
    expect(waiting.told.data).toMatchObject([{ id: payment.id, amount: "10" }]);
    const by = { paymentId: payment.id, action: "ASSIGN", invoiceId: made.told.id, reason: "The payer wrote to us" };
    expect((await use("resolve_payment", by)).told).toMatchObject({ id: payment.id, matchedBy: "MANUAL" });
    expect((await use("get_invoice", { invoiceId: made.told.id })).told).toMatchObject({ status: "PAID" });
    expect((await use("list_payments", { status: "UNMATCHED" })).told.data).toEqual([]);
  });

  it("gets the API's message for an error, and nothing changes", async () => {
    const { secretKey } = await seedShop();
    const { use } = await connected({ "x-api-key": secretKey }, mode);
    const wrong = await use("create_invoice", { name: "Order", rawAmount: -1 });
    expect([wrong.isError, JSON.parse(wrong.text)]).toMatchObject([
      true,
      { code: "VALIDATION_FAILED", statusCode: 400 },
    ]);
    const unknown = await use("list_payments", { state: "UNMATCHED" });
    expect([unknown.isError, unknown.text]).toEqual([true, expect.stringContaining("state")]);
    const absent = await use("get_invoice", { invoiceId: "inv_01ARZ3NDEKTSV4RRFFQ69G5FAV" });
    expect([absent.isError, absent.text]).toEqual([true, expect.stringContaining("INVOICE_NOT_FOUND")]);
    const path = await use("get_invoice", { invoiceId: "../wallets" });
    expect([path.isError, path.text]).toEqual([true, expect.stringContaining("INVOICE_NOT_FOUND")]);
    expect((await use("list_invoices")).told.data).toEqual([]);
  });

  it("has the tools that the key's permissions allow, and can use no others", async () => {
    const { merchantId } = await seedShop();
    const key = await seedKey(merchantId, { permissions: ["INVOICE_VIEW"] });
    const { client, names } = await connected({ "x-api-key": key }, mode);
    const own = toolsOf(SPECS).filter(({ permissions }) => permissions.includes("invoice:view"));
    expect((await names()).sort()).toEqual(own.map(({ name }) => name).sort());
    await expect(client.callTool({ name: "create_invoice", arguments: { name: "x", rawAmount: 1 } })).rejects.toThrow();
  });

  it("is refused an event stream, because the stream would stay open", async () => {
    const { secretKey } = await seedShop();
    const { client } = await connected({ "x-api-key": secretKey }, mode);
    expect(client.getServerCapabilities()).toMatchObject({ tools: {} });
    await expect(client.listen({ toolsListChanged: true })).rejects.toThrow(
      /Subscription limit reached|requires a 2026/,
    );
  });
});

describe("the tools", () => {
  const tools = toolsOf(SPECS);

  it("are the routes that a shop needs and that keys may call without a user's confirmation", () => {
    for (const { name, path, method } of tools) {
      const spec = SPECS.find((each) => each.path === path && each.method === method);
      expect([name, spec?.callers, spec?.needsStepUp ?? false]).toEqual([name, "MEMBER_OR_KEY", false]);
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    }
    const names = tools.map(({ name }) => name);
    const some = "create_invoice cancel_invoice list_products upsert_customer list_wallets get_totals resolve_payment";
    expect(names).toEqual(expect.arrayContaining(some.split(" ")));
    expect(names.filter((name) => name.includes("wallet") && !/^(list|get|read)/.test(name))).toEqual([]);
  });

  it("have self-contained schemas that declare each argument", () => {
    for (const { input, places, isIdempotent } of tools) {
      const text = JSON.stringify(input);
      expect(text).not.toContain("#/components/");
      for (const [, name] of text.matchAll(/"#\/\$defs\/([^"]+)"/g))
        expect(Object(input.$defs)[name ?? ""]).toBeDefined();
      expect(Object.keys(places).sort()).toEqual(Object.keys(Object(input.properties)).sort());
      expect("idempotencyKey" in places).toBe(isIdempotent);
      expect("merchantId" in places).toBe(false);
    }
  });
});

describe("POST /mcp", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seedShop();
  });

  it("accepts the key in either header, and in both if they are equal", async () => {
    const bearer = { authorization: `Bearer ${shop.secretKey}` };
    for (const ask of [{ key: shop.secretKey }, { headers: bearer }, { key: shop.secretKey, headers: bearer }])
      expect((await post(ask)).status).toBe(200);
    const other = { authorization: `Bearer ${await seedKey(shop.merchantId)}` };
    expectRefusal(await post({ key: shop.secretKey, headers: other }), 400, "VALIDATION_FAILED");
  });

  it("refuses callers without a valid secret key", async () => {
    const { headers } = await seedUser();
    const past = Date.now() - 1;
    const dead = [
      await seedKey(shop.merchantId, { revokedAtMs: past }),
      await seedKey(shop.merchantId, { expiresAtMs: past }),
    ];
    const asks = [
      {},
      { headers },
      { key: "sk_wrong" },
      { headers: { authorization: "Basic eDp5" } },
      ...dead.map((key) => ({ key })),
    ];
    for (const ask of asks) expectRefusal(await post(ask), 401, "UNAUTHORIZED");
    expectRefusal(await post({ key: shop.publicKey }), 403, "PUBLIC_KEY_FORBIDDEN");
    const elsewhere = await seedKey(shop.merchantId, { allowedIps: '["203.0.113.7"]' });
    expectRefusal(
      await post({ key: elsewhere, headers: { "cf-connecting-ip": "203.0.113.8" } }),
      403,
      "IP_NOT_ALLOWED",
    );
  });

  it("accepts a key from an IP address that the key allows, and calls tools with that address", async () => {
    const key = await seedKey(shop.merchantId, { allowedIps: '["203.0.113.7"]' });
    const { use } = await connected({ "x-api-key": key, "cf-connecting-ip": "203.0.113.7" });
    expect((await use("list_invoices")).isError).toBe(false);
  });

  it("refuses pages from other origins, and does not support GET", async () => {
    const headers = { origin: "https://evil.example" };
    expectRefusal(await post({ key: shop.secretKey, headers }), 403, "ORIGIN_NOT_ALLOWED");
    expectRefusal(await send("/mcp", { key: shop.secretKey }), 405, "METHOD_NOT_ALLOWED");
  });

  it("refuses private keys in the arguments of a tool", async () => {
    const given = { name: "create_product", arguments: { name: `xprv9s21ZrQH143K3${"Q".repeat(94)}`, price: 1 } };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: given };
    const answer = await post({ key: shop.secretKey, body });
    expectRefusal(answer, 400, "PRIVATE_KEY_REFUSED");
  });

  it("returns the rate limit headers of the key", async () => {
    const answer = await post({ key: shop.secretKey });
    expect(answer.headers.get("ratelimit-policy")).toMatch(/q=/);
  });
});
