// Signing in with Google and GitHub over HTTP, with a real OpenID Connect provider and a stand-in for GitHub, both on loopback, and a separate server
// configured for them. The browser here stores cookies and follows redirects one by one.
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";
import { type Server, startServer } from "../../scripts/server.ts";
import { readSettings } from "../../scripts/settings.ts";
import { builtServer } from "../support/built-worker.ts";
import { type GithubStandIn, startGithub } from "../support/github-stand-in.ts";
import { type Lie, type OidcProvider, startOidcProvider } from "../support/oidc-server.ts";

type ProviderName = "google" | "github";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts what the body holds
  readonly body: any;
}

/** A secret that must not appear in any log line or answer. */
const CLIENT_SECRET = `canary-${randomUUID()}`;
const home = mkdtempSync(join(tmpdir(), "edgetill-oauth-"));
const logFile = join(home, "server.log");
const secrets = new Set<string>([CLIENT_SECRET]);
let baseUrl: string;
let google: OidcProvider;
let github: GithubStandIn;
let server: Server;

beforeAll(async () => {
  const port = await findFreePort();
  const client = (name: ProviderName) => ({
    clientId: `client-${name}`,
    clientSecret: CLIENT_SECRET,
    redirectUri: `http://localhost:${port}/api/v1/auth/${name}/callback`,
  });
  google = await startOidcProvider(client("google"));
  github = await startGithub(client("github"));
  const { clientId, clientSecret } = client("github");
  const providers = {
    google: { clientId: "client-google", clientSecret, issuer: google.issuer },
    github: {
      clientId,
      clientSecret,
      apiUrl: `${github.origin}/api/`,
      authorizeUrl: `${github.origin}/login/oauth/authorize`,
      tokenUrl: `${github.origin}/login/oauth/access_token`,
    },
  };
  const settings = readSettings({
    PORT: String(port),
    EDGETILL_HOME: home,
    RATE_LIMIT_PER_MINUTE: "0",
    SIGN_IN_PROVIDERS: JSON.stringify(providers),
  });
  baseUrl = settings.baseUrl;
  server = await startServer(settings, { logFile, wrangler: builtServer() });
});

afterAll(async () => {
  await server?.stop();
  await Promise.all([google?.close(), github?.close()]);
  rmSync(home, { recursive: true, force: true });
});

beforeEach(() => {
  google.lie = {};
  github.outage = null;
});

