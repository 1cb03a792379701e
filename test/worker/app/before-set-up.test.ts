// Before a set-up link is redeemed, strangers can reach only the set-up and /healthz. Every route in the access table is called, in a production
// Worker.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, test } from "vitest";
import { GREENFIELD_SPECS, SPECS } from "../../../src/app/app.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { type Ask, expectHeaders, expectRefusal, seedShop } from "../../support/access.ts";
import { nameOf, pathOf } from "../../support/access-attempt.ts";
import { BEFORE_SET_UP } from "../../support/access-table.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { seedUser } from "../../support/people.ts";
import { doSetUp, FRESH, ownDatabase, production, storedRows, undoSetUp } from "../../support/production.ts";

const db = openDb(env.DB);
const accept = "text/html,application/xhtml+xml";
const NOT_SET_UP = "not-set-up";
const wordsIn = (text: string) => text.match(/<meta name="deployment" content="([^"]*)"/)?.[1];

beforeEach(undoSetUp);

/** Callers of every kind: without credentials, with a secret or public key, with an operator's session, from another site, with an IP address. */
async function callers(): Promise<readonly Ask[]> {
  const { secretKey, publicKey } = await seedShop();
  const { headers } = await seedUser({ operatorSinceMs: Date.now() });
  const cookie = `__Host-${headers.cookie}; ${headers.cookie}`;
  return [
    {},
    { key: secretKey },
    { key: publicKey },
    { headers: { ...headers, cookie } },
    { headers: { accept: "application/json", origin: "https://shop.example" } },
    { headers: { "cf-connecting-ip": "203.0.113.7" } },
  ];
}

const ALL = [...SPECS, ...GREENFIELD_SPECS];

