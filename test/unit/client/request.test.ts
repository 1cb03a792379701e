// The client with a real server on loopback, which fails in every way that a network can fail.
import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { Edgetill, EdgetillConnectionError, EdgetillError, EdgetillTimeoutError } from "../../../client/edgetill.ts";
import {
  API_KEY,
  cut,
  hang,
  json,
  MERCHANT,
  refusal,
  rejection,
  reset,
  type Step,
  scriptedApi,
  stall,
} from "./scripted-api.ts";

const ORDER = { name: "Order", rawAmount: 10 };
const made = json(201, { id: "inv_1" });
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const PASSING: readonly (readonly [string, Step])[] = [
  ...[429, 500, 502, 503, 504].map((status) => [`${status}`, refusal(status, "PASSING")] as const),
  ["a connection that is reset", reset],
  ["a response that is cut off", cut],
  ["a response that is not JSON", (response) => response.writeHead(200).end("<html>")],
  ["a 503 from a proxy", (response) => response.writeHead(503).end("upstream")],
];

describe("a warning that the page sends a secret key", () => {
  it("is written to the console, and the call continues", async () => {
    await using api = await scriptedApi((response) =>
      response.writeHead(201, { "x-warning": "SECRET_KEY_IN_BROWSER", "content-type": "application/json" }).end("{}"),
    );
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    expect(await api.client().invoices.create(ORDER)).toEqual({});
    expect(warned.mock.calls).toEqual([[expect.stringMatching(/secret key \(sk_\).*Rotate it.*EdgetillPublic/)]]);
    expect(JSON.stringify(warned.mock.calls)).not.toContain(API_KEY);
    warned.mockRestore();
  });
});

describe("a transient failure", () => {
  it.each(PASSING)("is retried until the call succeeds: %s", async (_, step) => {
    await using api = await scriptedApi(step, step, made);
    expect(await api.client().invoices.create(ORDER)).toEqual({ id: "inv_1" });
    expect(api.seen).toHaveLength(3);
  });

  it.each(PASSING)("is reported after maxRetries, with the number of attempts: %s", async (_, step) => {
    await using api = await scriptedApi(step);
    const error = await rejection(api.client({ maxRetries: 2 }).invoices.create(ORDER));
    expect(error).toMatchObject({ attempts: 3, route: "POST /invoices" });
    expect(api.seen).toHaveLength(3);
  });

  it.each([
    ["GET", (client: Edgetill) => client.invoices.get("inv_1")],
    ["POST", (client: Edgetill) => client.invoices.cancel("inv_1")],
    ["PATCH", (client: Edgetill) => client.invoices.update("inv_1", { name: "n" })],
    ["DELETE", (client: Edgetill) => client.wallets.delete("wal_1")],
  ])("is retried for %s", async (method, run) => {
    await using api = await scriptedApi(reset, refusal(503, "PASSING"), json(200, { id: "x" }));
    expect(await run(api.client())).toEqual({ id: "x" });
    expect(api.seen.map((each) => each.method)).toEqual([method, method, method]);
    expect(new Set(api.seen.map(({ body, url }) => `${url} ${body}`)).size).toBe(1);
  });

  it("is retried three times by default, and never with maxRetries 0", async () => {
    await using api = await scriptedApi(reset);
    expect(await rejection(api.client().invoices.get("inv_1"))).toMatchObject({ attempts: 4 });
    const none = { maxRetries: 0 };
    expect(await rejection(api.client().invoices.get("inv_1", none))).toMatchObject({ attempts: 1 });
    expect(await rejection(api.client(none).invoices.get("inv_1"))).toMatchObject({ attempts: 1 });
    expect(api.seen).toHaveLength(6);
  });
});

describe("a permanent failure", () => {
  it.each([400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 501, 505])("is not retried: %i", async (status) => {
    await using api = await scriptedApi(refusal(status, "NO", { "retry-after": "0" }), made);
    expect(await rejection(api.client().invoices.create(ORDER))).toMatchObject({ status, code: "NO", attempts: 1 });
    expect(api.seen).toHaveLength(1);
  });

  it("ends the retries after a transient failure", async () => {
    await using api = await scriptedApi(reset, refusal(409, "IDEMPOTENCY_KEY_REUSED"), made);
    expect(await rejection(api.client().invoices.create(ORDER))).toMatchObject({ status: 409, attempts: 2 });
  });

  it("can be a redirect, which is not followed, so that the key never reaches another server", async () => {
    await using elsewhere = await scriptedApi(made);
    const to: Step = (response) => response.writeHead(307, { location: `${elsewhere.origin}/` }).end();
    await using api = await scriptedApi(to);
    expect(await rejection(api.client().invoices.create(ORDER))).toMatchObject({ status: 307, code: "HTTP_307" });
    expect(elsewhere.seen).toEqual([]);
  });
});

