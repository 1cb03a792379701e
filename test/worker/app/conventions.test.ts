import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { expectHeaders, expectRefusal, seedShop, send, sendWith } from "../../support/access.ts";
import { ONCE_ONLY, takesKey, WITHOUT_KEY } from "../../support/access-table.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const BASE = `/api/v1/merchants/merchant/mer_${ULID}`;

afterEach(() => {
  vi.restoreAllMocks();
});

describe("an unknown path", () => {
  it.each([
    "/api",
    "/api/v1",
    "/api/v2/merchants/merchant/x/invoices",
    `${BASE}/invoice`,
    `${BASE}/invoices/inv_${ULID}/payments/pay_1`,
    `${BASE}/invoices/`,
    "/api/v1/merchants/merchant//invoices",
    `${BASE}//invoices`,
    "/healthz/",
    "/.env",
    "/favicon.ico",
  ])("%s is 404, with any method", async (path) => {
    for (const method of ["GET", "POST", "DELETE", "OPTIONS", "PUT"]) {
      expectRefusal(await send(path, { method }), 404, "ROUTE_NOT_FOUND");
    }
  });

  it("does not appear in the response", async () => {
    const answer = await send("/<script>alert(1)</script>?key=sk_secret");
    expect(answer.text).not.toMatch(/script|sk_secret/);
  });
});

describe("an unsupported method", () => {
  it.each([
    ["PUT", `${BASE}/invoices`, "POST, GET"],
    ["DELETE", `${BASE}/invoices`, "POST, GET"],
    ["PATCH", `${BASE}/wallets`, "POST, GET"],
    ["POST", `${BASE}/wallets/wal_${ULID}`, "GET, PATCH, DELETE"],
    ["DELETE", `${BASE}/invoices/inv_${ULID}`, "GET, PATCH"],
    ["GET", `${BASE}/invoices/inv_${ULID}/cancel`, "POST"],
    ["POST", `${BASE}/invoices/inv_${ULID}/payments`, "GET"],
    ["POST", "/healthz", "GET"],
    ["DELETE", "/openapi.json", "GET"],
    ["PUT", "/docs", "GET"],
  ])("%s %s is 405 with an Allow header", async (method, path, allow) => {
    const answer = await send(path, { method });
    expectRefusal(answer, 405, "METHOD_NOT_ALLOWED");
    expect(answer.headers.get("allow")?.split(", ").sort()).toEqual(allow.split(", ").sort());
  });
});

describe("a preflight", () => {
  const headers = {
    origin: "https://shop.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-api-key,content-type,idempotency-key",
  };
  const preflight = (path: string) => send(path, { method: "OPTIONS", headers });

  it.each([
    [`${BASE}/invoices`, ["POST"], ["cf-turnstile-response"]],
    [`${BASE}/invoices/inv_${ULID}`, ["GET"], []],
    [`${BASE}/invoices/inv_${ULID}/payment-methods`, ["GET", "POST"], []],
  ])("for %s is answered, with the methods that a public key may use", async (path, methods, more) => {
    const answer = await preflight(path);
    expectHeaders(answer);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-allow-methods")?.split(", ").sort()).toEqual(methods);
    expect(answer.headers.get("access-control-allow-headers")?.toLowerCase().split(", ").sort()).toEqual([
      ...more,
      "content-type",
      "idempotency-key",
      "x-api-key",
    ]);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });

  it.each([
    `${BASE}/wallets`,
    `${BASE}/wallets/wal_${ULID}`,
    `${BASE}/wallets/wal_${ULID}/recovery`,
    `${BASE}/invoices/inv_${ULID}/cancel`,
    `${BASE}/invoices/inv_${ULID}/payments`,
    "/healthz",
    "/openapi.json",
    "/docs",
  ])("for %s is refused", async (path) => {
    const answer = await preflight(path);
    expectRefusal(answer, 405, "METHOD_NOT_ALLOWED");
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });
});