/** Keeps the cookies of each host and port separate, and never follows redirects automatically. */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  jar(url: string): Map<string, string> {
    // Real browsers ignore the port of a cookie, but our cookies and the provider's have different names anyway.
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }

  async call(method: string, url: string, more: { body?: unknown; accept?: string } = {}): Promise<Answer> {
    const jar = this.jar(url);
    const isOurs = url.startsWith(baseUrl);
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: {
        accept: more.accept ?? "text/html",
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(isOurs && method !== "GET" ? { origin: baseUrl } : {}),
        ...(more.body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
      if (isOurs && value !== "") secrets.add(value);
    }
    const text = await response.text();
    const isJson = isOurs && /json/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  /** Follows the redirects to the provider and through it; returns the callback URL to which the provider sends the browser. */
  async throughProvider(url: string): Promise<string> {
    let at = url;
    for (let hop = 0; hop < 10; hop++) {
      if (at.startsWith(baseUrl)) return at;
      const { status, headers, text } = await this.call("GET", at);
      expect([302, 303], text.slice(0, 500)).toContain(status);
      at = new URL(headers.get("location") ?? "", at).href;
    }
    throw new Error("the provider never sends the browser back");
  }

  async start(provider: ProviderName, returnTo?: string): Promise<string> {
    const query = returnTo === undefined ? "" : `?returnTo=${encodeURIComponent(returnTo)}`;
    const { status, headers, text } = await this.call("GET", `${baseUrl}/api/v1/auth/${provider}/start${query}`);
    expect(status, text).toBe(302);
    const location = headers.get("location") ?? "";
    secrets.add(new URL(location).searchParams.get("state") ?? "");
    return location;
  }

  /** Signs in; returns the callback's answer as JSON. */
  async signIn(provider: ProviderName): Promise<Answer> {
    const back = await this.throughProvider(await this.start(provider));
    return this.call("GET", back, { accept: "application/json" });
  }

  get me(): Promise<Answer> {
    return this.call("GET", `${baseUrl}/api/v1/me`);
  }
}

const freshEmail = () => `${randomUUID()}@example.com`;

/** Sets the user who signs in at Google next. */
function atGoogle(email = freshEmail(), isEmailVerified = true): string {
  google.user = { subject: randomUUID(), email, isEmailVerified };
  return email;
}

function atGithub(email = freshEmail()): string {
  github.user = {
    id: Math.floor(Math.random() * 1e9) + 1,
    emails: [
      { email: freshEmail(), primary: false, verified: true },
      { email, primary: true, verified: true },
    ],
  };
  return email;
}

const at: Readonly<Record<ProviderName, (email?: string) => string>> = { google: atGoogle, github: atGithub };

async function codeSentTo(email: string): Promise<string> {
  const url = `${baseUrl}/dev/mail?to=${encodeURIComponent(email)}`;
  const mails: readonly { text: string }[] = await (
    await fetch(url, { headers: { accept: "application/json" } })
  ).json();
  const [code = ""] = /\b\d{8}\b/.exec(mails[0]?.text ?? "") ?? [];
  secrets.add(code);
  return code;
}

function expectRefused(result: Answer, status: number, code: string, message?: RegExp): void {
  expect(result.body, result.text).toMatchObject({ statusCode: status, code });
  expect(result.status).toBe(status);
  if (message !== undefined) expect(result.body.message).toMatch(message);
  expect(result.headers.getSetCookie()).toEqual([]);
  expect(result.text).not.toContain("canary");
}

describe.each(["google", "github"] as const)("signing in with %s", (provider) => {
  it("creates an account for a verified email, and later finds it by the subject even under a different email", async () => {
    const email = at[provider]();
    const browser = new Browser();
    const result = await browser.signIn(provider);
    expect(result).toMatchObject({ status: 200, body: { state: "active", factors: [], user: { email } } });
    expect(await browser.me).toMatchObject({ status: 200, body: { email } });
    if (google.user !== null) google.user = { ...google.user, email: freshEmail() };
    github.user = {
      ...github.user,
      emails: github.user.emails.map((each) => ({ ...each, email: freshEmail() })),
    };
    expect(await new Browser().signIn(provider)).toMatchObject({ status: 200, body: { user: result.body.user } });
  });

  it("returns the browser, signed in, to the page from which it came", async () => {
    const email = at[provider]();
    const browser = new Browser();
    const back = await browser.throughProvider(await browser.start(provider, "/invitations?x=é"));
    const { status, headers, text } = await browser.call("GET", back);
    expect([status, headers.get("location"), text]).toEqual([303, `${baseUrl}/invitations?x=%C3%A9`, ""]);
    expect([...browser.jar(baseUrl).keys()]).toEqual(["session", "known"]);
    expect(await browser.me).toMatchObject({ body: { email } });
  });

  it("requires proof of an email that already has an account; the emailed code then links the accounts and signs in", async () => {
    const other = provider === "google" ? "github" : "google";
    const email = at[other]();
    const first = await new Browser().signIn(other);
    at[provider](email.toUpperCase());
    const page = new Browser();
    const { headers } = await page.call("GET", await page.throughProvider(await page.start(provider, "/sign-in")));
    expect(headers.get("location")).toBe(`${baseUrl}/sign-in#proof=${encodeURIComponent(email.toUpperCase())}`);
    expect((await page.me).status).toBe(401);
    const browser = new Browser();
    const result = await browser.signIn(provider);
    expect(result).toMatchObject({ status: 200, body: { state: "email_proof_required", email: email.toUpperCase() } });
    expect((await browser.me).status).toBe(401);
    const body = { email, code: await codeSentTo(email) };
    const stranger = await new Browser().call("POST", `${baseUrl}/api/v1/auth/email/verify`, { body });
    expectRefused(stranger, 401, "INVALID_CODE");
    const proved = await browser.call("POST", `${baseUrl}/api/v1/auth/email/verify`, { body });
    expect(proved).toMatchObject({ status: 200, body: { state: "active", user: first.body.user } });
    expect(await new Browser().signIn(provider)).toMatchObject({ body: { state: "active", user: first.body.user } });
  });

  it("accepts a callback once, and only in the browser that started the sign-in", async () => {
    at[provider]();
    const browser = new Browser();
    const back = await browser.throughProvider(await browser.start(provider));
    expectRefused(await new Browser().call("GET", back), 400, "SIGN_IN_REFUSED", /another browser/);
    // The other browser's attempt has used up the callback.
    expectRefused(await browser.call("GET", back), 400, "SIGN_IN_REFUSED", /unknown, used, expired/);
    const again = await browser.throughProvider(await browser.start(provider));
    expect((await browser.call("GET", again)).status).toBe(303);
    expectRefused(await browser.call("GET", again), 400, "SIGN_IN_REFUSED");
  });

  it("refuses a code that the provider did not issue, or issued for another attempt", async () => {
    at[provider]();
    const browser = new Browser();
    const callback = new URL(await browser.throughProvider(await browser.start(provider)));
    const stolen = callback.searchParams.get("code") ?? "";
    for (const code of ["invented", stolen]) {
      const back = new URL(await browser.throughProvider(await browser.start(provider)));
      back.searchParams.set("code", code);
      expectRefused(await browser.call("GET", back.href), 400, "SIGN_IN_REFUSED", /did not accept the code/);
    }
  });

  it("links an account within a session, and later signs that user in; linking without a step-up is refused", async () => {
    const other = provider === "google" ? "github" : "google";
    const email = freshEmail();
    const browser = new Browser();
    await browser.call("POST", `${baseUrl}/api/v1/auth/email/start`, { body: { email } });
    const body = { email, code: await codeSentTo(email) };
    const { body: me } = await browser.call("POST", `${baseUrl}/api/v1/auth/email/verify`, { body });
    at[provider]();
    const begun = await browser.call("POST", `${baseUrl}/api/v1/me/identities/${provider}`);
    expect(begun.status, begun.text).toBe(200);
    const linked = await browser.call("GET", await browser.throughProvider(begun.body.url), {
      accept: "application/json",
    });
    expect(linked).toMatchObject({ status: 200, body: { state: "linked", identity: { provider } } });
    expect((await browser.call("GET", `${baseUrl}/api/v1/me/identities`)).body.data).toMatchObject([{ provider }]);
    expect(await new Browser().signIn(provider)).toMatchObject({ body: { state: "active", user: me.user } });
    // The user signed in with the other account and without a step-up, so there is nothing to link with.
    at[other]();
    const stranger = new Browser();
    await stranger.signIn(other);
    expectRefused(await stranger.call("POST", `${baseUrl}/api/v1/me/identities/${provider}`), 403, "STEP_UP_REQUIRED");
  });
});

describe("an ID token", () => {
  const lies: readonly [string, Lie, RegExp][] = [
    ["with a different nonce", { claims: (honest) => ({ ...honest, nonce: "replayed" }) }, /another nonce/],
    ["without a nonce", { claims: ({ nonce: _, ...honest }) => honest }, /not valid/],
    ["from another issuer", { claims: (honest) => ({ ...honest, iss: "http://127.0.0.1:1" }) }, /another issuer/],
    ["for another client", { claims: (honest) => ({ ...honest, aud: "somebody-else" }) }, /another audience/],
    [
      "for us and another client",
      { claims: (honest) => ({ ...honest, aud: ["client-google", "x"] }) },
      /another audience/,
    ],
    ["that has expired", { claims: (honest) => ({ ...honest, exp: seconds(-60), iat: seconds(-120) }) }, /expired/],
    ["that is not valid yet", { claims: (honest) => ({ ...honest, nbf: seconds(3_600) }) }, /not valid yet/],
    ["that never expires", { claims: ({ exp: _, ...honest }) => honest }, /not valid/],
    ["that was signed with another key", { isSignedByStranger: true }, /not signed by the provider/],
    ["whose email is not verified", { claims: (honest) => ({ ...honest, email_verified: false }) }, /not verified/],
    [
      'whose email_verified is the text "true"',
      { claims: (honest) => ({ ...honest, email_verified: "true" }) },
      /not verified/,
    ],
    ["without an email", { claims: ({ email: _, ...honest }) => honest }, /not verified/],
  ];
  it.each(lies)("%s is refused and creates no account", async (_, lie, reason) => {
    const email = atGoogle();
    google.lie = lie;
    const browser = new Browser();
    expectRefused(await browser.signIn("google"), 400, "SIGN_IN_REFUSED", reason);
    expect([...browser.jar(baseUrl).keys()]).toEqual(["signin"]);
    google.lie = {};
    // The refused sign-in created no account, so the genuine one creates it.
    expect(await browser.signIn("google")).toMatchObject({ body: { state: "active", user: { email } } });
  });

  it("is accepted if it was signed again without changes: the refusals above are due to what was changed", async () => {
    atGoogle();
    google.lie = { claims: (honest) => ({ ...honest }) };
    expect(await new Browser().signIn("google")).toMatchObject({ status: 200 });
  });
});

describe("a provider", () => {
  it("at which the user cancels causes a refusal without the provider's own message", async () => {
    google.user = null;
    const result = await new Browser().signIn("google");
    expectRefused(result, 400, "SIGN_IN_REFUSED", /cancelled/);
  });

  it("whose callback names another issuer is refused (RFC 9207)", async () => {
    atGoogle();
    const browser = new Browser();
    const back = new URL(await browser.throughProvider(await browser.start("google")));
    back.searchParams.set("iss", "https://evil.example");
    expectRefused(await browser.call("GET", back.href), 400, "SIGN_IN_REFUSED", /does not come from the provider/);
  });

  const nonsense: readonly [string, { status: number; body: string }][] = [
    ["that is down", { status: 502, body: "<html>canary</html>" }],
    ["that answers with an HTML page", { status: 200, body: "<html>canary</html>" }],
    ["that answers with unexpected JSON", { status: 200, body: '{"canary":true}' }],
    [
      "that does not know our client id",
      { status: 401, body: '{"error":"invalid_client","error_description":"canary"}' },
    ],
  ];
  it.each(nonsense)("%s causes a 503, and the sign-in may be retried", async (_, answer) => {
    atGoogle();
    google.lie = { answer };
    const result = await new Browser().signIn("google");
    expectRefused(result, 503, "PROVIDER_UNAVAILABLE");
    expect(result.headers.get("retry-after")).toBe("1");
    atGithub();
    github.outage = answer;
    expectRefused(await new Browser().signIn("github"), 503, "PROVIDER_UNAVAILABLE");
  });

  const unverified: readonly [string, readonly { email: string; primary: boolean; verified: boolean }[]][] = [
    ["no address", []],
    ["a primary address that is not verified", [{ email: freshEmail(), primary: true, verified: false }]],
    ["a verified address that is not primary", [{ email: freshEmail(), primary: false, verified: true }]],
  ];
  it.each(unverified)("such as GitHub that reports %s does not sign the user in", async (_, emails) => {
    atGithub();
    github.user = { ...github.user, emails };
    expectRefused(await new Browser().signIn("github"), 400, "SIGN_IN_REFUSED", /no primary email/);
  });
});

describe("the server's log", () => {
  it("names the provider that failed, and contains no client secret, state, session or code", () => {
    const log = readFileSync(logFile, "utf8");
    expect(log).toContain('"provider":"github"');
    expect(secrets.size).toBeGreaterThan(50);
    for (const secret of secrets) expect(log.includes(secret), secret).toBe(false);
    expect(log).not.toContain("canary");
  });
});

function seconds(fromNow: number): number {
  return Math.floor(Date.now() / 1_000) + fromNow;
}