describe("the Idempotency-Key", () => {
  const keys = (api: { readonly seen: readonly { readonly headers: NodeJS.Dict<string | string[]> }[] }) =>
    api.seen.map(({ headers }) => headers["idempotency-key"]);

  it("is random for each POST and the same for each of its attempts", async () => {
    await using api = await scriptedApi(reset, refusal(503, "PASSING"), made);
    const client = api.client();
    await client.invoices.create(ORDER);
    await client.invoices.create(ORDER);
    const [first, second, third, other] = keys(api);
    expect(first).toMatch(UUID);
    expect([second, third]).toEqual([first, first]);
    expect(other).toMatch(UUID);
    expect(other).not.toBe(first);
  });

  it("is the caller's own if given", async () => {
    await using api = await scriptedApi(reset, made);
    await api.client().invoices.create(ORDER, { idempotencyKey: "order-1001" });
    expect(keys(api)).toEqual(["order-1001", "order-1001"]);
  });

  it("is included in the error, so that the call can be repeated later", async () => {
    await using api = await scriptedApi(reset);
    const error = await rejection(api.client({ maxRetries: 1 }).invoices.create(ORDER));
    expect(error).toMatchObject({ idempotencyKey: keys(api)[0] });
  });

  it("is on every call except GET", async () => {
    await using api = await scriptedApi(json(200, {}));
    const { invoices, wallets } = api.client();
    await invoices.cancel("inv_1");
    await invoices.get("inv_1");
    await invoices.update("inv_1", { name: "n" });
    await wallets.delete("wal_1", { idempotencyKey: "k" });
    const random = expect.stringMatching(UUID);
    expect(keys(api)).toEqual([random, undefined, random, "k"]);
  });

  it("that is empty is refused, because it would not protect against duplicates", async () => {
    await using api = await scriptedApi(made);
    expect(await rejection(api.client().invoices.create(ORDER, { idempotencyKey: "" }))).toBeInstanceOf(TypeError);
    expect(api.seen).toEqual([]);
  });

  it("is sent as UTF-8, with any characters", async () => {
    for (const idempotencyKey of ["order-1001", "commande-é", "Ã©", "заказ-1", "😀".repeat(255)]) {
      await using api = await scriptedApi(made);
      await api.client().invoices.create(ORDER, { idempotencyKey });
      // Node represents the bytes of a header as Latin-1.
      const [sent] = keys(api);
      expect(Buffer.from(String(sent), "latin1").toString("utf8")).toBe(idempotencyKey);
    }
  });
});

describe("Retry-After", () => {
  it.each([
    ["seconds", (nowMs: number) => ({ value: "1", notBeforeMs: nowMs + 1_000 })],
    [
      "an HTTP date",
      (nowMs: number) => {
        const value = new Date(nowMs + 2_000).toUTCString();
        return { value, notBeforeMs: Date.parse(value) };
      },
    ],
  ])("is respected in the form of %s", async (_, wanted) => {
    let earliestMs = Number.POSITIVE_INFINITY;
    const later: Step = (response, request) => {
      const { value, notBeforeMs } = wanted(Date.now());
      earliestMs = notBeforeMs;
      refusal(429, "RATE_LIMITED", { "retry-after": value })(response, request);
    };
    await using api = await scriptedApi(later, made);
    await api.client().invoices.create(ORDER);
    expect(api.seen).toHaveLength(2);
    // A timer may fire a few milliseconds early.
    expect(api.seen[1]?.atMs).toBeGreaterThanOrEqual(earliestMs - 10);
  });

  it("of more than a minute is not waited for; the caller gets the error", async () => {
    await using api = await scriptedApi(refusal(429, "RATE_LIMITED", { "retry-after": "61" }), made);
    const error = await rejection(api.client().invoices.create(ORDER));
    expect(error).toMatchObject({ status: 429, retryAfterMs: 61_000, attempts: 1 });
  });
});

describe("the timeout", () => {
  it.each([
    ["no response", hang],
    ["a response that never ends", stall],
  ])("applies to each attempt separately: %s", async (_, step) => {
    await using api = await scriptedApi(step, made);
    // On a busy machine the second attempt may fail too.
    expect(await api.client({ timeoutMs: 500, maxRetries: 20 }).invoices.create(ORDER)).toEqual({ id: "inv_1" });
    expect(api.seen.length).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ["no response", hang],
    ["a response that never ends", stall],
  ])("is an EdgetillTimeoutError with its cause: %s", async (_, step) => {
    await using api = await scriptedApi(step);
    const error = await rejection(api.client({ maxRetries: 1 }).invoices.create(ORDER, { timeoutMs: 50 }));
    expect(error).toBeInstanceOf(EdgetillTimeoutError);
    expect(error).toBeInstanceOf(EdgetillConnectionError);
    expect(error).toMatchObject({ name: "EdgetillTimeoutError", attempts: 2, cause: { name: "AbortError" } });
  });
});

