// The client for web pages: what a public key may call, and what must not get into a page.
import { describe, expect, it } from "vitest";
import { EdgetillPublic } from "../../../client/edgetill.ts";
import { json, MERCHANT, refusal, rejection, scriptedApi } from "./scripted-api.ts";

const BASE = `/api/v1/merchants/merchant/${MERCHANT}`;
const KEY = "pk_live_2mJ7Qx0f9T";

function pageAt(origin: string): EdgetillPublic {
  return new EdgetillPublic({
    baseUrl: origin,
    merchantId: MERCHANT,
    apiKey: KEY,
    backoff: { baseMs: 2, capMs: 8 },
  });
}

describe("a method of EdgetillPublic", () => {
  const PAIR = { cryptocurrency: "BTC", network: "BTC" };
  it.each<[string, (page: EdgetillPublic) => PromiseLike<unknown>]>([
    ["POST /invoices", ({ invoices }) => invoices.create({ productId: "prd_1" })],
    ["GET /invoices/inv_1", ({ invoices }) => invoices.get("inv_1")],
    ["GET /invoices/inv_1/payment-methods", ({ invoices }) => invoices.listPaymentMethods("inv_1")],
    ["POST /invoices/inv_1/payment-methods", ({ invoices }) => invoices.addPaymentMethod("inv_1", PAIR)],
    ["GET /products?cursor=", ({ products }) => products.list()],
    ["GET /products/prd_1", ({ products }) => products.get("prd_1")],
  ])("requests %s with the public key", async (route, run) => {
    await using api = await scriptedApi(json(200, { data: [], nextCursor: null }));
    await run(pageAt(api.origin));
    const [seen] = api.seen;
    expect(`${seen?.method} ${seen?.url}`).toBe(route.replace(" ", ` ${BASE}`));
    expect(seen?.headers["x-api-key"]).toBe(KEY);
    expect(seen?.headers).not.toHaveProperty("cf-turnstile-response");
  });

  it("that lists products iterates over all pages", async () => {
    await using api = await scriptedApi(
      json(200, { data: [{ id: "prd_2" }], nextCursor: "c" }),
      json(200, { data: [{ id: "prd_1" }], nextCursor: null }),
    );
    const ids: string[] = [];
    for await (const { id } of pageAt(api.origin).products.list()) ids.push(id);
    expect(ids).toEqual(["prd_2", "prd_1"]);
  });
});

it("a Turnstile token is sent with every attempt, and the error for a missing token has the site key and the action", async () => {
  const wanted = json(403, { code: "CHALLENGE_REQUIRED", siteKey: "0x4AAA", action: "invoice" });
  await using api = await scriptedApi(wanted, refusal(503, "CHALLENGE_UNAVAILABLE"), json(201, { id: "inv_1" }));
  const { invoices } = pageAt(api.origin);
  const order = { productId: "prd_1" };
  const error = await rejection(invoices.create(order, { idempotencyKey: "order-1" }));
  expect(error).toMatchObject({ code: "CHALLENGE_REQUIRED", facts: { siteKey: "0x4AAA", action: "invoice" } });
  await invoices.create(order, { idempotencyKey: "order-1", turnstileToken: "token-1" });
  const sent = api.seen.map(({ headers }) => [headers["idempotency-key"], headers["cf-turnstile-response"]]);
  expect(sent).toEqual([
    ["order-1", undefined],
    ["order-1", "token-1"],
    ["order-1", "token-1"],
  ]);
});

it.each(["sk_live_2mJ7Qx0f9T", "", "PK_1"])("a key that is not public is refused without being shown: %j", (apiKey) => {
  const make = () => new EdgetillPublic({ baseUrl: "https://pay.example.com", merchantId: MERCHANT, apiKey });
  expect(make).toThrow(new TypeError("EdgetillPublic takes a public key (pk_)"));
});
