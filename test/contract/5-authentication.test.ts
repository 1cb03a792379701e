// Interface 5 and 7, decisions 1, 7 and 8: who has access, what a key may do, and that a key belongs to a merchant.
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  apiOf,
  call,
  createInvoice,
  expectOk,
  expectRefusal,
  merchantPath,
  removeWallets,
  service,
  shop,
  stranger,
} from "./client.ts";
import { freshDirectWallet } from "./key-material.ts";

const NOWHERE = "mer_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const WALLET = "/wallets/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const INVOICE = "/invoices/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV";
/** Every merchant route in this part of the interface, each with a valid body. */
const ROUTES: readonly (readonly [string, string, unknown?])[] = [
  ["GET", "/wallets"],
  ["POST", "/wallets", freshDirectWallet("ETH", "ETH")],
  ["GET", WALLET],
  ["PATCH", WALLET, { isEnabled: true }],
  ["DELETE", WALLET],
  ["GET", `${WALLET}/addresses`],
  ["GET", `${WALLET}/recovery`],
  ["GET", "/invoices"],
  ["POST", "/invoices", { name: "Order", rawAmount: 10 }],
  ["GET", INVOICE],
  ["PATCH", INVOICE, { name: "New" }],
  ["POST", `${INVOICE}/cancel`],
  ["GET", `${INVOICE}/payment-methods`],
  ["POST", `${INVOICE}/payment-methods`, { cryptocurrency: "BTC", network: "BTC" }],
  ["GET", `${INVOICE}/payments`],
];

const send = (key: string | null, merchantId: string, [method, rest, body]: (typeof ROUTES)[number]) =>
  call(merchantPath(merchantId, rest), { method, key, ...(body === undefined ? {} : { body }) });
const refusalOf = (answer: Answer<unknown>, status: number, code?: string) => {
  const { requestId, ...rest } = expectRefusal(answer, status, code);
  expect(requestId).toMatch(/\S/);
  return rest;
};

describe("without a valid key", () => {
  const secret = service.secretKey;
  const turned = secret.slice(0, -1) + (secret.endsWith("a") ? "b" : "a");
  const BAD: readonly (readonly [string, string | null])[] = [
    ["no key", null],
    ["an empty key", ""],
    ["unrelated text", "letmein"],
    ["only the prefix", "sk_"],
    ["one character changed", turned],
    ["one character missing", secret.slice(0, -1)],
    ["one character more", `${secret}0`],
    ["a different case", secret.toUpperCase()],
    ["a secret key with the prefix of a public one", secret.replace("sk_", "pk_")],
    ["a public key with the prefix of a secret one", service.publicKey.replace("pk_", "sk_")],
    ["a key within other text", `Bearer ${secret}`],
    ["an expired key", service.keys.expired],
    ["a revoked key", service.keys.revoked],
    ["a text of 6,000 characters", "sk_".repeat(2_000)],
  ];

  test.each(BAD)("%s: every route answers 401", async (_, key) => {
    for (const route of ROUTES) expectRefusal(await send(key, service.merchantId, route), 401);
  });

  test("the response does not reveal what was wrong with the key", async () => {
    const answers = await Promise.all(BAD.map(([, key]) => shopAnswer(key)));
    const [first, ...rest] = answers.map((answer) => refusalOf(answer, 401));
    for (const each of rest) expect(each).toEqual(first);
  });

  test("the response is the same for the caller's own merchant, another one and an unknown one", async () => {
    const answers = [service.merchantId, service.other.merchantId, NOWHERE].map((id) =>
      call(merchantPath(id, "/invoices")),
    );
    const [first, ...rest] = (await Promise.all(answers)).map((answer) => refusalOf(answer, 401));
    for (const each of rest) expect(each).toEqual(first);
  });

  test("a key is only read from the x-api-key header", async () => {
    const path = merchantPath(service.merchantId, "/invoices");
    expectRefusal(await call(path, { headers: { authorization: `Bearer ${secret}` } }), 401);
    expectRefusal(await call(path, { headers: { cookie: `x-api-key=${secret}` } }), 401);
    expectRefusal(await call(`${path}?x-api-key=${secret}&api_key=${secret}`), 401);
  });

  test("two keys in one request are refused", async () => {
    expect(await statusWithHeaders({ "x-api-key": [secret, secret] })).toBe(401);
    expect(await statusWithHeaders({ "x-api-key": [secret, service.other.secretKey] })).toBe(401);
    expect(await statusWithHeaders({ "x-api-key": [secret] })).toBe(200);
  });

  const shopAnswer = (key: string | null) => call(merchantPath(service.merchantId, "/invoices"), { key });
});

