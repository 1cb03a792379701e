// Which responses of Turnstile count as a solved challenge. Any other behaviour of the service or of the connection must not count.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Challenge, passChallenge } from "../../../../src/platform/challenge/pass-challenge.ts";
import {
  hostnameOf,
  judgeToken,
  parseTurnstile,
  type TokenVerdict,
} from "../../../../src/platform/challenge/turnstile.ts";
import { askTurnstile } from "../../../../src/platform/challenge/turnstile-client.ts";
import type { Listening } from "../../../support/listen.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { SECRET_KEY, startTurnstile } from "../../../support/turnstile-stand-in.ts";
import { askedAbout, OUTAGES, type TokenFacts, tokenOf } from "../../../support/turnstile-tokens.ts";

let service: Listening;
beforeAll(async () => {
  service = await startTurnstile();
});
afterAll(() => service.close());

const challengeWith = (secretKey = SECRET_KEY, timeoutMs = 60_000): Challenge => ({
  siteKey: "site",
  origin: service.origin,
  ask: (question) => askTurnstile({ fetch, origin: service.origin, secretKey, timeoutMs }, question),
});
const pass = async (token: string | undefined, over: { operation?: string; challenge?: Challenge } = {}) => {
  const { operation, challenge = challengeWith() } = over;
  const attempt = { action: "invoice", hostname: "shop.example", token, ip: "192.0.2.7", operation } as const;
  return (await passChallenge(challenge, attempt))?.code ?? "passed";
};

describe("the Turnstile keys", () => {
  it.each([
    ["neither", {}, undefined],
    ["empty keys", { TURNSTILE_SITE_KEY: " ", TURNSTILE_SECRET_KEY: "" }, undefined],
    ["both", { TURNSTILE_SITE_KEY: " site ", TURNSTILE_SECRET_KEY: "secret" }, "https://challenges.cloudflare.com"],
  ])("require a challenge only if both are set: %s", (_, keys, origin) => {
    const parsed = parseTurnstile({ ENVIRONMENT: "production", TURNSTILE_ORIGIN: "http://127.0.0.1:1", ...keys });
    expect(parsed).toEqual({
      ok: true,
      value: origin === undefined ? undefined : { siteKey: "site", secretKey: "secret", origin },
    });
  });

  it.each([
    [{ TURNSTILE_SITE_KEY: "a-key" }],
    [{ TURNSTILE_SECRET_KEY: "a-key" }],
    [{ TURNSTILE_SITE_KEY: "a-key b", TURNSTILE_SECRET_KEY: "a-key" }],
  ])("%j are refused without being shown", (keys) => {
    const parsed = parseTurnstile({ ENVIRONMENT: "production", ...keys });
    expect(parsed).toEqual({ ok: false, error: expect.not.stringContaining("a-key") });
  });

  it("can be used with a different service in development only", () => {
    const of = { TURNSTILE_SITE_KEY: "a", TURNSTILE_SECRET_KEY: "b", TURNSTILE_ORIGIN: `${service.origin}/` };
    expect(parseTurnstile({ ENVIRONMENT: "development", ...of })).toMatchObject({ value: { origin: service.origin } });
  });
});

describe("Turnstile's verdict", () => {
  const word = () => fc.constantFrom("invoice", "buy", "shop.example", "");
  const verdicts: fc.Arbitrary<TokenVerdict> = fc.record({
    isSolved: fc.boolean(),
    hostname: fc.option(word(), { nil: undefined }),
    action: fc.option(word(), { nil: undefined }),
    errors: fc.array(
      fc.constantFrom("invalid-input-response", "timeout-or-duplicate", "internal-error", "bad-request"),
    ),
  });

  it("is accepted only if the challenge was solved, for the same action, and on the same page if the page is known", () => {
    fc.assert(
      fc.property(verdicts, fc.option(word(), { nil: undefined }), (verdict, hostname) => {
        const isMatch = verdict.action === "buy" && (hostname === undefined || verdict.hostname === hostname);
        expect(judgeToken(verdict, { action: "buy", hostname }) === "passed").toBe(verdict.isSolved && isMatch);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["https://shop.example", "shop.example"],
    ["http://localhost:8787", "localhost"],
    ["null", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("must be for the host of the page's origin: %j gives %j", (origin, hostname) => {
    expect(hostnameOf(origin)).toBe(hostname);
  });
});

describe("a token", () => {
  it("is accepted once, and is sent to the service with our secret and the caller's address", async () => {
    const token = tokenOf();
    expect([await pass(token), await pass(token)]).toEqual(["passed", "CHALLENGE_FAILED"]);
    const [asked] = await askedAbout(service.origin, token);
    expect(asked).toEqual({ secret: SECRET_KEY, response: token, remoteip: "192.0.2.7" });
  });

  it("is accepted again for the same operation, but for no other", async () => {
    const token = tokenOf();
    const passed = [];
    for (const operation of ["one", "one", "two", undefined, "one"])
      passed.push(await pass(token, operation === undefined ? {} : { operation }));
    expect(passed).toEqual(["passed", "passed", "CHALLENGE_FAILED", "CHALLENGE_FAILED", "passed"]);
    const [asked] = await askedAbout(service.origin, token);
    expect(asked?.idempotency_key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it.each<[string, Partial<TokenFacts>]>([
    ["for a different action", { action: "buy" }],
    ["from a different page", { hostname: "shop.example.org" }],
    ["that is wrong", { state: "wrong" }],
    ["that is too old", { state: "old" }],
  ])("%s is refused", async (_, facts) => {
    expect(await pass(tokenOf(facts))).toBe("CHALLENGE_FAILED");
  });

  it("that is missing or malformed is refused without a request", async () => {
    const ask = () => Promise.reject(new Error("asked"));
    const challenge = { ...challengeWith(), ask };
    expect([await pass(undefined, { challenge }), await pass("", { challenge })]).toEqual([
      "CHALLENGE_REQUIRED",
      "CHALLENGE_REQUIRED",
    ]);
    for (const token of ["x".repeat(2_049), "a b", "é", "a\n"])
      expect(await pass(token, { challenge })).toBe("CHALLENGE_FAILED");
  });

  it.each(OUTAGES)("is answered with CHALLENGE_UNAVAILABLE if the service answers with %s", async (state) => {
    expect(await pass(tokenOf({ state }))).toBe("CHALLENGE_UNAVAILABLE");
  });

  it("is answered with CHALLENGE_UNAVAILABLE if the service is silent or unreachable, or refuses our secret", async () => {
    const gone = {
      ...challengeWith(),
      ask: (question: Parameters<Challenge["ask"]>[0]) =>
        askTurnstile({ fetch, origin: "http://127.0.0.1:9", secretKey: SECRET_KEY }, question),
    };
    const tries = [
      pass(tokenOf({ state: "silent" }), { challenge: challengeWith(SECRET_KEY, 200) }),
      pass(tokenOf(), { challenge: gone }),
      pass(tokenOf(), { challenge: challengeWith("another secret") }),
    ];
    expect(new Set(await Promise.all(tries))).toEqual(new Set(["CHALLENGE_UNAVAILABLE"]));
  });
});
