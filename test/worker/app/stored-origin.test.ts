// If PUBLIC_URL is empty, links, cookies, passkeys and redirect addresses use the origin where a set-up link was redeemed.
import "@simplewebauthn/server";
import "@simplewebauthn/server/helpers";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runJobMessage } from "../../../src/app/jobs.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { deployment } from "../../../src/platform/db/schema/deployment.ts";
import { forgetDeployment, withOrigin } from "../../../src/platform/deployment/read-deployment.ts";
import { type Answer, deploymentWith, expectRefusal, seedShop } from "../../support/access.ts";
import { countingEnv } from "../../support/counting-env.ts";
import {
  doSetUp,
  FRESH,
  makeLink,
  ownDatabase,
  production,
  redeem,
  sessionOf,
  undoSetUp,
} from "../../support/production.ts";

const PAY = "https://pay.example";
const SHOP = "https://shop.example";
const GOOGLE = '{"google":{"clientId":"a","clientSecret":"b"},"github":{"clientId":"c","clientSecret":"d"}}';
const db = openDb(env.DB);
type Send = ReturnType<typeof deploymentWith>;

/** The same deployment as seen by a browser at this origin. */
const at =
  (origin: string, send: Send): Send =>
  (path, ask) =>
    send(`${origin}${path}`, ask);
const json = ({ text }: Answer) => JSON.parse(text);

beforeEach(undoSetUp);
afterEach(() => {
  vi.useRealTimers();
});

