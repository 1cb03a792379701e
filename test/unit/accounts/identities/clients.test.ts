// How the clients handle a provider that hangs, sends too much, redirects, or names addresses on other sites. test/contract tests
// the same over HTTP.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { githubClient } from "../../../../src/accounts/identities/github-client.ts";
import { googleClient } from "../../../../src/accounts/identities/google-client.ts";
import { PROVIDER_LIMIT_MS, type ProviderClient } from "../../../../src/accounts/identities/provider-client.ts";

const ISSUER = "https://accounts.example";
const CLIENT = { clientId: "id", clientSecret: "canary" };
const ATTEMPT = { state: "s".repeat(43), nonce: "n".repeat(43), codeVerifier: "v".repeat(43) };
const ANSWER = { code: "a-code", iss: undefined };
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize?tenant=1`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/keys`,
};

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const json = (body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
/** Never answers; rejects only when aborted. */
const hanging: Fetch = (_, { signal }) =>
  new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));

function google(fetch: Fetch, isLoopbackAllowed = false, issuer = ISSUER): ProviderClient {
  return googleClient({ fetch, redirectUri: "https://pay.example/back", isLoopbackAllowed }, { ...CLIENT, issuer });
}

function github(fetch: Fetch): ProviderClient {
  const urls = { authorizeUrl: `${ISSUER}/authorize`, tokenUrl: `${ISSUER}/token`, apiUrl: `${ISSUER}/api` };
  return githubClient(
    { fetch, redirectUri: "https://pay.example/back", isLoopbackAllowed: false },
    { ...CLIENT, ...urls },
  );
}

const outage = (problem: RegExp) => ({
  ok: false,
  error: { kind: "UNAVAILABLE", problem: expect.stringMatching(problem) },
});

