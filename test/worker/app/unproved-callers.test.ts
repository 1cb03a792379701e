// A caller without a valid credential must cost little: no search for private keys in the body, no more calls than a refusal takes, and a 429 if the
// caller continues. A caller with a valid credential must never be refused because of others at the same address.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import { describe, expect, it } from "vitest";
import { type PipelineRoute, respond } from "../../../src/accounts/pipeline/pipeline.ts";
import { FREE_TEXT } from "../../../src/chains/secrets/secret-material.ts";
import { ok } from "../../../src/lib/result.ts";
import { type AppEnv, requestContext } from "../../../src/platform/http/context.ts";
import { jsonReply, type Reply } from "../../../src/platform/http/reply.ts";
import { noBody, specOf } from "../../../src/platform/http/route.ts";
import { deploymentWith, expectRefusal, requestOf, seedShop, sendWith } from "../../support/access.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { wif } from "../../support/wallet-bodies.ts";

/** A well-formed key that does not exist. */
const INVENTED = `sk_${"7".repeat(38)}`;

const from = (ip: string) => ({ "cf-connecting-ip": ip });

describe("the search for private keys", () => {
  /** Sends a request with this key and a private key in its body; returns whether the body was searched, and the answer. */
  async function searched(merchantId: string, key: string | undefined) {
    let searches = 0;
    const spec = specOf({
      method: "POST",
      path: "/at/:merchantId",
      operationId: "probe",
      tag: "Service",
      summary: "",
      answers: [],
      callers: "MEMBER_OR_KEY",
      permission: "invoice:view",
      body: noBody,
    });
    const route: PipelineRoute<"MEMBER_OR_KEY", object, Reply> = {
      spec,
      callers: "MEMBER_OR_KEY",
      permission: "invoice:view",
      mayOweFactor: false,
      runsInMerchantObject: false,
      dependencies: () => ({}),
      reads: () => [],
      get secrets() {
        searches += 1;
        return FREE_TEXT;
      },
      answer: async () => ok(jsonReply(200, {})),
    };
    const app = new HonoBase<AppEnv>({ router: new TrieRouter() });
    app.use(requestContext);
    app.on("POST", "/at/:merchantId", (c) => respond(c, route));
    const request = requestOf(`/at/${merchantId}`, { method: "POST", key, body: { [wif()]: 1 } });
    const answer = await app.fetch(request, env, createExecutionContext());
    return { searches, code: ((await answer.json()) as { code: string }).code };
  }

  it("runs after the caller is authenticated, and only once", async () => {
    const { merchantId, secretKey } = await seedShop();
    expect(await searched(merchantId, undefined)).toEqual({ searches: 0, code: "UNAUTHORIZED" });
    expect(await searched(merchantId, INVENTED)).toEqual({ searches: 0, code: "UNAUTHORIZED" });
    expect(await searched("mer_00000000000000000000000000", secretKey)).toMatchObject({ searches: 0 });
    expect(await searched(merchantId, secretKey)).toEqual({ searches: 1, code: "PRIVATE_KEY_REFUSED" });
  });
});

describe("a refused credential", () => {
  const ASKS = 300;
  /** A limiter that counts by key, like the platform's. */
  function counter() {
    const times = new Map<string, number>();
    const limit = async ({ key }: { readonly key: string }) => {
      times.set(key, (times.get(key) ?? 0) + 1);
      return { success: (times.get(key) ?? 0) <= 120 };
    };
    return { FAILED_CREDENTIALS: { limit }, times };
  }

  it("is answered with 401 at first, and with 429 within 300 requests from one network, by the platform's own limiter", async () => {
    const { merchantId, secretKey } = await seedShop();
    const ask = deploymentWith({ RATE_LIMIT_PER_MINUTE: "0" } as Partial<Env>);
    const path = `/api/v1/merchants/merchant/${merchantId}/wallets`;
    const tries = async (n: number) => ask(path, { key: INVENTED, headers: from(`2001:db8:77:1::${n.toString(16)}`) });
    let refused = await tries(1);
    expect(refused.status).toBe(401);
    // 300 requests are enough even if the platform's window, which follows the platform's own clock, ends once in between.
    for (let n = 2; n <= ASKS && refused.status === 401; n++) refused = await tries(n);
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect((await ask(path, { key: INVENTED, headers: from("2001:db8:77:2::1") })).status).toBe(401);
    expect((await ask(path, { key: secretKey, headers: from("2001:db8:77:1::1") })).status).toBe(200);
  });

  it("costs no call besides the count, and a valid credential is never counted", async () => {
    const { merchantId, secretKey } = await seedShop();
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const { FAILED_CREDENTIALS, times } = counter();
    const { bindings, calls } = countingEnv({ FAILED_CREDENTIALS } as unknown as Partial<Env>);
    const callsOf = async (key: string) => {
      calls.length = 0;
      const { status } = await sendWith(bindings, path, { key, method: "POST", body: {}, headers: from("192.0.2.9") });
      return { status, calls: [...calls] };
    };
    const first = await callsOf(INVENTED);
    expect(first).toEqual({ status: 401, calls: ["D1 read"] });
    for (let n = 1; n < 120; n++) await callsOf(INVENTED);
    expect(await callsOf(INVENTED)).toEqual({ status: 429, calls: ["D1 read"] });
    const counted = times.get("192.0.2.9");
    expect((await callsOf(secretKey)).status).toBe(400);
    expect(times.get("192.0.2.9")).toBe(counted);
  });

  it("is answered with 401 even if the count fails or the address is unknown", async () => {
    const limit = async () => {
      throw new Error("the limiter is away");
    };
    const broken = { FAILED_CREDENTIALS: { limit } } as unknown as Partial<Env>;
    const path = "/api/v1/merchants/merchant/mer_00000000000000000000000000/wallets";
    expect((await sendWith(broken, path, { key: INVENTED, headers: from("192.0.2.10") })).status).toBe(401);
    expect((await sendWith({}, path, { key: INVENTED })).status).toBe(401);
  });
});
