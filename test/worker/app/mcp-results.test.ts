// The texts that an assistant reads about each tool, and the tools' results, which must match their schemas.
import { beforeAll, describe, expect, it } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { toolsOf } from "../../../src/app/mcp/tools.ts";
import { type Shop, seedShop, send, sendWith } from "../../support/access.ts";
import { misfits } from "../../support/json-schema.ts";
import { seedCursor, seedPayment } from "../../support/payments.ts";
import { directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";

const TOOLS = toolsOf(SPECS);

/** Terms of HTTP and of API callers. An assistant does not know them, because it sees only tools, arguments and results. */
const OF_HTTP =
  /\b(GET|POST|PATCH|PUT|DELETE|HTTP|header|request body|response|status code|route|endpoint|query|public key may|Idempotency-Key|pk_|sk_|x-api-key)\b|\/api\/|\/v1\/|\{[a-z]\w*\}|\b(answers?|is|returns?|with) [1-5]\d\d\b/;

/** Every text of a tool, with its location. */
function textsOf(node: unknown, at: string): readonly (readonly [string, string])[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    const here = `${at}.${key}`;
    const isText = typeof value === "string" && (key === "description" || key === "title");
    return isText ? [[here, value] as const] : textsOf(value, here);
  });
}

describe("what an assistant reads", () => {
  it("contains no HTTP terms, statuses or paths", () => {
    const said = TOOLS.flatMap(({ name, title, description, input, output }) =>
      textsOf({ title, description, input, output }, name),
    );
    expect(said.length).toBeGreaterThan(150);
    expect(said.filter(([, text]) => OF_HTTP.test(text))).toEqual([]);
  });

  it("describes each tool differently, in full sentences", () => {
    const descriptions = TOOLS.map(({ description }) => description);
    expect(new Set(descriptions).size).toBe(TOOLS.length);
    for (const { description, title } of TOOLS) {
      expect(description).toMatch(/^[A-Z].*\.$/);
      expect(description).not.toBe(title);
    }
  });

  it("has types that an assistant can use: integers and flags are not strings", () => {
    const list = TOOLS.find(({ name }) => name === "list_products")?.input.properties;
    expect(list).toMatchObject({ limit: { type: "integer", maximum: 100 }, isActive: { type: "boolean" } });
  });
});

describe("the result of every tool", () => {
  let shop: Shop;
  const used = new Set<string>();
  /** A stand-in for the watcher, which reports that it has read the transaction. The transaction's payment is already in the tables. */
  const bindings = {
    CHAIN_SOURCES: JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] }),
    NETWORK_WATCHER: { getByName: () => ({ lookUp: async () => "READ", wake: async () => {} }) },
  } as unknown as Partial<Env>;

  beforeAll(async () => {
    shop = await seedShop();
    await seedCursor("ETH", { tipHeight: 104 });
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/wallets`;
    for (const body of [directWallet(), xpubWallet()])
      expect((await send(path, { method: "POST", key: shop.secretKey, body })).status).toBe(201);
  });

  /** Calls a tool, and checks its result. */
  async function use(name: string, given: object = {}) {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } };
    const headers = { accept: "application/json, text/event-stream" };
    const answer = await sendWith(bindings, "/mcp", { method: "POST", key: shop.secretKey, headers, body });
    // The answer is one server-sent event.
    const message: { readonly result?: object } = JSON.parse(/^data: (.*)$/m.exec(answer.text)?.[1] ?? answer.text);
    const { structuredContent, content, isError } = Object(message.result);
    expect([name, isError ?? false], answer.text).toEqual([name, false]);
    const output = Object(TOOLS.find((tool) => tool.name === name)?.output);
    expect(output.type).toBe("object");
    const { $defs: _, ...schema } = output;
    expect([name, misfits(output, schema, structuredContent)], answer.text).toEqual([name, []]);
    // Clients of older protocol versions read the result from the text content instead.
    const told = JSON.parse(content[0].text);
    expect(Array.isArray(told) ? { data: told } : told).toEqual(structuredContent);
    used.add(name);
    return structuredContent;
  }

  it("matches its output schema, and equals the API's own response", async () => {
    const wallets = (await use("list_wallets")).data;
    expect(wallets).toHaveLength(2);
    for (const { id } of wallets) await use("get_wallet", { walletId: id });
    const xpub = wallets.find(({ walletType }: { walletType: string }) => walletType === "XPUB_WALLET");
    await use("preview_addresses", { walletId: xpub.id, from: 1, count: 2 });
    await use("check_networks", { walletId: xpub.id });
    await use("get_readiness", {});
    const product = await use("create_product", { name: "Tea", price: 4, description: "Green" });
    await use("update_product", { productId: product.id, isActive: true });
    await use("get_product", { productId: product.id });
    await use("list_products", { isActive: true, limit: 1 });
    const customer = await use("upsert_customer", { email: "ann@example.com", metadata: { vip: "yes" } });
    await use("upsert_customer", { email: "ann@example.com", name: "Ann" });
    await use("update_customer", { customerId: customer.id, phoneNumber: "555" });
    await use("list_customers", { search: "Ann" });
    const open = { productId: product.id, customerEmail: "ann@example.com", paymentMethods: [] };
    const { id: invoiceId } = await use("create_invoice", { ...open, idempotencyKey: "one" });
    await use("create_invoice", { ...open, idempotencyKey: "one" });
    await use("update_invoice", { invoiceId, name: "Tea, 1 kg" });
    await use("list_payment_methods", { invoiceId });
    await use("activate_payment_method", { invoiceId, ...USDT });
    await use("activate_payment_method", { invoiceId, ...USDT });
    const txHash = `0x${randomHex(32)}`;
    const payment = await seedPayment(shop.merchantId, { txHash });
    await use("look_up_payment", { network: "ETH", txHash });
    await use("list_payments", { status: "UNMATCHED", page: 1 });
    await use("get_payment", { paymentId: payment.id });
    await use("resolve_payment", { paymentId: payment.id, action: "ASSIGN", invoiceId, reason: "The payer wrote" });
    await use("list_invoice_payments", { invoiceId });
    await use("get_invoice", { invoiceId });
    await use("list_invoices", { limit: 1 });
    await use("list_invoices", { limit: 1, cursor: "" });
    const other = await use("create_invoice", { name: "Cake", rawAmount: 3 });
    await use("resolve_invoice", { invoiceId: other.id, action: "ACCEPT", reason: "Paid in cash" });
    const third = await use("create_invoice", { name: "Pie", rawAmount: 3 });
    await use("cancel_invoice", { invoiceId: third.id });
    await use("get_customer_resume", { customerId: customer.id });
    await use("get_totals", { from: "2026-11-01", to: "2026-11-30" });
    for (const q of ["Tea", "ann@example.com", txHash]) await use("search", { q });
    await use("get_customer", { customerId: customer.id });
    await use("delete_product", { productId: product.id });
    await use("delete_customer", { customerId: customer.id });
    expect(TOOLS.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });
});