describe("an abort by the caller", () => {
  const reason = new Error("the customer left");

  it("before the call prevents the request", async () => {
    await using api = await scriptedApi(made);
    expect(await rejection(api.client().invoices.create(ORDER, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(api.seen).toEqual([]);
  });

  it.each([
    ["while waiting for the response", hang],
    ["while reading the response", stall],
  ])("%s rejects at once, and nothing is sent again", async (_, step) => {
    const controller = new AbortController();
    const leaving: Step = (response, request) => {
      step(response, request);
      controller.abort(reason);
    };
    await using api = await scriptedApi(leaving, made);
    expect(await rejection(api.client().invoices.create(ORDER, { signal: controller.signal }))).toBe(reason);
    expect(api.seen).toHaveLength(1);
  });

  it("while waiting for a retry rejects at once, and nothing is sent again", async () => {
    const controller = new AbortController();
    await using api = await scriptedApi(refusal(429, "RATE_LIMITED", { "retry-after": "30" }), made);
    const call = rejection(api.client().invoices.create(ORDER, { signal: controller.signal }));
    await expect.poll(() => api.seen.length).toBe(1);
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(api.seen).toHaveLength(1);
  });
});

describe("an error", () => {
  it("from the API has its status, code, message, details, facts and request id", async () => {
    const details = [{ path: "rawAmount", message: "must be at least 0" }];
    const envelope = {
      statusCode: 400,
      message: "rawAmount: must be at least 0",
      error: "Bad Request",
      code: "VALIDATION_FAILED",
      requestId: "req_9",
    };
    await using api = await scriptedApi(json(400, { ...envelope, details, permission: "p" }));
    const error = await rejection(api.client().invoices.create(ORDER));
    expect(error).toBeInstanceOf(EdgetillError);
    expect(error).toMatchObject({
      name: "EdgetillError",
      status: 400,
      code: "VALIDATION_FAILED",
      message: envelope.message,
      details,
      requestId: "req_9",
      facts: { permission: "p" },
    });
  });

  it.each([
    ["text", "gateway says no"],
    ["null", "null"],
    ["a list", "[1]"],
    ["members of other types", '{"message":1,"code":[],"details":"d","requestId":{}}'],
    ["an empty body", ""],
  ])("from a proxy has status, route and request id: %s", async (_, body) => {
    await using api = await scriptedApi((response) => response.writeHead(418, { "x-request-id": "req_8" }).end(body));
    expect(await rejection(api.client().invoices.get("inv_1"))).toMatchObject({
      status: 418,
      code: "HTTP_418",
      message: "GET /invoices/{invoiceId} answered 418",
      details: [],
      requestId: "req_8",
    });
  });

  it("from the network has its cause", async () => {
    await using api = await scriptedApi(reset);
    const error = await rejection(api.client({ maxRetries: 0 }).invoices.get("inv_1"));
    expect(error).toBeInstanceOf(EdgetillConnectionError);
    expect(error).not.toBeInstanceOf(EdgetillTimeoutError);
    expect(error).toMatchObject({ name: "EdgetillConnectionError", cause: { name: "TypeError" } });
  });
});

describe("the API key", () => {
  it("is sent as x-api-key, and is not in the URL or the body", async () => {
    await using api = await scriptedApi(made);
    await api.client().invoices.create(ORDER);
    expect(api.seen[0]?.headers["x-api-key"]).toBe(API_KEY);
    expect(JSON.stringify({ ...api.seen[0], headers: undefined })).not.toContain(API_KEY);
  });

  it.each([
    ["a refusal", refusal(401, "UNAUTHORIZED")],
    ["a page that echoes the request", (response, request) => response.writeHead(400).end(inspect(request.headers))],
    ["a refusal that echoes the key", refusal(400, API_KEY)],
    ["a connection that is reset", reset],
    ["a response that hangs", hang],
  ] satisfies [string, Step][])("is not shown by any form of an error or of the client: %s", async (_, step) => {
    await using api = await scriptedApi(step);
    const client = api.client({ maxRetries: 0, timeoutMs: 100 });
    const error = await rejection(client.invoices.create(ORDER));
    for (const shown of [error, client, client.invoices]) {
      const forms = [
        inspect(shown, { depth: 9, showHidden: true }),
        String(shown),
        JSON.stringify(shown),
        Object(shown).stack,
      ];
      expect(forms.filter((form) => form?.includes(API_KEY))).toEqual([]);
    }
  });

  it.each(["", "sk_live_1\n", "sk_live\u00e9", "sk live"])(
    "that cannot be sent in a header is refused without being shown: %j",
    (apiKey) => {
      const make = () => new Edgetill({ baseUrl: "https://pay.example.com", apiKey, merchantId: MERCHANT });
      expect(make).toThrow(new TypeError("apiKey is missing, or is not an API key"));
    },
  );
});
