import { createServer } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fetchText, parseExactJson } from "../../../src/lib/fetch-text.ts";
import { RUNS } from "../../support/property-runs.ts";

const get = (answer: () => Response | Promise<Response>, over: { timeoutMs?: number; limitBytes?: number } = {}) => {
  const fetch = async (_url: string, init: RequestInit) => {
    expect(init.redirect).toBe("manual");
    const aborted = new Promise<never>((_, reject) => {
      init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
    return Promise.race([answer(), aborted]);
  };
  return fetchText({ fetch, url: "https://rates.test/", timeoutMs: 5_000, limitBytes: 1_000, ...over });
};

/** A body that arrives byte by byte, and then ends or hangs. */
const trickle = (text: string, end: "closes" | "stands still") => {
  const bytes = new TextEncoder().encode(text);
  let next = 0;
  return new ReadableStream({
    pull: (controller) => {
      const byte = bytes.slice(next, ++next);
      if (byte.length > 0) controller.enqueue(byte);
      else if (end === "closes") controller.close();
      else return new Promise(() => {});
      return undefined;
    },
  });
};

describe("fetchText", () => {
  it("returns the whole body, even if a character is split between chunks", async () => {
    expect(await get(() => new Response(trickle("päh 🏦", "closes")))).toEqual({ ok: true, value: "päh 🏦" });
    expect(await get(() => new Response(null))).toEqual({ ok: true, value: "" });
  });

  it("accepts a body of exactly the limit, and stops reading a longer one with TOO_LARGE", async () => {
    expect(await get(() => new Response("x".repeat(1_000)))).toMatchObject({ ok: true });
    expect(await get(() => new Response("x".repeat(1_001)))).toMatchObject({ error: { kind: "TOO_LARGE" } });
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(400)) });
    expect(await get(() => new Response(endless))).toMatchObject({ error: { kind: "TOO_LARGE" } });
  });

  it.each([
    [429, "RATE_LIMITED"],
    [418, "RATE_LIMITED"],
    [301, "BAD_STATUS"],
    [302, "BAD_STATUS"],
    [403, "BANNED"],
    [451, "BAD_STATUS"],
    [500, "BAD_STATUS"],
    [503, "UNAVAILABLE"],
    [204, "BAD_STATUS"],
  ])("reports status %i as %s, without following redirects", async (status, kind) => {
    const headers = { location: "https://elsewhere.test/" };
    expect(await get(() => new Response(status === 204 ? null : "{}", { status, headers }))).toEqual({
      ok: false,
      error: { kind, message: `status ${status}`, retryAfterMs: null },
    });
  });

  it("passes on a Retry-After in seconds, and ignores other forms", async () => {
    const limited = (value: string) => get(() => new Response("", { status: 429, headers: { "retry-after": value } }));
    expect(await limited("17")).toMatchObject({ error: { retryAfterMs: 17_000 } });
    expect(await limited("Wed, 21 Oct 2026 07:28:00 GMT")).toMatchObject({ error: { retryAfterMs: null } });
    expect(await limited("-5")).toMatchObject({ error: { retryAfterMs: null } });
  });

  it.each<[number, string, Record<string, string>, string, number | null]>([
    [
      403,
      '{"Success":false,"Error":"The key exceeds the frequency limit(15), and the query server is suspended for 30s","StatusCode":403}',
      {},
      "BANNED",
      30_000,
    ],
    [
      403,
      '{"Error":"request rate exceeded the allowed_rps(10), and the query server is suspended for 5 s"}',
      {},
      "BANNED",
      5_000,
    ],
    [503, '{"Error":"The key exceeds the frequency limit(15)"}', {}, "BANNED", null],
    [503, "", { "retry-after": "120" }, "BANNED", 120_000],
    [403, "suspended for 9s", { "retry-after": "7" }, "BANNED", 7_000],
    [503, "<html>Service Temporarily Unavailable</html>", {}, "UNAVAILABLE", null],
    [429, "suspended for 12s", {}, "RATE_LIMITED", 12_000],
    [403, "suspended for 999999999s", {}, "BANNED", null],
    [403, `${"x".repeat(2_000)} suspended for 30s`, {}, "BANNED", null],
    [500, "suspended for 30s", {}, "BAD_STATUS", null],
  ])(
    "reads status %i with the body %j and the headers %j as %s, for %s ms",
    async (status, body, headers, kind, retryAfterMs) => {
      const answer = await get(() => new Response(body, { status, headers }));
      expect(answer).toMatchObject({ error: { kind, retryAfterMs } });
    },
  );

  it("recognises a ban even if the body of the response hangs or breaks off", async () => {
    const hangs = await get(() => new Response(trickle("suspended for 30s", "stands still"), { status: 403 }), {
      timeoutMs: 50,
    });
    expect(hangs).toMatchObject({ error: { kind: "BANNED" } });
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    expect(await get(() => new Response(broken, { status: 403 }))).toMatchObject({ error: { kind: "BANNED" } });
  });

  it("reports a service that does not respond, or stops in the middle of a response, as TIMEOUT", async () => {
    const silent = await get(() => new Promise<never>(() => {}), { timeoutMs: 1 });
    expect(silent).toMatchObject({ error: { kind: "TIMEOUT" } });
    const stuck = await get(() => new Response(trickle("{", "stands still")), { timeoutMs: 1 });
    expect(stuck).toMatchObject({ error: { kind: "TIMEOUT" } });
  });

  it("reports a connection that fails, at once or during the response, as UNREACHABLE", async () => {
    expect(await get(() => Promise.reject(new TypeError("refused")))).toMatchObject({
      error: { kind: "UNREACHABLE", message: "refused" },
    });
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    expect(await get(() => new Response(broken))).toMatchObject({ error: { kind: "UNREACHABLE", message: "reset" } });
  });
});