describe("every response", () => {
  it("has its own request id and the security headers, whatever the outcome", async () => {
    const { merchantId, secretKey } = await seedShop();
    const invoices = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const answers = [
      await send("/healthz"),
      await send("/docs"),
      await send("/openapi.json"),
      await send("/nothing"),
      await send(invoices),
      await send(invoices, { key: secretKey }),
      await send(invoices, { key: secretKey, method: "POST", body: { name: "a", rawAmount: 1 } }),
      await send(invoices, { key: secretKey, method: "POST", body: "{" }),
      await send(`${invoices}/inv_${ULID}`, { key: secretKey }),
      await send(invoices, { method: "OPTIONS" }),
      await send(invoices, { method: "PUT" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 401, 200, 201, 400, 404, 204, 405]);
    for (const answer of answers) expectHeaders(answer);
    expect(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size).toBe(answers.length);
  });

  it("does not take its request id from the caller", async () => {
    const answer = await send("/nothing", { headers: { "x-request-id": "req_mine" } });
    expect(answer.headers.get("x-request-id")).not.toBe("req_mine");
  });

  it("may not be cached, and pages have their own content security policy", async () => {
    expect((await send("/nothing")).headers.get("cache-control")).toBe("no-store");
    const docs = await send("/docs");
    const policy = docs.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|http|\*/);
    // The page loads scripts and styles only from our own files.
    expect(docs.text).not.toMatch(/<style|<script(?![^>]* src="\/assets\/[\w.-]+")|\bon\w+=|@import|url\(|\/\//i);
  });
});

describe("a bug or an outage", () => {
  const canary = "canary_of_a_secret";

  it("in the database gives a plain 500 with a request id, and the log contains no value from the request", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const { merchantId, secretKey } = await seedShop();
    const DB = new Proxy(env.DB, {
      get: (target, name) => {
        if (name === "batch") return async () => Promise.reject(new Error(`Failed query: insert params: ${canary}`));
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const answer = await sendWith({ DB }, `/api/v1/merchants/merchant/${merchantId}/invoices`, { key: secretKey });
    const refusal = expectRefusal(answer, 500, "INTERNAL_ERROR");
    expect(Object.keys(refusal)).toHaveLength(4);
    expect(answer.text).not.toContain(canary);
    const lines = log.mock.calls.map((call) => call.join(" "));
    expect(lines.filter((line) => line.includes(String(answer.headers.get("x-request-id"))))).toHaveLength(1);
    expect(lines.join()).not.toContain(canary);
    expect(lines.join()).not.toContain(secretKey);
  });

  it("in the connection to the database gives a 503 that may be retried", async () => {
    const { merchantId, secretKey } = await seedShop();
    const DB = new Proxy(env.DB, {
      get: (target, name) => {
        if (name === "batch")
          return async () => Promise.reject(new Error("D1_ERROR: D1 DB is overloaded. Too many requests queued."));
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const answer = await sendWith({ DB }, `/api/v1/merchants/merchant/${merchantId}/invoices`, { key: secretKey });
    expectRefusal(answer, 503, "STORAGE_UNAVAILABLE");
    expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  });

  it("that makes the database unavailable is shown in /healthz", async () => {
    const healthy = await send("/healthz");
    expect([healthy.status, healthy.json]).toMatchObject([200, { status: "ok", database: "ok" }]);
    const DB = new Proxy(env.DB, {
      get: () => () => ({ first: async () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) }),
    });
    const broken = await sendWith({ DB }, "/healthz");
    expectHeaders(broken);
    expect([broken.status, broken.json]).toMatchObject([503, { status: "degraded", database: "unavailable" }]);
  });
});

describe("a request", () => {
  it("with a repeated header has one joined value, so a repeated key is invalid", async () => {
    const { merchantId, secretKey } = await seedShop();
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const twice = await send(path, { headers: { "x-api-key": `${secretKey}, ${secretKey}` } });
    expectRefusal(twice, 401, "UNAUTHORIZED");
  });

  it("with a malformed id in its path gets the same 404 as one with an unknown id", async () => {
    const { merchantId, secretKey } = await seedShop();
    const base = `/api/v1/merchants/merchant/${merchantId}`;
    for (const [kind, code] of [
      ["invoices", "INVOICE_NOT_FOUND"],
      ["wallets", "WALLET_NOT_FOUND"],
    ] as const) {
      const prefix = kind === "invoices" ? "inv" : "wal";
      const unknown = expectRefusal(await send(`${base}/${kind}/${prefix}_${ULID}`, { key: secretKey }), 404, code);
      for (const id of [
        "x",
        `${prefix}_1`,
        `${prefix}_${ULID.toLowerCase()}`,
        "%00",
        "%F0%9F%98%80",
        `%27%20OR%201%3D1`,
        "a".repeat(2_000),
      ]) {
        expect(expectRefusal(await send(`${base}/${kind}/${id}`, { key: secretKey }), 404, code)).toEqual(unknown);
      }
    }
  });

  it("with an invalid filter is refused, and the refusal names the parameter", async () => {
    const { merchantId, secretKey } = await seedShop();
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    for (const [query, field] of [
      ["limit=0", "limit"],
      ["page=1001", "page"],
      ["status=OPEN", "status"],
      ["cursor=abc", "cursor"],
      ["createdFrom=x", "createdFrom"],
    ] as const) {
      const refusal = expectRefusal(await send(`${path}?${query}`, { key: secretKey }), 400, "VALIDATION_FAILED");
      expect(refusal.details).toMatchObject([{ path: field }]);
    }
  });
});

describe("the rate limit for each IP address", () => {
  const shield = (isOpen: boolean, asked: string[]) => ({
    limit: async ({ key }: { key: string }) => {
      asked.push(key);
      return { success: isOpen };
    },
  });
  const production = { ENVIRONMENT: "production" } as Partial<Env>;

  it("counts by IP address, and an IPv6 caller by its /64, in production only", async () => {
    const asked: string[] = [];
    const changes = { ...production, IP_SHIELD: shield(true, asked) };
    for (const ip of ["198.51.100.7", "2001:db8:1:2::7", "2001:db8:1:2:ffff::1"]) {
      expect((await sendWith(changes, "/nothing", { headers: { "cf-connecting-ip": ip } })).status).toBe(404);
    }
    expect((await sendWith(changes, "/nothing")).status).toBe(404);
    expect(
      (
        await sendWith({ IP_SHIELD: shield(false, asked) }, "/nothing", {
          headers: { "cf-connecting-ip": "198.51.100.7" },
        })
      ).status,
    ).toBe(404);
    expect(asked[0]).toBe("198.51.100.7");
    expect(asked).toHaveLength(3);
    expect(asked[1]).toBe(asked[2]);
  });

  it("counts two /64 networks separately, however they are written", async () => {
    const asked: string[] = [];
    const changes = { ...production, IP_SHIELD: shield(true, asked) };
    for (const ip of ["2001:db8:1:2::7", "2001:db8:1:3::7", "2001:db8::7", "2001:db8::8", "2001:db8:0:0::9"]) {
      await sendWith(changes, "/nothing", { headers: { "cf-connecting-ip": ip } });
    }
    expect(asked[0]).not.toBe(asked[1]);
    expect(new Set(asked.slice(2)).size).toBe(1);
  });

  it("refuses with 429 before the database is read", async () => {
    const DB = new Proxy(env.DB, {
      get: () => {
        throw new Error("the database was asked");
      },
    });
    const changes = { ...production, DB, IP_SHIELD: shield(false, []) };
    const answer = await sendWith(changes, `${BASE}/invoices`, { headers: { "cf-connecting-ip": "198.51.100.7" } });
    expectRefusal(answer, 429, "RATE_LIMITED");
    expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  });
});

describe("the catalogue of routes", () => {
  it("has one entry for each method and path, and unique operation ids", () => {
    expect(new Set(SPECS.map(({ method, path }) => `${method} ${path}`)).size).toBe(SPECS.length);
    expect(new Set(SPECS.map(({ operationId }) => operationId)).size).toBe(SPECS.length);
  });

  it("accepts an Idempotency-Key on every write except those on a fixed list", () => {
    const keyed = SPECS.filter(({ isIdempotent }) => isIdempotent).map(({ operationId }) => operationId);
    expect(keyed).toEqual(SPECS.filter(takesKey).map(({ operationId }) => operationId));
    const changing = SPECS.filter(({ method }) => method !== "GET").map(({ operationId }) => operationId);
    expect(WITHOUT_KEY.filter((each) => !changing.includes(each))).toEqual([]);
    expect(ONCE_ONLY.filter((each) => !WITHOUT_KEY.includes(each))).toEqual([]);
  });
});
