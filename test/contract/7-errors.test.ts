// Interface 7 and decisions 1: one envelope for every refusal, a request id and security headers on everything, and cross-origin rules.
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  browser,
  call,
  createInvoice,
  expectOk,
  expectRefusal,
  merchantPath,
  service,
  shop,
  unique,
} from "./client.ts";

const key = service.secretKey;
const INVOICES = merchantPath(service.merchantId, "/invoices");
const WALLETS = merchantPath(service.merchantId, "/wallets");
const GOOD = '{"name":"Order","rawAmount":10}';
const postRaw = (raw: string | Uint8Array, headers: Record<string, string> = {}) =>
  shop.postRaw("/invoices", raw, headers);

describe("a refusal", () => {
  test("of an invalid body names every wrong field", async () => {
    const body = { name: "x".repeat(201), rawAmount: "10", redirectUrl: "ftp://x", nonsense: 1 };
    const refusal = expectRefusal(await shop.post("/invoices", body), 400, "VALIDATION_FAILED");
    const named = JSON.stringify(refusal.details);
    for (const field of ["name", "rawAmount", "redirectUrl", "nonsense"]) expect(named).toContain(field);
  });

  test.each(["{", "", "{]", "{'name':1}", '{"name":"a",}', "undefined", GOOD + GOOD, `${GOOD}x`, "\uFEFF{"])(
    "of malformed JSON is 400: %j",
    async (raw) => {
      expectRefusal(await postRaw(raw), 400);
    },
  );

  test("of an unknown path is 404, with or without a key", async () => {
    for (const path of ["/nowhere", "/api", "/api/v1/nowhere", "/api/v2/merchants", `${INVOICES}/x/y/z`]) {
      expectRefusal(await call(path, { key }), 404);
    }
    expectRefusal(await call("/nowhere"), 404);
  });

  test("of an empty id is 404, like that of a malformed one", async () => {
    for (const path of [`${INVOICES}/`, `${WALLETS}/`, `${INVOICES}//payments`]) {
      expectRefusal(await call(path, { key }), 404);
    }
  });

  test("of an unsupported method is 405, with the supported ones in the Allow header", async () => {
    const cases = [
      ["PUT", INVOICES, ["GET", "POST"]],
      ["DELETE", INVOICES, ["GET", "POST"]],
      ["PUT", WALLETS, ["GET", "POST"]],
      ["POST", `${WALLETS}/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV`, ["GET", "PATCH", "DELETE"]],
      ["GET", `${INVOICES}/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV/cancel`, ["POST"]],
    ] as const;
    for (const [method, path, allowed] of cases) {
      const answer = await call(path, { method, key });
      expectRefusal(answer, 405);
      const allow = (answer.headers.get("allow") ?? "").split(/\s*,\s*/);
      expect(allow).toEqual(expect.arrayContaining([...allowed]));
      expect(allow).not.toContain(method);
    }
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "json",
  ])("of the content type %s is 415", async (type) => {
    expectRefusal(await postRaw(GOOD, { "content-type": type }), 415);
  });

  test("of a body without a content type is 415", async () => {
    expect(await send({ headers: {}, chunks: [GOOD] })).toMatchObject({ status: 415 });
  });

  test("of a body over 64 KiB is 413; a body of exactly 64 KiB is accepted", async () => {
    expectOk(await postRaw(GOOD.padEnd(65_536)), 201);
    expectRefusal(await postRaw(GOOD.padEnd(65_537)), 413);
    expectRefusal(await postRaw(JSON.stringify({ name: "x".repeat(2_000_000), rawAmount: 1 })), 413);
  });

  test("of a chunked body over 64 KiB, without a content length, is 413 too", async () => {
    const chunks = [GOOD, ...Array.from({ length: 70 }, () => " ".repeat(1_024))];
    const answer = await send({ headers: { "content-type": "application/json" }, chunks });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text)).toMatchObject({ statusCode: 413, requestId: expect.any(String) });
  });

  test("of a body nested too deeply is 400", async () => {
    for (const depth of [9, 1_000, 10_000]) {
      const nested = `${"[".repeat(depth)}${"]".repeat(depth)}`;
      expectRefusal(await postRaw(nested), 400);
      expectRefusal(await postRaw(`{"name":"Order","rawAmount":10,"metadata":{"a":${nested}}}`), 400);
      expectRefusal(await postRaw(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`), 400);
    }
  });

  test("never repeats a long text from the request", async () => {
    const marker = unique("echo").repeat(50);
    expect((await shop.post("/invoices", { name: marker, rawAmount: 10 })).text.length).toBeLessThan(4_000);
  });

  test("for a reused idempotency key has the documented fields and message", async () => {
    const headers = { "idempotency-key": unique() };
    await shop.post("/invoices", { name: "A", rawAmount: 1 }, headers);
    const answer = await shop.post("/invoices", { name: "B", rawAmount: 1 }, headers);
    expect(answer.body).toMatchObject({
      statusCode: 409,
      message: "Idempotency-Key was previously used with a different request body",
      error: "Conflict",
    });
  });

  test("is never a server error, whatever is sent", async () => {
    const bodies = [
      '{"__proto__":{}}',
      '{"constructor":1}',
      '{"name":{"toString":1},"rawAmount":{}}',
      '[{"name":1}]',
      '"\\ud800"',
    ];
    for (const raw of bodies) expectRefusal(await postRaw(raw), 400);
    const paths = ["%00", "%ff", "..%2f..", "inv_%F0%9F%98%80", "%20", "a".repeat(3_000)];
    for (const path of paths) expectRefusal(await call(`${INVOICES}/${path}`, { key }), 404);
    for (const query of ["limit[]=1", "search=%00", "search=%ff", "cursor=%F0%9F", "status=%27%20OR%201=1--"]) {
      expect((await call(`${INVOICES}?${query}`, { key })).status).toBeLessThan(500);
    }
  });
});

describe("a POST without a body", () => {
  test("needs no content type", async () => {
    const { id } = await createInvoice(shop);
    const path = `${INVOICES}/${id}/cancel`;
    const response = await fetch(service.baseUrl + path, { method: "POST", headers: { "x-api-key": key } });
    expect(response.status).toBe(200);
  });
});

describe("every response", () => {
  const ANSWERS: readonly (readonly [string, () => Promise<Answer<unknown>>])[] = [
    ["200", () => shop.get("/invoices?limit=1")],
    ["201", () => shop.post("/invoices", { name: "Order", rawAmount: 1 })],
    ["400", () => postRaw("{")],
    ["401", () => call(INVOICES)],
    ["403", () => browser.get("/wallets")],
    ["404", () => call("/nowhere")],
    ["405", () => call(INVOICES, { method: "PUT", key })],
    ["413", () => postRaw(" ".repeat(70_000))],
    ["415", () => postRaw(GOOD, { "content-type": "text/plain" })],
    ["200 of the OpenAPI document", () => call("/openapi.json")],
    ["200 of the documentation page", () => call("/docs")],
    ["200 of the health check", () => call("/healthz")],
  ];

  test.each(ANSWERS)("(%s) has its own request id and the security headers", async (status, ask) => {
    const [answer, again] = [await ask(), await ask()];
    expect(answer.status).toBe(Number.parseInt(status, 10));
    const id = answer.headers.get("x-request-id");
    expect(id).toMatch(/^\S{8,}$/);
    expect(again.headers.get("x-request-id")).not.toBe(id);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("referrer-policy")).toMatch(/no-referrer|same-origin|strict-origin/);
    expect(answer.headers.get("content-security-policy")).toMatch(/frame-ancestors 'none'/);
    expect(answer.headers.get("strict-transport-security")).toMatch(/max-age=\d{7,}/);
    expect(answer.headers.get("x-powered-by")).toBeNull();
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test("from the API forbids caching", async () => {
    const { id } = await createInvoice(shop);
    expect((await shop.get(`/invoices/${id}`)).headers.get("cache-control")).toMatch(/no-store|private/);
  });
});

describe("cross-origin requests", () => {
  const origin = "https://shop.example";
  const ask = (path: string, method: string) =>
    call(path, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": method,
        "access-control-request-headers": "x-api-key,content-type,idempotency-key",
      },
    });
  const one = `${INVOICES}/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV`;
  const words = (answer: Answer<unknown>, header: string) =>
    (answer.headers.get(header) ?? "").toLowerCase().split(/\s*,\s*/);

  test.each([
    [INVOICES, "POST"],
    [one, "GET"],
    [`${one}/payment-methods`, "GET"],
    [`${one}/payment-methods`, "POST"],
  ])("the preflight for %s with %s is answered, because a public key may call it", async (path, method) => {
    const answer = await ask(path, method);
    expect([200, 204]).toContain(answer.status);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(words(answer, "access-control-allow-methods")).toContain(method.toLowerCase());
    const allowed = words(answer, "access-control-allow-headers");
    expect(allowed).toEqual(expect.arrayContaining(["x-api-key", "content-type", "idempotency-key"]));
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test.each([
    [WALLETS, "POST"],
    [`${WALLETS}/wal_01ARZ3NDEKTSV4RRFFQ69G5FAV`, "DELETE"],
    [one, "PATCH"],
    [`${one}/cancel`, "POST"],
    [`${one}/payments`, "GET"],
    ["/nowhere", "GET"],
    ["/healthz", "GET"],
  ])("the preflight for %s with %s is not allowed, because no browser may call it", async (path, method) => {
    const answer = await ask(path, method);
    const isAllowed =
      answer.headers.has("access-control-allow-origin") &&
      words(answer, "access-control-allow-methods").includes(method.toLowerCase());
    expect(isAllowed).toBe(false);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test("responses to public keys may be read by any origin, refusals included; other responses may not", async () => {
    const headers = { origin };
    const { id } = await createInvoice(shop);
    const readable = [
      await call(`${INVOICES}/${id}`, { key: service.publicKey, headers }),
      await call(`${INVOICES}/${id}`, { headers }),
      await call(INVOICES, { method: "POST", key: service.publicKey, raw: "{", headers }),
    ];
    expect(readable.map((answer) => answer.status)).toEqual([200, 401, 400]);
    for (const answer of readable) {
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    }
    expect((await call(WALLETS, { key, headers })).headers.get("access-control-allow-origin")).toBeNull();
  });
});

/** A POST of an invoice with node:http, which adds neither a content type nor a length. */
function send(options: {
  headers: Record<string, string>;
  chunks: readonly string[];
}): Promise<{ status?: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { ...options.headers, "x-api-key": key, "transfer-encoding": "chunked" };
    const sent = request(service.baseUrl + INVOICES, { method: "POST", headers }, async (response) => {
      const parts: string[] = [];
      for await (const part of response) parts.push(String(part));
      resolve({ ...(response.statusCode === undefined ? {} : { status: response.statusCode }), text: parts.join("") });
    });
    sent.on("error", reject);
    for (const chunk of options.chunks) sent.write(chunk);
    sent.end();
  });
}