describe("the secret key of a merchant", () => {
  test("gives access to every route of that merchant", async () => {
    await removeWallets(shop);
    for (const route of ROUTES) {
      const { status, text } = await send(service.secretKey, service.merchantId, route);
      const isThere = !route[1].includes("_01ARZ3");
      const expected = route[0] === "POST" ? 201 : 200;
      expect(status, text).toBe(isThere ? expected : 404);
    }
    await removeWallets(shop);
  });

  test("is used even if the request has a cookie, and a cookie alone is refused", async () => {
    const headers = { cookie: "session=x; __Host-session=y" };
    const path = merchantPath(service.merchantId, "/invoices");
    expectOk(await call(path, { key: service.secretKey, headers }), 200);
    expectRefusal(await call(path, { headers }), 401);
  });

  test("is refused on every route of another merchant, whether that merchant exists or not", async () => {
    for (const route of ROUTES) {
      const existing = refusalOf(
        await send(service.secretKey, service.other.merchantId, route),
        403,
        "MERCHANT_MISMATCH",
      );
      const unknown = refusalOf(await send(service.secretKey, NOWHERE, route), 403, "MERCHANT_MISMATCH");
      expect(existing).toEqual(unknown);
    }
  });

  test("does not reach another merchant's invoice through the caller's own path", async () => {
    const theirs = await createInvoice(stranger);
    const paths = ["", "/payment-methods", "/payments"].map((rest) => `/invoices/${theirs.id}${rest}`);
    for (const path of paths) expectRefusal(await shop.get(path), 404, "INVOICE_NOT_FOUND");
  });
});

describe("with limited permissions or IP addresses,", () => {
  const isRead = ([method]: (typeof ROUTES)[number]) => method === "GET";

  test("a key without permissions is refused on every route", async () => {
    for (const route of ROUTES) {
      expectRefusal(await send(service.keys.noPermissions, service.merchantId, route), 403, "PERMISSION_DENIED");
    }
  });

  test("a key that may only view can read everything and change nothing", async () => {
    for (const route of ROUTES) {
      const answer = await send(service.keys.viewOnly, service.merchantId, route);
      if (isRead(route)) expect([200, 404], route.join(" ")).toContain(answer.status);
      else expectRefusal(answer, 403, "PERMISSION_DENIED");
    }
  });

  test("a key's permissions are checked before the body", async () => {
    const weak = apiOf(service.merchantId, service.keys.viewOnly);
    expectRefusal(await weak.post("/invoices", { rawAmount: "x" }), 403, "PERMISSION_DENIED");
    expectRefusal(await weak.postRaw("/invoices", "{"), 403, "PERMISSION_DENIED");
    expectRefusal(await weak.postRaw("/invoices", "x", { "content-type": "text/plain" }), 403, "PERMISSION_DENIED");
  });

  test("a key's permissions are checked only after its merchant", async () => {
    const weak = apiOf(service.other.merchantId, service.keys.noPermissions);
    expectRefusal(await weak.post("/invoices", {}), 403, "MERCHANT_MISMATCH");
  });

  test("a key restricted to other IP addresses is refused on every route", async () => {
    for (const route of ROUTES) {
      const { code } = expectRefusal(await send(service.keys.otherIp, service.merchantId, route), 403);
      expect(code).not.toBe("PERMISSION_DENIED");
    }
  });

  test("the caller's forwarding headers do not help a key restricted to IP addresses", async () => {
    for (const header of ["x-forwarded-for", "x-real-ip", "forwarded", "true-client-ip"]) {
      const headers = { [header]: header === "forwarded" ? "for=203.0.113.7" : "203.0.113.7" };
      const answer = await call(merchantPath(service.merchantId, "/invoices"), { key: service.keys.otherIp, headers });
      expectRefusal(answer, 403);
    }
  });
});

/** The status of a GET with header lines that fetch would join into one. */
function statusWithHeaders(headers: Record<string, string[]>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const url = service.baseUrl + merchantPath(service.merchantId, "/invoices");
    const sent = request(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}
