import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RateWindow, rateLimitHeaders, WINDOW_SECONDS } from "../../../src/platform/http/rate-limit.ts";
import { expectRefusal, type Shop, seedKey, seedShop, send, sendWith } from "../../support/access.ts";

const WINDOW_MS = 60_000;
const T0 = Date.UTC(2026, 10, 21);
const invoicesOf = ({ merchantId }: Pick<Shop, "merchantId">) => `/api/v1/merchants/merchant/${merchantId}/invoices`;
const perMinute = (limit: string): Partial<Env> => ({ RATE_LIMIT_PER_MINUTE: limit }) as Partial<Env>;

describe("a caller's window", () => {
  it("lets exactly the limit through, and then says when to retry", () => {
    const window = new RateWindow();
    const verdicts = [0, 1, 999, 1_000].map((ms) => window.take(3, T0 + ms));
    expect(verdicts).toEqual([
      { isAllowed: true, remaining: 2, resetSeconds: 60 },
      { isAllowed: true, remaining: 1, resetSeconds: 60 },
      { isAllowed: true, remaining: 0, resetSeconds: 60 },
      { isAllowed: false, remaining: 0, resetSeconds: 59 },
    ]);
  });

  it("ends after exactly 60 s", () => {
    expect(WINDOW_SECONDS).toBe(60);
    const window = new RateWindow();
    window.take(1, T0);
    expect(window.take(1, T0 + WINDOW_MS - 1)).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 1 });
    expect(window.take(1, T0 + WINDOW_MS)).toEqual({ isAllowed: true, remaining: 0, resetSeconds: 60 });
  });

  it("is not extended by requests while it is closed", () => {
    const window = new RateWindow();
    for (let ms = 0; ms < WINDOW_MS; ms += 100) window.take(1, T0 + ms);
    expect(window.take(1, T0 + WINDOW_MS).isAllowed).toBe(true);
  });

  it("starts again when the clock goes back, so that a caller is never locked out for longer than two windows", () => {
    const window = new RateWindow();
    window.take(1, T0 + 10 * WINDOW_MS);
    expect(window.take(1, T0)).toEqual({ isAllowed: true, remaining: 0, resetSeconds: 60 });
  });

  it("follows a limit that changes during the window", () => {
    const window = new RateWindow();
    for (let i = 0; i < 5; i++) window.take(10, T0);
    expect(window.take(3, T0)).toMatchObject({ isAllowed: false, remaining: 0 });
    expect(window.take(10, T0)).toMatchObject({ isAllowed: true, remaining: 4 });
  });

  it("lets at most twice the limit through in any 60 s, and at least the limit from the window's start", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.nat(5_000), { maxLength: 200 }), (limit, gaps) => {
        const window = new RateWindow();
        let nowMs = T0;
        const allowed: number[] = [];
        for (const gap of gaps) {
          nowMs += gap;
          const verdict = window.take(limit, nowMs);
          if (verdict.isAllowed) allowed.push(nowMs);
          expect(verdict.resetSeconds).toBeGreaterThanOrEqual(1);
          expect(verdict.resetSeconds).toBeLessThanOrEqual(60);
          expect(verdict.remaining).toBeLessThan(limit);
        }
        const most = Math.max(
          0,
          ...allowed.map((from) => allowed.filter((at) => at >= from && at < from + WINDOW_MS).length),
        );
        expect(most).toBeLessThanOrEqual(2 * limit);
        expect(allowed.length).toBeGreaterThanOrEqual(Math.min(limit, gaps.length));
      }),
      { numRuns: 300 },
    );
  });

  it("lets no more through if requests arrive out of order, because of other clocks or a slow body", () => {
    const requests = fc.array(fc.integer({ min: -30_000, max: 200 }), { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), requests, (limit, beganMs) => {
        const window = new RateWindow();
        const verdicts = beganMs.map((ms) => window.take(limit, T0 + ms));
        expect(verdicts.filter(({ isAllowed }) => isAllowed)).toHaveLength(Math.min(limit, beganMs.length));
        for (const { resetSeconds } of verdicts) expect(resetSeconds).toBeLessThanOrEqual(60);
      }),
      { numRuns: 300 },
    );
  });

  it("is reported in the headers of the IETF HTTPAPI draft", () => {
    expect(rateLimitHeaders(300, { isAllowed: true, remaining: 299, resetSeconds: 60 })).toEqual({
      "ratelimit-policy": '"default";q=300;w=60',
      ratelimit: '"default";r=299;t=60',
    });
  });
});