describe("before a set-up link is redeemed", () => {
  test.each([
    ["without a PUBLIC_URL", {}],
    ["with a PUBLIC_URL", { PUBLIC_URL: "https://pay.example" }],
    ["with an invalid SIGN_UP", { SIGN_UP: "Open" }],
    ["with SIGN_UP=first and existing users (who may be strangers)", { SIGN_UP: "" }],
  ])("production %s refuses every route except the set-up and /healthz, and writes nothing", async (_, changes) => {
    const asks = await callers();
    const { bindings, calls } = countingEnv({ ...FRESH, ...changes });
    const send = production(bindings);
    const before = await storedRows();
    for (const spec of ALL) {
      const body = spec.method === "GET" ? {} : { body: { token: "guessed" } };
      for (const ask of asks) {
        const answer = await send(pathOf(spec), { method: spec.method, ...body, ...ask });
        if (BEFORE_SET_UP.includes(nameOf(spec))) expect(answer.json?.code).not.toBe("NOT_SET_UP");
        else expectRefusal(answer, 503, "NOT_SET_UP");
      }
    }
    expect(await storedRows()).toEqual(before);
    // The only object that was called is the rate limiter, by the set-up routes.
    expect(new Set(calls.filter((call) => !call.startsWith("RATE_LIMITER")))).toEqual(new Set(["D1 read"]));
  });

  test("a browser gets a page about the missing set-up, at any URL, with the status of the refusal", async () => {
    const send = production();
    for (const spec of ALL.filter(({ method }) => method === "GET")) {
      const answer = await send(pathOf(spec), { headers: { accept } });
      expectHeaders(answer);
      if (BEFORE_SET_UP.includes(nameOf(spec))) continue;
      expect([answer.status, wordsIn(answer.text)]).toEqual([503, NOT_SET_UP]);
    }
    const unknown = await send("/wp-login.php", { headers: { accept } });
    expect([unknown.status, wordsIn(unknown.text)]).toEqual([503, NOT_SET_UP]);
    expectRefusal(await send("/wp-login.php"), 503, "NOT_SET_UP");
  });

  test("no preflight is answered, and the Worker's own files are not served", async () => {
    const send = production();
    for (const path of ["/api/v1/checkout/inv_1", "/console/page.html", "/reference/page.html", "/openapi.json"])
      expectRefusal(await send(path, { method: path.startsWith("/api") ? "OPTIONS" : "GET" }), 503, "NOT_SET_UP");
  });

  test("the set-up page is served, and loads nothing but static files", async () => {
    const send = production();
    const page = await send("/setup", { headers: { accept } });
    expect([page.status, wordsIn(page.text)]).toEqual([200, ""]);
    const files = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(files.length).toBeGreaterThan(1);
    for (const path of files) {
      expect(path).toMatch(/^\/assets\//);
      expect((await env.ASSETS.fetch(`https://assets.local${path}`)).status).toBe(200);
    }
  });

  test("the set-up routes refuse any guessed token in the same way, and a missing token as an invalid request", async () => {
    const send = production();
    const body = { token: "guessed", email: "ann@example.com", name: "Ann" };
    expectRefusal(await send("/api/v1/setup/options", { method: "POST", body }), 404, "SETUP_LINK_INVALID");
    expectRefusal(await send("/api/v1/setup", { method: "POST", body }), 400, "VALIDATION_FAILED");
  });

  test("/healthz is served and warns about the missing set-up, not about PUBLIC_URL, which the set-up provides", async () => {
    const health = await production()("/healthz");
    expect([health.status, health.json?.warnings]).toEqual([200, ["NOT_SET_UP", "NETWORK_NOT_WATCHED"]]);
    const wrong = await production({ SIGN_UP: "closed" })("/healthz");
    expect(wrong.json?.warnings).toEqual(["NOT_SET_UP", "SIGN_UP_INVALID", "NETWORK_NOT_WATCHED"]);
  });

  it("requests other than /healthz are refused as an outage while storage does not answer", async () => {
    const lost = async () => Promise.reject(new Error("D1_ERROR: Network connection lost."));
    const statement = new Proxy(env.DB.prepare("SELECT 1"), {
      get: (_, name, self) => (name === "bind" ? () => self : lost),
    });
    const DB = new Proxy(ownDatabase(), {
      get: (_, name) => (name === "prepare" ? () => statement : lost),
    });
    const send = production({ DB });
    expectRefusal(await send("/docs"), 503, "STORAGE_UNAVAILABLE");
    expect((await send("/healthz")).json).toMatchObject({ database: "unavailable" });
  });
});

describe("a deployment serves everything", () => {
  const isServed = async (changes: Partial<Env>) => (await production(changes)("/docs")).status === 200;

  test("once it is set up", async () => {
    await doSetUp();
    for (const SIGN_UP of ["first", "invite", "open", "nonsense"]) expect(await isServed({ SIGN_UP })).toBe(true);
  });

  test("before the set-up with SIGN_UP=open, and with SIGN_UP=invite once any account exists", async () => {
    expect(await isServed({ SIGN_UP: "open" })).toBe(true);
    const all = await db.select().from(users);
    await db.delete(users);
    expect(await isServed({ SIGN_UP: "invite" })).toBe(false);
    await seedUser();
    expect(await isServed({ SIGN_UP: "invite" })).toBe(true);
    expect(await isServed({ SIGN_UP: "first" })).toBe(false);
    for (const row of all) await db.insert(users).values(row);
  });

  test("in development", async () => {
    expect(await isServed({ ENVIRONMENT: "development" })).toBe(true);
  });

  test("without another read of storage once an isolate knows that it is set up", async () => {
    await doSetUp();
    const { bindings, calls } = countingEnv({ ...FRESH, PUBLIC_URL: "https://pay.example" });
    const send = production(bindings);
    for (const _ of [1, 2, 3]) expect((await send("/docs")).status).toBe(200);
    expect(calls).toEqual(["D1 read"]);
    // An isolate that has read that the set-up is done never checks this again.
    await undoSetUp();
    expect((await send("/docs")).status).toBe(200);
  });

  test("as soon as it is set up, even in an isolate that refused requests before", async () => {
    const send = production();
    expectRefusal(await send("/docs"), 503, "NOT_SET_UP");
    await doSetUp();
    expect((await send("/docs")).status).toBe(200);
  });
});