describe("the Google client", () => {
  it("sends the browser to the address in the metadata, with PKCE S256, the state and the nonce", async () => {
    const url = await google(async () => json(METADATA)).authorizeUrl(ATTEMPT);
    const { searchParams } = new URL(url.ok ? url.value : "");
    expect(url.ok && url.value).toMatch(/^https:\/\/accounts\.example\/authorize\?/);
    expect(Object.fromEntries(searchParams)).toEqual({
      tenant: "1",
      client_id: "id",
      redirect_uri: "https://pay.example/back",
      response_type: "code",
      scope: "openid email",
      state: ATTEMPT.state,
      nonce: ATTEMPT.nonce,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
  });

  const metadata: readonly [string, Fetch, RegExp][] = [
    ["belongs to another issuer", async () => json({ ...METADATA, issuer: "https://evil.example" }), /COMPARISON/],
    [
      "is not JSON",
      async () => new Response("<html>canary</html>", { headers: { "content-type": "text/html" } }),
      /JSON/,
    ],
    ["contains an issuer that is not a URL", async () => json({ ...METADATA, issuer: "canary" }), /unknown/],
    [
      "sends the browser to plain http",
      async () => json({ ...METADATA, authorization_endpoint: "http://evil.example" }),
      /https/,
    ],
    [
      "sends the browser to a script",
      async () => json({ ...METADATA, authorization_endpoint: "javascript:x()" }),
      /https/,
    ],
    ["names no authorization endpoint", async () => json({ ...METADATA, authorization_endpoint: undefined }), /https/],
    [
      "redirects to another site",
      async () => new Response(null, { status: 302, headers: { location: "https://evil.example" } }),
      /CONFORM/,
    ],
    ["is missing", async () => new Response(null, { status: 204 }), /status 204/],
    ["cannot be reached", async () => Promise.reject(new TypeError("canary")), /cannot be reached/],
    ["is too large", async () => json({ ...METADATA, padding: "x".repeat(300_000) }), /too large/],
  ];
  it.each(metadata)("reports an outage when Google's metadata %s", async (_, fetch, problem) => {
    const result = await google(fetch).authorizeUrl(ATTEMPT);
    expect(result).toMatchObject(outage(problem));
    expect(JSON.stringify(result)).not.toContain("canary");
    expect(await google(fetch).identify(ATTEMPT, ANSWER)).toMatchObject({ ok: false });
  });

  it("uses plain http only on this machine, and only if that is allowed", async () => {
    const asked: string[] = [];
    const fetch: Fetch = async (url) => {
      asked.push(url);
      return json({ ...METADATA, issuer: "http://127.0.0.1:1" });
    };
    expect(await google(fetch, false, "http://127.0.0.1:1").authorizeUrl(ATTEMPT)).toMatchObject({ ok: false });
    expect(asked).toEqual([]);
    expect(await google(fetch, true, "http://127.0.0.1:1").authorizeUrl(ATTEMPT)).toMatchObject({ ok: true });
    expect(await google(fetch, true, "http://evil.example").authorizeUrl(ATTEMPT)).toMatchObject(outage(/https/));
    expect(asked).toHaveLength(1);
  });

  it("never asks for a token over plain http, whatever the metadata says", async () => {
    const asked: string[] = [];
    const fetch: Fetch = async (url) => {
      asked.push(url);
      return json({ ...METADATA, token_endpoint: "http://evil.example/token" });
    };
    for (const isLoopbackAllowed of [false, true])
      expect(await google(fetch, isLoopbackAllowed).identify(ATTEMPT, ANSWER)).toMatchObject({ ok: false });
    expect(asked.filter((url) => url.includes("evil"))).toEqual([]);
  });
});

describe("the time limit for a provider", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const steps: readonly [string, (fetch: Fetch) => Promise<unknown>][] = [
    ["Google before the sign-in", (fetch) => google(fetch).authorizeUrl(ATTEMPT)],
    ["Google after the sign-in", (fetch) => google(fetch).identify(ATTEMPT, ANSWER)],
    ["GitHub after the sign-in", (fetch) => github(fetch).identify(ATTEMPT, ANSWER)],
  ];
  it.each(steps)("turns a provider that hangs into an outage after 5 seconds: %s", async (_, step) => {
    const result = step(hanging);
    await vi.advanceTimersByTimeAsync(PROVIDER_LIMIT_MS - 1);
    expect(await Promise.race([result, "still asking"])).toBe("still asking");
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toMatchObject(outage(/time limit/));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("covers all requests of one sign-in, and does not start again for each request", async () => {
    let calls = 0;
    const slow: Fetch = async (url, init) => {
      calls += 1;
      if (calls > 1) return hanging(url, init);
      await new Promise((resolve) => setTimeout(resolve, PROVIDER_LIMIT_MS - 1_000));
      return json(METADATA);
    };
    const result = google(slow).identify(ATTEMPT, ANSWER);
    await vi.advanceTimersByTimeAsync(PROVIDER_LIMIT_MS);
    expect(await result).toMatchObject(outage(/time limit/));
    expect(calls).toBe(2);
  });

  it("leaves no timer behind when the provider has responded", async () => {
    await google(async () => json(METADATA)).authorizeUrl(ATTEMPT);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the GitHub client", () => {
  const EMAILS = [{ email: "ann@example.com", primary: true, verified: true }];
  const answers =
    (changes: Readonly<Record<string, () => Response>>): Fetch =>
    async (url) => {
      const { pathname } = new URL(url);
      const honest: Readonly<Record<string, () => Response>> = {
        "/token": () => json({ access_token: "gho_canary", token_type: "bearer" }),
        "/api/user": () => json({ id: 583_231 }),
        "/api/user/emails": () => json(EMAILS),
      };
      return (changes[pathname] ?? honest[pathname])?.() ?? json({}, 404);
    };

  it("identifies an account by its number and its primary verified email", async () => {
    expect(await github(answers({})).identify(ATTEMPT, ANSWER)).toEqual({
      ok: true,
      value: { provider: "github", subject: "583231", email: "ann@example.com" },
    });
  });

  const nonsense: readonly [string, Readonly<Record<string, () => Response>>][] = [
    ["an account without a number", { "/api/user": () => json({ login: "ann" }) }],
    ["an account number that is a string", { "/api/user": () => json({ id: "583231" }) }],
    ["an account number that is not whole", { "/api/user": () => json({ id: 1.5 }) }],
    ["an account that is not JSON", { "/api/user": () => new Response("<html>") }],
    ["emails that are not a list", { "/api/user/emails": () => json({ email: "ann@example.com" }) }],
    ["a reached rate limit", { "/api/user/emails": () => json({ message: "canary" }, 403) }],
    ["a client secret that GitHub does not know", { "/token": () => json({ error: "incorrect_client_credentials" }) }],
  ];
  it.each(nonsense)("reports an outage for %s", async (_, changes) => {
    const result = await github(answers(changes)).identify(ATTEMPT, ANSWER);
    expect(result).toMatchObject(outage(/./));
    expect(JSON.stringify(result)).not.toContain("canary");
  });

  it("refuses a primary email that is not an email address", async () => {
    const emails = [{ email: "ann <ann@example.com>", primary: true, verified: true }];
    const result = await github(answers({ "/api/user/emails": () => json(emails) })).identify(ATTEMPT, ANSWER);
    expect(result).toMatchObject({ ok: false, error: { kind: "REFUSED" } });
  });
});