describe("the origin of a redeemed link", () => {
  test("is used for invoices, documents, cookies, passkeys and providers from then on", async () => {
    const send = at(PAY, production({ SIGN_IN_PROVIDERS: GOOGLE }));
    const redeemed = await redeem(send, {
      token: await makeLink(),
      email: `${crypto.randomUUID()}@example.com`,
      origin: PAY,
    });
    expect(redeemed.status).toBe(200);
    const headers = sessionOf(redeemed, PAY);
    expect(headers.cookie).toMatch(/^__Host-session=/);
    // Links use the stored origin, whatever host is requested next.
    const { merchantId, secretKey } = await seedShop();
    const other = at(SHOP, production({ SIGN_IN_PROVIDERS: GOOGLE }));
    const made = await other(`/api/v1/merchants/merchant/${merchantId}/invoices`, {
      method: "POST",
      key: secretKey,
      body: { name: "Order", rawAmount: 10 },
    });
    expect([made.status, made.json?.checkoutUrl]).toEqual([201, `${PAY}/pay/${made.json?.id}`]);
    expect(json(await other("/openapi.json")).servers).toEqual([{ url: PAY }]);
    const options = await other("/api/v1/auth/passkey/options", { method: "POST", headers: { origin: PAY } });
    expect(options.json).toMatchObject({ rpId: "pay.example" });
    const github = await other("/api/v1/auth/github/start");
    const location = new URL(github.headers.get("location") ?? "");
    expect(location.searchParams.get("redirect_uri")).toBe(`${PAY}/api/v1/auth/github/callback`);
    // A change in a session must come from the stored origin.
    const body = { name: "Ann" };
    expect((await other("/api/v1/me", { method: "PATCH", headers, body })).status).toBe(200);
    const elsewhere = { ...headers, origin: SHOP };
    expectRefusal(await other("/api/v1/me", { method: "PATCH", headers: elsewhere, body }), 403, "ORIGIN_NOT_ALLOWED");
    expect((await other("/healthz")).json?.warnings).not.toContain("PUBLIC_URL_MISSING");
  });

  test("is ignored if PUBLIC_URL is set", async () => {
    await doSetUp(PAY);
    const { bindings, calls } = countingEnv({ ...FRESH, SIGN_UP: "open", PUBLIC_URL: SHOP });
    const deployed = deploymentWith(bindings);
    expect(json(await deployed("/openapi.json")).servers).toEqual([{ url: SHOP }]);
    // The only read checks whether there was a restore, once per isolate.
    expect(calls).toEqual(["D1 read"]);
    await deployed("/openapi.json");
    expect(calls).toEqual(["D1 read"]);
  });

  test("is not set before the deployment is set up, even if sign-up is open and there is no PUBLIC_URL", async () => {
    const send = production({ SIGN_UP: "open" });
    expect(json(await send("/openapi.json")).servers).toEqual([{ url: "/" }]);
    expect((await send("/healthz")).json?.warnings).toContain("PUBLIC_URL_MISSING");
  });

  test("must be https or loopback: no other origin is ever stored", async () => {
    const token = await makeLink();
    const plain = at("http://pay.example", production());
    const refused = await redeem(plain, { token, email: "ann@example.com", origin: "http://pay.example" });
    expectRefusal(refused, 403, "ORIGIN_NOT_ALLOWED");
    const silent = await plain("/api/v1/setup/options", {
      method: "POST",
      body: { token, email: "ann@example.com", name: "Ann" },
    });
    expectRefusal(silent, 403, "ORIGIN_NOT_ALLOWED");
    expect(await db.select().from(deployment)).toEqual([]);
  });

  test("is replaced by the origin of the next redeemed link, at once in the same isolate and within a minute in others", async () => {
    const [one, other] = [production(), production()];
    const email = `${crypto.randomUUID()}@example.com`;
    await redeem(at(PAY, one), { token: await makeLink(), email, origin: PAY });
    const serverOf = async (send: Send) => json(await send("/openapi.json")).servers[0].url;
    expect([await serverOf(one), await serverOf(other)]).toEqual([PAY, PAY]);
    const again = await redeem(at(SHOP, one), { token: await makeLink(), email, origin: SHOP });
    expect(again.status).toBe(200);
    expect([await serverOf(one), await serverOf(other)]).toEqual([SHOP, PAY]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    expect(await serverOf(other)).toBe(SHOP);
  });
});

describe("an isolate", () => {
  test("reads the origin once a minute, even if the clock jumps back, and keeps it while storage does not answer", async () => {
    await doSetUp(PAY);
    let isBroken = false;
    let reads = 0;
    const DB = new Proxy(ownDatabase(), {
      get(target, name) {
        if (name === "prepare") {
          reads += 1;
          if (isBroken) throw new Error("D1_ERROR: Network connection lost.");
        }
        return Reflect.get(target, name);
      },
    });
    const originAt = async (nowMs: number) => {
      const known = await withOrigin({ DB, PUBLIC_URL: "" }, { nowMs, sleep });
      return known.ok ? known.value.PUBLIC_URL : known.error.code;
    };
    expect([await originAt(1_000_000), await originAt(1_059_999), reads]).toEqual([PAY, PAY, 1]);
    expect([await originAt(1_060_000), reads]).toEqual([PAY, 2]);
    expect([await originAt(5), reads]).toEqual([PAY, 3]);
    isBroken = true;
    expect(await originAt(10_000_000)).toBe(PAY);
    forgetDeployment({ DB });
    expect(await originAt(10_000_000)).toBe("STORAGE_UNAVAILABLE");
  });

  test("rereads the origin in one of its requests, while the others use the cached one", async () => {
    await doSetUp(PAY);
    let reads = 0;
    let gate = Promise.resolve();
    const database = ownDatabase();
    const DB = new Proxy(database, {
      get(target, name) {
        if (name !== "prepare") return Reflect.get(target, name);
        return (query: string) => {
          reads += 1;
          const statement = target.prepare(query);
          return Object.assign(statement, { all: () => gate.then(() => target.prepare(query).all()) });
        };
      },
    });
    const originAt = async (nowMs: number) => {
      const known = await withOrigin({ DB, PUBLIC_URL: "" }, { nowMs, sleep });
      return known.ok && known.value.PUBLIC_URL;
    };
    expect([await originAt(1_000_000), reads]).toEqual([PAY, 1]);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    const reader = originAt(1_060_000);
    const others = await Promise.all([1_060_000, 1_060_001, 1_069_999].map(originAt));
    expect([...others, reads]).toEqual([PAY, PAY, PAY, 2]);
    resolve();
    expect(await reader).toBe(PAY);
  });

  test("uses the origin even for work that no request started", async () => {
    await doSetUp(PAY);
    const world = { ...env, ...FRESH, DB: ownDatabase() } as Env;
    const known = await withOrigin(world, { nowMs: Date.now(), sleep });
    expect(known).toMatchObject({ ok: true, value: { PUBLIC_URL: PAY, ENVIRONMENT: "production" } });
    await runJobMessage({ job: "invitations", minuteMs: Date.now(), runs: 0 }, world, () => undefined);
  });
});
