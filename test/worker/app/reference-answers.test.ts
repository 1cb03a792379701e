import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { beforeAll, describe, expect, it } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { type InvoiceId, makeId, newUlid } from "../../../src/lib/ids.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import type { RouteSpec } from "../../../src/platform/http/route.ts";
import {
  type Answer,
  type Ask,
  expectRefusal,
  type Shop,
  seedKey,
  seedShop,
  send,
  sendWith,
} from "../../support/access.ts";
import { misfits, resolve, type Schema } from "../../support/json-schema.ts";
import { document, operationOf, useDocument } from "./reference-harness.ts";

useDocument();

describe("a live response matches the OpenAPI document:", () => {
  const TETHER = { cryptocurrency: "USDT", network: "ETH" };
  const DIRECT = { walletType: "DIRECT_WALLET", ...TETHER, address: `0x${"a1".repeat(20)}` };
  // The account key of BIP84's test vectors.
  const ZPUB = {
    walletType: "XPUB_WALLET",
    cryptocurrency: "BTC",
    network: "BTC",
    derivationPath: "m/84'/0'/0'",
    xpub: "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
  };
  const ORDER = {
    name: "Order 1001",
    rawAmount: 49.9,
    customerEmail: "ada@shop.example",
    externalId: "1001",
    metadata: { title: "a member by the name of a keyword" },
    paymentMethods: [TETHER],
  };
  let shop: Shop;
  let walletId: string;
  let xpubId: string;
  let invoiceId: string;

  /** Sends a request and compares the answer with the document: its status, its headers, and every member of its body. */
  async function checked(operationId: string, ask: Ask & { readonly of?: string; readonly query?: string } = {}) {
    const spec = SPECS.find((each) => each.operationId === operationId);
    if (spec === undefined) throw new Error(`there is no ${operationId}`);
    const path = spec.path.replace(":merchantId", shop.merchantId).replace(/:(walletId|invoiceId)/, ask.of ?? "");
    const answer = await send(`${path}${ask.query ?? ""}`, { method: spec.method, key: shop.secretKey, ...ask });
    expectDocumented(spec, answer);
    return answer;
  }

  function expectDocumented(spec: RouteSpec, answer: Answer): void {
    const documented = operationOf(spec).responses[answer.status];
    expect(documented, `${spec.operationId} answered ${answer.status}: ${answer.text}`).toBeDefined();
    const schema = documented?.content?.["application/json"]?.schema ?? {};
    expect(misfits(document, schema, JSON.parse(answer.text))).toEqual([]);
    for (const [name, { $ref }] of Object.entries(documented?.headers ?? {})) {
      const header: { readonly required?: boolean; readonly schema: Schema } = Object(resolve(document, $ref));
      const sent = answer.headers.get(name);
      if (header.required === true) expect(sent, name).not.toBeNull();
      if (sent === null) continue;
      expect(misfits(document, header.schema, header.schema.type === "integer" ? Number(sent) : sent)).toEqual([]);
    }
    const ours = [...answer.headers.keys()].filter((name) => /^(ratelimit|retry-after|idempotent-)/.test(name));
    const names = Object.keys(documented?.headers ?? {}).map((name) => name.toLowerCase());
    expect(ours.filter((name) => !names.includes(name))).toEqual([]);
    if (answer.status >= 400 && spec.permission !== null)
      expect(documented?.description.split(", ")).toContain(answer.json?.code);
  }

  beforeAll(async () => {
    shop = await seedShop();
    const made = async (operationId: string, body: object) => {
      const answer = await checked(operationId, { body });
      expect(answer.status, answer.text).toBe(201);
      return String(answer.json?.id);
    };
    walletId = await made("registerWallet", DIRECT);
    xpubId = await made("registerWallet", ZPUB);
    invoiceId = await made("createInvoice", ORDER);
    await drizzle(env.DB)
      .insert(payments)
      .values({
        id: makeId("pay", newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(16)))),
        merchantId: shop.merchantId,
        invoiceId: invoiceId as InvoiceId,
        ...TETHER,
        txHash: "ab".repeat(32),
        outputIndex: "0",
        toAddress: DIRECT.address,
        amountUnits: 1n,
        status: "DETECTED",
        confirmations: 0,
        requiredConfirmations: 1,
        isLate: false,
        receivedAtMs: 1_000,
        createdAtMs: 1_000,
        updatedAtMs: 1_000,
      });
  });

  it("wallets", async () => {
    expect((await checked("getWallet", { of: walletId })).status).toBe(200);
    expect(JSON.parse((await checked("listWallets")).text)).toHaveLength(2);
    expect((await checked("previewAddresses", { of: xpubId })).json?.data).toHaveLength(20);
    expect((await checked("checkNetworks", { of: walletId })).json?.networks).toHaveLength(7);
    await checked("createInvoice", {
      body: { name: "a", rawAmount: 1, paymentMethods: [{ cryptocurrency: "BTC", network: "BTC" }] },
    });
    expect((await checked("exportRecovery", { of: xpubId })).json?.addresses).toHaveLength(1);
    expect((await checked("updateWallet", { of: walletId, body: { isEnabled: true } })).status).toBe(200);
  });

  it("invoices read with a secret and a public key, with payments and a customer", async () => {
    const whole = await checked("getInvoice", { of: invoiceId });
    expect(whole.json).toMatchObject({ payments: [{}], paymentMethods: [{}], customer: {}, metadata: {} });
    const shown = await checked("getInvoice", { of: invoiceId, key: shop.publicKey });
    expect(shown.json).toMatchObject({ payments: [{}], paymentMethods: [{}], customer: null, metadata: null });
    // The invoice of each kind of key must match only its own schema, not the other kind's.
    const named = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    expect(misfits(document, named("Invoice"), shown.json)).not.toEqual([]);
    expect(misfits(document, named("PublicInvoice"), whole.json)).not.toEqual([]);
    const body = { name: "From a browser", rawAmount: 1 };
    expect((await checked("createInvoice", { key: shop.publicKey, body })).status).toBe(201);
    expect((await checked("listInvoices")).json?.pagination).toBeDefined();
    expect((await checked("listInvoices", { query: "?limit=1" })).json?.pagination).toBeDefined();
    expect((await checked("listInvoices", { query: "?limit=1&cursor=" })).json?.pagination).toBeUndefined();
    expect((await checked("listPaymentMethods", { of: invoiceId })).json?.data).toHaveLength(2);
    expect((await checked("listInvoicePayments", { of: invoiceId })).json?.data).toHaveLength(1);
    expect((await checked("updateInvoice", { of: invoiceId, body: { name: "Order" } })).status).toBe(200);
  });

  it("a creation, its replay, picks of a method and a cancellation", async () => {
    const headers = { "idempotency-key": "one" };
    const body = { name: "Order 1002", rawAmount: 10 };
    const first = await checked("createInvoice", { body, headers });
    const again = await checked("createInvoice", { body, headers });
    expect([first, again].map((each) => each.headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect((await checked("createInvoice", { body: { ...body, rawAmount: 11 }, headers })).json?.code).toBe(
      "IDEMPOTENCY_KEY_REUSED",
    );
    const of = String(first.json?.id);
    expect((await checked("activatePaymentMethod", { of, body: TETHER })).status).toBe(201);
    expect((await checked("activatePaymentMethod", { of, body: TETHER })).status).toBe(200);
    expect((await checked("cancelInvoice", { of })).json?.status).toBe("CANCELLED");
  });

  it("refusals with extra fields", async () => {
    const exists = await checked("registerWallet", { body: DIRECT });
    expect(expectRefusal(exists, 409, "WALLET_EXISTS")).toMatchObject({ walletId });
    const twice = await checked("createInvoice", { body: ORDER });
    expect(expectRefusal(twice, 409, "EXTERNAL_ID_EXISTS")).toMatchObject({ invoiceId });
    const key = await seedKey(shop.merchantId, { permissions: [] });
    expectRefusal(await checked("listInvoices", { key }), 403, "PERMISSION_DENIED");
    expectRefusal(await checked("deleteWallet", { of: walletId }), 409, "WALLET_HAS_ACTIVE_PAYMENTS");
  });

  it.each([
    ["createInvoice", { body: "{" }, "MALFORMED_JSON"],
    ["createInvoice", { body: `"${"a".repeat(65_536)}"` }, "BODY_TOO_LARGE"],
    ["createInvoice", { body: "{}", headers: { "content-type": "text/plain" } }, "UNSUPPORTED_MEDIA_TYPE"],
    ["createInvoice", { body: {} }, "VALIDATION_FAILED"],
    [
      "createInvoice",
      { body: { name: "a", rawAmount: 1 }, headers: { "idempotency-key": "k".repeat(256) } },
      "IDEMPOTENCY_KEY_INVALID",
    ],
    ["cancelInvoice", { of: "none", body: "{" }, "MALFORMED_JSON"],
    ["deleteWallet", { of: "none", body: "{}", headers: { "content-type": "text/plain" } }, "UNSUPPORTED_MEDIA_TYPE"],
    ["getInvoice", { of: "none" }, "INVOICE_NOT_FOUND"],
    ["getWallet", { of: "none" }, "WALLET_NOT_FOUND"],
    ["listWallets", { key: undefined }, "UNAUTHORIZED"],
  ] as const)("a refusal of %s: %#", async (operationId, ask, code) => {
    expect((await checked(operationId, ask)).json?.code).toBe(code);
  });

  it("a 429 with its rate limit headers", async () => {
    const spec = SPECS.find((each) => each.operationId === "listWallets");
    if (spec === undefined) throw new Error("there is no listWallets");
    const busy = await seedShop();
    const ask = () =>
      sendWith({ RATE_LIMIT_PER_MINUTE: "1" } as Partial<Env>, spec.path.replace(":merchantId", busy.merchantId), {
        key: busy.secretKey,
      });
    const [first, second] = [await ask(), await ask()];
    for (const answer of [first, second]) expectDocumented(spec, answer);
    expect([first?.status, second?.status]).toEqual([200, 429]);
    expect(second?.headers.get("ratelimit")).toMatch(/^"default";r=0/);
  });

  it("/healthz, with and without storage, and the document itself", async () => {
    await checked("health");
    await checked("openapi");
    const health = SPECS.find((each) => each.operationId === "health");
    const DB = { prepare: () => ({ first: () => Promise.reject(new Error("D1_ERROR: storage is away")) }) };
    const sick = await sendWith({ DB: DB as unknown as D1Database }, "/healthz");
    expect(sick.status).toBe(503);
    if (health !== undefined) expectDocumented(health, sick);
  });
});
