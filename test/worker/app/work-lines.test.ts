// The log lines about requests, jobs, passes and deliveries: what they contain, what they cost, and that they contain nothing from a caller.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { deploymentWith, seedMerchant, seedShop, sendWith } from "../../support/access.ts";
import { recordNews } from "../../support/endpoints.ts";
import { takeMessage } from "../../support/queue-messages.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import { endpoint } from "../notifications/deliveries-harness.ts";

type Line = Readonly<Record<string, unknown>>;
const lines: Line[] = [];
const texts: string[] = [];
const LOGGED: Partial<Env> = { LOG_SAMPLE: "1" };

beforeEach(() => {
  lines.length = 0;
  texts.length = 0;
  for (const level of ["log", "warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation((text: unknown) => {
      texts.push(String(text));
      if (level === "log") lines.push(JSON.parse(String(text)));
    });
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("the log line of a request", () => {
  it("has the request's id, route, merchant, status and time, and its D1 calls and rows", async () => {
    const { merchantId, secretKey } = await seedShop();
    const invoices = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const ask = deploymentWith(LOGGED);
    const created = await ask(invoices, { key: secretKey, method: "POST", body: { name: "Order", rawAmount: 10 } });
    const listed = await ask(invoices, { key: secretKey });
    const route = "/api/v1/merchants/merchant/:merchantId/invoices";
    const common = { level: "info", work: "request", merchantId, code: null, ms: expect.any(Number) };
    expect(lines).toEqual([
      {
        ...common,
        requestId: created.headers.get("x-request-id"),
        route: `POST ${route}`,
        status: 201,
        d1Calls: 2,
        rowsRead: expect.any(Number),
        rowsWritten: expect.any(Number),
      },
      {
        ...common,
        requestId: listed.headers.get("x-request-id"),
        route: `GET ${route}`,
        status: 200,
        d1Calls: 1,
        rowsRead: expect.any(Number),
        rowsWritten: 0,
      },
    ]);
    expect(lines[0]?.rowsWritten).toBeGreaterThan(10);
    expect(lines[1]?.rowsRead).toBeGreaterThan(0);
  });

  it("has a share of the rows if the request created an invoice in a group, and the shares add up to the rows that D1 wrote", async () => {
    const { merchantId, secretKey } = await seedShop();
    let written = 0;
    const DB = new Proxy(env.DB, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== "batch") return typeof value === "function" ? value.bind(target) : value;
        return async (statements: D1PreparedStatement[]) => {
          const answers = await target.batch(statements);
          for (const { meta } of answers) written += meta.rows_written;
          return answers;
        };
      },
    });
    const ask = deploymentWith({ ...LOGGED, DB });
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const of = { key: secretKey, method: "POST", body: { name: "Order", rawAmount: 10 } };
    // The first request records that the key was used.
    await ask(path, of);
    lines.length = 0;
    written = 0;
    const answers = await Promise.all(Array.from({ length: 9 }, () => ask(path, of)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const sum = lines.reduce((rows, line) => rows + Number(line.rowsWritten), 0);
    expect(lines).toHaveLength(9);
    expect(Math.abs(sum - written)).toBeLessThan(1);
  });

  it("names the code of a refusal, but no unknown path or method", async () => {
    await sendWith(LOGGED, "/api/v1/canary", { method: "PROPFIND" });
    await sendWith(LOGGED, "/api/v1/me");
    await sendWith(LOGGED, "/healthz", { method: "POST" });
    await sendWith(LOGGED, "/api/v1/merchants/merchant/mer_CANARY/invoices");
    expect(lines.map(({ route, status, code, merchantId }) => [route, status, code, merchantId])).toEqual([
      ["OTHER none", 404, "ROUTE_NOT_FOUND", null],
      ["GET /api/v1/me", 401, "UNAUTHORIZED", null],
      ["POST none", 405, "METHOD_NOT_ALLOWED", null],
      ["GET /api/v1/merchants/merchant/:merchantId/invoices", 401, "UNAUTHORIZED", null],
    ]);
  });

  it("is sampled by LOG_SAMPLE, except for our own faults", async () => {
    const settings: Partial<Env> = { LOG_SAMPLE: "0" };
    await sendWith(settings, "/api/v1/me");
    expect(lines).toEqual([]);
    const { merchantId, secretKey } = await seedShop();
    const DB = new Proxy(env.DB, {
      get: (target, name) => {
        if (name === "batch") return async () => Promise.reject(new Error("D1_ERROR: D1 DB is overloaded."));
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    await sendWith({ ...settings, DB }, `/api/v1/merchants/merchant/${merchantId}/invoices`, { key: secretKey });
    expect(lines).toMatchObject([{ level: "error", status: 503, code: "STORAGE_UNAVAILABLE" }]);
    vi.spyOn(Math, "random").mockReturnValueOnce(0.29).mockReturnValueOnce(0.3);
    for (let n = 0; n < 2; n++) await sendWith({ LOG_SAMPLE: "0.3" }, "/api/v1/me");
    expect(lines).toHaveLength(2);
  });
});

describe("a request's content", () => {
  it("is not logged: no path, query, header, body, or key of a real caller", { timeout: 300_000 }, async () => {
    const { merchantId, secretKey, publicKey } = await seedShop();
    const other = await seedMerchant();
    const base = `/api/v1/merchants/merchant/${merchantId}`;
    const paths = [
      `${base}/invoices`,
      `${base}/customers`,
      `${base}/invoices/inv_#`,
      `${base}/search`,
      `${base}/#`,
      "/#",
      `/api/v1/merchants/merchant/mer_#/wallets`,
      `/api/v1/merchants/merchant/${other}/wallets`,
      "/pay/#",
      "/i/#",
      "/invoice?id=#&view=modal",
      "/api/v1/auth/email/start",
      "/images/#/#",
      "/buy/#",
      "/metrics",
      "/healthz/#",
      "/api/v1/operator/status",
    ];
    const canaries = fc.array(fc.constantFrom(..."abcdefghjkmnpqrstvwxyz0123456789"), { minLength: 12, maxLength: 20 });
    const asks = fc.record({
      canary: canaries.map((letters) => `zq${letters.join("")}`),
      path: fc.constantFrom(...paths),
      method: fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT", "PROPFIND"),
      key: fc.constantFrom(undefined, secretKey, publicKey, `sk_#`),
      isBroken: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(asks, async ({ canary, path, method, key, isBroken }) => {
        texts.length = 0;
        const put = (text: string) => text.replaceAll("#", canary);
        const body = { name: canary, [canary]: canary, email: `${canary}@example.com`, rawAmount: 10, q: canary };
        const headers = {
          authorization: `Bearer ${canary}`,
          cookie: `session=${canary}; ${canary}=1`,
          [`x-${canary}`]: canary,
          "user-agent": canary,
          "idempotency-key": canary,
          origin: `https://${canary}.example`,
          referer: canary,
          "cf-connecting-ip": "203.0.113.99",
          "accept-language": canary,
        };
        const DB = isBroken ? { DB: brokenOnce() } : {};
        await sendWith({ ...LOGGED, ...DB }, `${put(path)}?q=${canary}&${canary}=1&cursor=${canary}`, {
          method: method,
          key: key && put(key),
          headers,
          ...(method === "GET" || method === "PROPFIND" ? {} : { body }),
        });
        expect(texts.filter((text) => /"work":"request"/.test(text))).toHaveLength(1);
        for (const text of texts) {
          expect(text.toLowerCase()).not.toContain(canary);
          for (const secret of [secretKey, publicKey, "203.0.113.99"]) expect(text).not.toContain(secret);
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** A database whose first batch fails with a message that contains a value, as drizzle's messages do. */
function brokenOnce(): D1Database {
  let isBroken = true;
  return new Proxy(env.DB, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === "batch" && isBroken) {
        isBroken = false;
        return async () => Promise.reject(new Error("D1_ERROR: no such column: SQLITE_ERROR"));
      }
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

describe("other work has a log line too:", () => {
  const cost = { d1Calls: expect.any(Number), rowsRead: expect.any(Number), rowsWritten: expect.any(Number) };

  it("a job", async () => {
    await takeMessage({ job: "price", minuteMs: Date.now(), runs: 0 }, LOGGED);
    expect(lines).toEqual([
      { level: "info", work: "job", job: "price", runs: 0, left: "nothing", ms: expect.any(Number), ...cost },
    ]);
    // At least three calls: taking the lease, the work, and ending the lease.
    expect(lines[0]?.d1Calls).toBeGreaterThanOrEqual(3);
    expect(lines[0]?.rowsWritten).toBeGreaterThan(0);
  });

  it("a round of deliveries", async () => {
    const shop = await freshMerchant();
    const { id: webhookId } = await endpoint("ok", { merchantId: shop.merchantId });
    // This event wakes no endpoint, so that the round below delivers it.
    await recordNews(testDb, shop.merchantId);
    lines.length = 0;
    await takeMessage({ webhookId }, LOGGED);
    const { merchantId } = shop;
    expect(lines[0]).toEqual({
      level: "info",
      work: "deliveries",
      webhookId,
      merchantId,
      posted: 1,
      failed: 0,
      untried: 0,
      ms: expect.any(Number),
      ...cost,
    });
    expect(lines[0]?.rowsWritten).toBeGreaterThan(0);
  });

  it("a pass", async () => {
    const stub = env.NETWORK_WATCHER.getByName("LTC");
    await runInDurableObject(stub, (_, state) => new NetworkWatcher(state, { ...env, ...LOGGED }).runNow());
    expect(lines).toEqual([
      { level: "info", work: "pass", network: "LTC", outcome: "resting", ms: expect.any(Number), ...cost, d1Calls: 1 },
    ]);
  });
});