describe("a key's limit", () => {
  it("is counted down in every response, and requests past it get 429 with Retry-After", async () => {
    const shop = await seedShop();
    const path = invoicesOf(shop);
    const ask = { key: shop.secretKey };
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await sendWith(perMinute("3"), path, ask));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    for (const [at, { headers }] of answers.entries()) {
      expect(headers.get("ratelimit-policy")).toBe('"default";q=3;w=60');
      expect(headers.get("ratelimit")).toMatch(new RegExp(`^"default";r=${Math.max(0, 2 - at)};t=(60|5\\d)$`));
    }
    const last = answers[3];
    if (last === undefined) throw new Error("no answer");
    expectRefusal(last, 429, "RATE_LIMITED");
    const wait = Number(last.headers.get("retry-after"));
    expect(wait).toBeGreaterThanOrEqual(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(last.headers.get("ratelimit")).toContain(`t=${wait}`);
  });

  it("is checked before validation and after permissions", async () => {
    const shop = await seedShop();
    const path = invoicesOf(shop);
    const limited = perMinute("1");
    await sendWith(limited, path, { key: shop.secretKey });
    expectRefusal(
      await sendWith(limited, path, { key: shop.secretKey, method: "POST", body: "{" }),
      429,
      "RATE_LIMITED",
    );
    const poor = await seedKey(shop.merchantId, { permissions: [] });
    for (let i = 0; i < 3; i++) {
      expectRefusal(await sendWith(limited, path, { key: poor }), 403, "PERMISSION_DENIED");
    }
  });

  it("belongs to that key: another key of the merchant, or another merchant, is not limited by it", async () => {
    const [shop, other] = [await seedShop(), await seedShop()];
    const second = await seedKey(shop.merchantId);
    const limited = perMinute("1");
    const ask = (of: Shop, key: string) => sendWith(limited, invoicesOf(of), { key });
    expect((await ask(shop, shop.secretKey)).status).toBe(200);
    expect((await ask(shop, shop.secretKey)).status).toBe(429);
    expect((await ask(shop, second)).status).toBe(200);
    expect((await ask(other, other.secretKey)).status).toBe(200);
  });

  it("holds for concurrent callers: exactly 10 of 40 get through", async () => {
    const shop = await seedShop();
    const asked = Array.from({ length: 40 }, () =>
      sendWith(perMinute("10"), invoicesOf(shop), { key: shop.secretKey }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  });

  it("is off if it is 0: requests are not refused and get no rate limit headers", async () => {
    const shop = await seedShop();
    for (let i = 0; i < 5; i++) {
      const answer = await sendWith(perMinute("0"), invoicesOf(shop), { key: shop.secretKey });
      expect(answer.status).toBe(200);
      expect([...answer.headers.keys()].filter((name) => /^(ratelimit|retry-after)/.test(name))).toEqual([]);
    }
  });

  it("is 300 a minute as the Worker is deployed", async () => {
    const shop = await seedShop();
    const answer = await send(invoicesOf(shop), { key: shop.secretKey });
    expect(answer.headers.get("ratelimit-policy")).toBe('"default";q=300;w=60');
  });

  it.each(["", "many", "-1", "1.5", "1e3"])(
    "is 300 when it is set to %j, which is not a number of requests",
    async (limit) => {
      const shop = await seedShop();
      const answer = await sendWith(perMinute(limit), invoicesOf(shop), { key: shop.secretKey });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("ratelimit-policy")).toBe('"default";q=300;w=60');
    },
  );

  it("is 30 for a public key from one address, and does not affect other addresses", async () => {
    const shop = await seedShop();
    const path = `${invoicesOf(shop)}/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV`;
    const from = (ip: string) => send(path, { key: shop.publicKey, headers: { "cf-connecting-ip": ip } });
    for (let i = 0; i < 30; i++) expect((await from("198.51.100.1")).status).toBe(404);
    const last = await from("198.51.100.1");
    expectRefusal(last, 429, "RATE_LIMITED");
    expect(last.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect((await from("198.51.100.2")).status).toBe(404);
    const secret = { key: shop.secretKey, headers: { "cf-connecting-ip": "198.51.100.1" } };
    expect((await send(path, secret)).status).toBe(404);
  });

  it("counts IPv6 callers by their /64, however many addresses they send from", async () => {
    const shop = await seedShop();
    const path = `${invoicesOf(shop)}/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV`;
    const prefix = `2001:db8:${(crypto.getRandomValues(new Uint16Array(1))[0] ?? 0).toString(16)}`;
    const at = (i: number, network = 1) => ({ "cf-connecting-ip": `${prefix}:${network}::${i.toString(16)}` });
    const browse = (headers: Readonly<Record<string, string>>) => send(path, { key: shop.publicKey, headers });
    for (let i = 1; i <= 30; i++) expect((await browse(at(i))).status).toBe(404);
    expectRefusal(await browse(at(31)), 429, "RATE_LIMITED");
    expect((await browse(at(31, 2))).status).toBe(404);
    const begin = (headers: Readonly<Record<string, string>>) =>
      sendWith(perMinute("3"), "/api/v1/auth/passkey/options", { method: "POST", headers });
    for (let i = 1; i <= 3; i++) expect((await begin(at(i))).status).toBe(200);
    expectRefusal(await begin(at(4)), 429, "RATE_LIMITED");
    expect((await begin(at(4, 2))).status).toBe(200);
  });

  it("is not used up by requests that one address sends beyond its own limit", async () => {
    const shop = await seedShop();
    const path = `${invoicesOf(shop)}/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV`;
    const from = (ip: string) =>
      sendWith(perMinute("40"), path, { key: shop.publicKey, headers: { "cf-connecting-ip": ip } });
    const flood = [];
    for (let i = 0; i < 60; i++) flood.push((await from("198.51.100.7")).status);
    expect(flood).toEqual([...new Array(30).fill(404), ...new Array(30).fill(429)]);
    expect((await from("198.51.100.8")).status).toBe(404);
  });

  it("counts a /48 as at most four callers: its fifth network has to wait, and another /48 does not", async () => {
    const shop = await seedShop();
    const path = `${invoicesOf(shop)}/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV`;
    const site = `2001:db8:${(crypto.getRandomValues(new Uint16Array(1))[0] ?? 0).toString(16)}`;
    const browse = (network: number, of = site) =>
      send(path, { key: shop.publicKey, headers: { "cf-connecting-ip": `${of}:${network}::1` } });
    for (let network = 1; network <= 8; network++)
      for (let i = 0; i < 15; i++) expect((await browse(network)).status).toBe(404);
    expectRefusal(await browse(9), 429, "RATE_LIMITED");
    expect((await browse(9, site.replace("db8", "db9"))).status).toBe(404);
    const begin = (network: number) =>
      sendWith(perMinute("2"), "/api/v1/auth/passkey/options", {
        method: "POST",
        headers: { "cf-connecting-ip": `${site}:${network}::1` },
      });
    for (let network = 1; network <= 8; network++) expect((await begin(network)).status).toBe(200);
    expectRefusal(await begin(9), 429, "RATE_LIMITED");
  });

  it("lets everyone through if the limiter fails", async () => {
    const shop = await seedShop();
    const RATE_LIMITER = new Proxy(env.RATE_LIMITER, {
      get: () => () => {
        throw new Error("overloaded");
      },
    });
    const answer = await sendWith({ RATE_LIMITER }, invoicesOf(shop), { key: shop.secretKey });
    expect([answer.status, answer.headers.get("ratelimit")]).toEqual([200, null]);
  });
});
