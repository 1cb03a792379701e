// Creating invoices with a public key when the operator requires Turnstile: who needs a token, when, and that each token works once.
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { type Answer, deploymentWith, expectRefusal, seedShop } from "../../support/access.ts";
import { askedAbout, OUTAGES, type TokenFacts, tokenOf } from "../../support/turnstile-tokens.ts";
import { testDb } from "../../support/worker-merchant.ts";

const SITE_KEY = "0x4AAA-site";
const SECRET_KEY = "0x4AAA-secret";
const turnstile = inject("turnstileOrigin");
const BOTH = { TURNSTILE_SITE_KEY: SITE_KEY, TURNSTILE_SECRET_KEY: SECRET_KEY, TURNSTILE_ORIGIN: turnstile };
const ORDER = { name: "Order", rawAmount: 10, paymentMethods: [] };
const ORIGIN = "https://shop.example";

interface Create {
  readonly kind?: "PUBLIC" | "SECRET";
  readonly token?: string | undefined;
  readonly once?: string | undefined;
  readonly body?: object;
  readonly origin?: string;
  readonly ip?: string;
}

async function open(env: Partial<Env> = BOTH) {
  const { merchantId, publicKey, secretKey } = await seedShop();
  const send = deploymentWith({ RATE_LIMIT_PER_MINUTE: "0", ...env } as Partial<Env>);
  const create = ({ kind = "PUBLIC", token, once, body = ORDER, origin = ORIGIN, ip }: Create): Promise<Answer> => {
    const headers = Object.entries({
      "cf-turnstile-response": token,
      "idempotency-key": once,
      "cf-connecting-ip": ip,
      origin,
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    const key = kind === "PUBLIC" ? publicKey : secretKey;
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    return send(path, { method: "POST", key, body, headers: Object.fromEntries(headers) });
  };
  return { create, count: () => testDb.$count(invoices, eq(invoices.merchantId, merchantId)) };
}

const outcome = ({ status, json, headers }: Answer) =>
  `${status} ${json?.code ?? (headers.get("idempotent-replayed") === "true" ? "again" : "new")}`;

/** Tokens: the name of each, its value, and what a public key gets for it if both Turnstile keys are set. */
const TOKENS: readonly (readonly [string, string | undefined, string])[] = [
  ["none", undefined, "403 CHALLENGE_REQUIRED"],
  ["an empty one", "", "403 CHALLENGE_REQUIRED"],
  ["no token of the service", "x", "403 CHALLENGE_FAILED"],
  ...(
    [
      ["solved", {}, "201 new"],
      ["of another action", { action: "buy" }, "403 CHALLENGE_FAILED"],
      ["of another page", { hostname: "evil.example" }, "403 CHALLENGE_FAILED"],
      ["wrong", { state: "wrong" }, "403 CHALLENGE_FAILED"],
      ["old", { state: "old" }, "403 CHALLENGE_FAILED"],
      ...OUTAGES.map((state) => [state, { state }, "503 CHALLENGE_UNAVAILABLE"] as const),
    ] satisfies readonly (readonly [string, Partial<TokenFacts>, string])[]
  ).map(([name, facts, want]) => [name, tokenOf(facts), want] as const),
];

describe("a request to create an invoice with a public key", () => {
  it("needs a token if and only if both Turnstile keys are set; with a secret key it never needs one", async () => {
    const settings: readonly (readonly [string, Partial<Env>, boolean])[] = [
      ["no keys", { TURNSTILE_ORIGIN: turnstile }, false],
      ["the site key alone", { ...BOTH, TURNSTILE_SECRET_KEY: "" }, false],
      ["the secret key alone", { ...BOTH, TURNSTILE_SITE_KEY: "" }, false],
      ["both", BOTH, true],
    ];
    for (const [setting, env, isAsked] of settings) {
      const { create, count } = await open(env);
      let created = 0;
      for (const kind of ["PUBLIC", "SECRET"] as const) {
        for (const [name, token, want] of TOKENS) {
          const answer = await create({ kind, token });
          const expected = isAsked && kind === "PUBLIC" ? want : "201 new";
          expect([setting, kind, name, outcome(answer)]).toEqual([setting, kind, name, expected]);
          if (answer.status === 201) created += 1;
        }
      }
      expect(await count()).toBe(created);
    }
  });

  it("is refused with the widget that creates a token, or with the time to retry if the token could not be checked", async () => {
    const { create } = await open();
    const facts = { siteKey: SITE_KEY, action: "invoice" };
    const none = await create({});
    expect(expectRefusal(none, 403, "CHALLENGE_REQUIRED")).toMatchObject(facts);
    // A page of another origin must be able to read the refusal.
    expect(none.headers.get("access-control-allow-origin")).toBe("*");
    expect(expectRefusal(await create({ token: "x" }), 403, "CHALLENGE_FAILED")).toMatchObject(facts);
    const unjudged = await create({ token: tokenOf({ state: "fault" }) });
    expectRefusal(unjudged, 503, "CHALLENGE_UNAVAILABLE");
    expect(unjudged.headers.get("retry-after")).toBe("1");
  });

  it("is challenged after all cheaper checks: the rate limit, the body, and fields that a browser may not send", async () => {
    const { create } = await open({ ...BOTH, RATE_LIMIT_PER_MINUTE: "1000" });
    const ip = "192.0.2.77";
    const limit = LIMITS.publicKeyRequestsPerIpAndMinute;
    const refusals = [
      await create({ ip, body: { rawAmount: "ten" } }),
      await create({ ip, body: { ...ORDER, externalId: "1" } }),
      await create({ ip, once: "x".repeat(256) }),
    ];
    expect(refusals.map(outcome)).toEqual([
      "400 VALIDATION_FAILED",
      "403 PUBLIC_KEY_FORBIDDEN",
      "400 IDEMPOTENCY_KEY_INVALID",
    ]);
    const token = tokenOf({ state: "wrong" });
    const answers = [];
    for (let n = 0; n < limit; n++) answers.push(outcome(await create({ ip, token })));
    expect(answers.filter((each) => each === "429 RATE_LIMITED").length).toBeGreaterThan(0);
    expect(await askedAbout(turnstile, token)).toHaveLength(
      answers.filter((each) => each === "403 CHALLENGE_FAILED").length,
    );
    expect((await askedAbout(turnstile, token))[0]?.remoteip).toBe(ip);
  });

  it("passes from a page whose host is unknown", async () => {
    const { create } = await open();
    expect(outcome(await create({ token: tokenOf(), origin: "null" }))).toBe("201 new");
  });

  it("is executed once for many concurrent requests with one key and one token", async () => {
    const { create, count } = await open();
    const token = tokenOf();
    const answers = await Promise.all(Array.from({ length: 6 }, () => create({ token, once: "order-1" })));
    expect(new Set(answers.map(({ status, json }) => `${status} ${json?.id}`)).size).toBe(1);
    expect([answers[0]?.status, await count()]).toEqual([201, 1]);
  });

  it("creates at most one invoice per token, whatever is repeated, and reserves no idempotency key if it is refused", async () => {
    const step = fc.record({
      token: fc.option(fc.nat(2), { nil: undefined }),
      once: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
      rawAmount: fc.constantFrom(10, 20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const { create, count } = await open();
        const tokens = [tokenOf(), tokenOf(), tokenOf({ state: "wrong" })];
        const spent = new Set([2]);
        const reserved = new Map<string, number>();
        let made = 0;
        for (const { token, once, rawAmount } of steps) {
          const expected = () => {
            const before = once === undefined ? undefined : reserved.get(once);
            if (before !== undefined) return before === rawAmount ? "201 again" : "409 IDEMPOTENCY_KEY_REUSED";
            if (token === undefined) return "403 CHALLENGE_REQUIRED";
            if (spent.has(token)) return "403 CHALLENGE_FAILED";
            spent.add(token);
            if (once !== undefined) reserved.set(once, rawAmount);
            made += 1;
            return "201 new";
          };
          const want = expected();
          const sent = { once, token: token === undefined ? undefined : tokens[token], body: { ...ORDER, rawAmount } };
          expect(outcome(await create(sent))).toBe(want);
        }
        expect(await count()).toBe(made);
      }),
      { numRuns: 25 },
    );
  });

  it("may be repeated after a fault of the challenge service, with the same idempotency key and a new token", async () => {
    const { create, count } = await open();
    const fault = tokenOf({ state: "busy" });
    const token = tokenOf();
    const answers = [
      await create({ once: "o", token: fault }),
      await create({ once: "o", token }),
      await create({ once: "o" }),
    ];
    expect(answers.map(outcome)).toEqual(["503 CHALLENGE_UNAVAILABLE", "201 new", "201 again"]);
    expect(await count()).toBe(1);
  });
});