describe("fetchText over a real connection", () => {
  it("distinguishes a page, a redirect, silence, half a body, a reset and a closed port", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/page") response.end("<html>");
      if (request.url === "/elsewhere") response.writeHead(302, { location: "/page" }).end();
      if (request.url === "/half") response.writeHead(200, { "content-length": 10 }).write("half");
      if (request.url === "/reset")
        response.writeHead(200, { "content-length": 10 }).write("half", () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const kindOf = async (path: string, timeoutMs = 30_000) => {
      const url = `http://127.0.0.1:${port}${path}`;
      const got = await fetchText({ fetch, url, timeoutMs, limitBytes: 1_000 });
      return got.ok ? got.value : got.error.kind;
    };
    try {
      expect(await kindOf("/page")).toBe("<html>");
      expect(await kindOf("/elsewhere")).toBe("BAD_STATUS");
      expect(await kindOf("/silence", 100)).toBe("TIMEOUT");
      expect(await kindOf("/half", 100)).toBe("TIMEOUT");
      expect(await kindOf("/reset")).toBe("UNREACHABLE");
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    expect(await kindOf("/page")).toBe("UNREACHABLE");
  });
});

describe("parsing JSON with exact numbers", () => {
  it("returns every number as it is written, at any depth", () => {
    expect(
      parseExactJson('{"a":68005.12345678901234567,"b":[1.0,-0,5E-1,{"c":1e400}],"d":"x","e":null,"f":true}'),
    ).toEqual({
      ok: true,
      value: { a: "68005.12345678901234567", b: ["1.0", "-0", "5E-1", { c: "1e400" }], d: "x", e: null, f: true },
    });
  });

  it("keeps every digit of a number of any length", () => {
    const digits = fc.stringMatching(/^(0|[1-9]\d{0,30})(\.\d{1,40})?$/);
    fc.assert(
      fc.property(digits, (text) => {
        expect(parseExactJson(`[${text}]`)).toEqual({ ok: true, value: [text] });
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["<!doctype html><title>Just a moment...</title>", "NOT_JSON"],
    ["upstream connect error", "NOT_JSON"],
    ["", "NOT_JSON"],
    ['{"data":{"rates":{"BTC":"0.00', "TRUNCATED"],
    ['  [{"a":1}', "TRUNCATED"],
  ])("reports %j as %s", (text, kind) => {
    expect(parseExactJson(text)).toMatchObject({ ok: false, error: { kind } });
  });
});
