// The merchant's client in a shop that is itself a Worker: it uses nothing from Node.
import { exports } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, it, vi } from "vitest";
import { Edgetill, EdgetillTimeoutError, verifyWebhook } from "../../../client/edgetill.ts";
import { seedShop } from "../../support/access.ts";

const baseUrl = "http://localhost:8787";

afterEach(() => {
  vi.unstubAllGlobals();
});

it("the client calls the API, retries with the same idempotency key, and throws the API's refusals", async () => {
  const { merchantId, secretKey: apiKey } = await seedShop();
  const keys: unknown[] = [];
  // The runtime's fetch may be called only on the global scope; this stand-in enforces that too.
  vi.stubGlobal("fetch", async function (this: unknown, url: string, init: RequestInit) {
    expect(this === undefined || this === globalThis).toBe(true);
    const request = new Request(url, init);
    keys.push(request.headers.get("idempotency-key"));
    if (keys.length === 1) throw new TypeError("Network connection lost.");
    return exports.default.fetch(request);
  });
  const edgetill = new Edgetill({ baseUrl, merchantId, apiKey, backoff: { baseMs: 1, capMs: 1 } });
  const invoice = await edgetill.invoices.create({ name: "Order", rawAmount: 10 });
  expect(keys[0]).toBe(keys[1]);
  expect(await edgetill.invoices.get(invoice.id)).toEqual(invoice);
  await expect(edgetill.invoices.get("none")).rejects.toMatchObject({ code: "INVOICE_NOT_FOUND", attempts: 1 });
});

it("the client throws EdgetillTimeoutError when the response takes too long", async () => {
  const hanging = (_: unknown, init?: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const options = { baseUrl, merchantId: "mer_1", apiKey: "sk_1", fetch: hanging, timeoutMs: 20, maxRetries: 0 };
  await expect(new Edgetill(options).invoices.get("inv_1")).rejects.toBeInstanceOf(EdgetillTimeoutError);
});

it("the client verifies a webhook, and rejects one whose id was changed", async () => {
  const secret = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;
  const payload = '{"id":"evt_1","type":"ping"}';
  const seconds = Math.floor(Date.now() / 1_000);
  const headers = new Headers({
    "webhook-id": "evt_1",
    "webhook-timestamp": String(seconds),
    "webhook-signature": new Webhook(secret).sign("evt_1", new Date(seconds * 1_000), payload),
  });
  expect(await verifyWebhook({ payload, headers, secret })).toEqual(JSON.parse(payload));
  headers.set("webhook-id", "evt_2");
  await expect(verifyWebhook({ payload, headers, secret })).rejects.toMatchObject({ reason: "SIGNATURE_MISMATCH" });
});
