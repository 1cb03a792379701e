// In one run through the product, creates every secret that a user or merchant can have, then searches for them in everything logged and in every
// column of every table. No value from a copied database may work as a credential.
import { env } from "cloudflare:workers";
import { Secret, TOTP } from "otpauth";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sessions } from "../../../src/platform/db/schema/users.ts";
import { type Answer, send } from "../../support/access.ts";
import { allTexts, placesHolding } from "../../support/api-keys.ts";
import { type Browser, freshEmail, mailedCode, newBrowser, signIn } from "../../support/browser.ts";
import { ORIGIN } from "../../support/people.ts";
import { softwareAuthenticator } from "../../support/software-authenticator.ts";
import { testDb } from "../../support/worker-merchant.ts";

const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  for (const level of ["log", "info", "warn", "error", "debug"] as const)
    vi.spyOn(console, level).mockImplementation((...words) => void lines.push(...words.map(String)));
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The secrets of a run, by kind. */
type Secrets = Map<string, string>;

function noteCookies(secrets: Secrets, browser: Browser, when: string): void {
  for (const [name, value] of Object.entries(browser.cookies())) secrets.set(`${name} cookie, ${when}`, value);
}

async function ok(answer: Promise<Answer>): Promise<Readonly<Record<string, unknown>>> {
  const { status, text, json } = await answer;
  expect(status, text).toBeLessThan(300);
  return json ?? {};
}

async function linkToken(email: string, page: string): Promise<string> {
  const mails = await env.DEV_MAILBOX.getByName("mailbox").list(email);
  const [, token] = mails.map(({ text }) => new RegExp(`${page}#token=([\\w-]+)`).exec(text)).find(Boolean) ?? [];
  if (token === undefined) throw new Error(`no mail leads to ${page}`);
  return token;
}

/** Signs in, creates a merchant, a wallet, a key and an invitation, sets up every factor, steps up, and signs in again. */
async function walk(): Promise<Secrets> {
  const secrets: Secrets = new Map();
  const [anna, ben] = [newBrowser(), newBrowser()];
  const [annas, bens] = [freshEmail("anna"), freshEmail("ben")];

  await ok(anna.post("/api/v1/auth/email/start", { email: annas }));
  secrets.set("sign-in code", await mailedCode(annas));
  noteCookies(secrets, anna, "while signing in");
  await ok(anna.post("/api/v1/auth/email/verify", { email: annas, code: await mailedCode(annas) }));
  noteCookies(secrets, anna, "signed in");

  const { id: merchantId } = await ok(anna.post("/api/v1/merchants", { name: "Canaries" }));
  const merchant = `/api/v1/merchants/merchant/${merchantId}`;
  const wallet = {
    walletType: "DIRECT_WALLET",
    cryptocurrency: "USDT",
    network: "ETH",
    address: `0x${"c4".repeat(20)}`,
  };
  await ok(anna.post(`${merchant}/wallets`, wallet));
  secrets.set("link that disables a wallet", await linkToken(annas, "/wallets/disable"));
  const named = { headers: { "idempotency-key": "canary" }, method: "POST" };
  const permissions = ["INVOICE_CREATE"];
  const key = await ok(
    anna.ask(`${merchant}/api-keys`, { ...named, body: { name: "k", kind: "SECRET", permissions } }),
  );
  secrets.set("API key", String(key.secret));
  const rotated = await ok(
    anna.ask(`${merchant}/api-keys/${key.id}/rotate`, {
      ...named,
      headers: { "idempotency-key": "canary-2" },
      body: { overlapHours: 1 },
    }),
  );
  secrets.set("rotated API key", String(rotated.secret));
  // No server listens at this address: deliveries are attempted, and the attempts are logged.
  const endpoint = { url: "http://127.0.0.1:9/", events: ["ping"] };
  const hook = await ok(
    anna.ask(`${merchant}/webhooks`, { ...named, headers: { "idempotency-key": "canary-3" }, body: endpoint }),
  );
  secrets.set("webhook secret", String(hook.secret));
  const renewed = await ok(
    anna.ask(`${merchant}/webhooks/${hook.id}/rotate-secret`, { ...named, headers: { "idempotency-key": "canary-4" } }),
  );
  secrets.set("rotated webhook secret", String(renewed.secret));
  await ok(anna.post(`${merchant}/webhooks/${hook.id}/ping`));
  await ok(anna.post(`${merchant}/team/invitations`, { email: bens, role: "MEMBER" }));
  secrets.set("invitation", await linkToken(bens, "/invitations"));
  await ok(signIn(ben, bens));
  await ok(ben.post("/api/v1/team/invitations/accept", { token: secrets.get("invitation") }));

  const totp = await ok(anna.post("/api/v1/me/totp"));
  secrets.set("TOTP secret", String(totp.secret));
  const code = new TOTP({ secret: Secret.fromBase32(String(totp.secret)) }).generate();
  const { backupCodes } = await ok(anna.post("/api/v1/me/totp/confirm", { code }));
  expect(backupCodes).toHaveLength(10);
  if (!Array.isArray(backupCodes)) return secrets;
  for (const [n, each] of backupCodes.entries()) secrets.set(`backup code ${n}`, String(each));
  noteCookies(secrets, anna, "with TOTP");
  const device = await softwareAuthenticator();
  const options = await ok(anna.post("/api/v1/me/passkeys/options"));
  secrets.set("passkey challenge", String(options.challenge));
  await ok(anna.post("/api/v1/me/passkeys", { credential: await device.create(options as never) }));

  await ok(signIn(anna, annas));
  noteCookies(secrets, anna, "owing a factor");
  await ok(anna.post("/api/v1/auth/second-factor/verify", { code: backupCodes[0] }));
  noteCookies(secrets, anna, "after a backup code");

  await ok(ben.post("/api/v1/me/email-otp"));
  await ok(signIn(ben, bens));
  await ok(ben.post("/api/v1/auth/second-factor/start"));
  secrets.set("second factor by mail", await mailedCode(bens));
  await ok(ben.post("/api/v1/auth/second-factor/verify", { code: await mailedCode(bens) }));
  await ok(ben.post("/api/v1/auth/step-up/start"));
  secrets.set("step-up code", await mailedCode(bens));
  // Failed requests must not log secrets either.
  await ben.post("/api/v1/auth/step-up/verify", { code: "00000000" });
  await ben.post("/api/v1/team/invitations/accept", { token: secrets.get("invitation") });
  return secrets;
}

it("a run through the product leaves no secret in a log line or a table", async () => {
  const secrets = await walk();
  expect(secrets.size).toBeGreaterThan(20);
  const stored = await allTexts();
  for (const [what, secret] of secrets) {
    expect(secret.length, what).toBeGreaterThanOrEqual(8);
    expect(
      lines.filter((line) => line.includes(secret)),
      what,
    ).toEqual([]);
    expect(placesHolding(stored, secret), what).toEqual([]);
  }
});

it("no value from a copied database works as a credential", async () => {
  await walk();
  const rows = await testDb.select().from(sessions);
  expect(rows.length).toBeGreaterThan(3);
  for (const { tokenHash, id, userId } of rows) {
    for (const stolen of [tokenHash, id, userId]) {
      const answer = await send("/api/v1/me", { headers: { cookie: `session=${stolen}`, origin: ORIGIN } });
      expect(answer.status).toBe(401);
    }
  }
  const columns = [
    ["api_keys", "hash", (stolen: string) => send("/api/v1/merchants", { key: stolen }), 401],
    ["api_keys", "display", (stolen: string) => send("/api/v1/merchants", { key: stolen }), 401],
    [
      "single_use_tokens",
      "hash",
      (stolen: string) => send("/api/v1/wallets/disable", { method: "POST", body: { token: stolen } }),
      404,
    ],
  ] as const;
  for (const [table, column, use, status] of columns) {
    const { results } = await env.DB.prepare(`select "${column}" as stolen from "${table}"`).all<{ stolen: string }>();
    expect(results.length, table).toBeGreaterThan(0);
    for (const { stolen } of results) expect((await use(stolen)).status).toBe(status);
  }
  const browser = newBrowser();
  await ok(signIn(browser, freshEmail("thief")));
  const { results } = await env.DB.prepare("select token_hash as stolen from invitations").all<{ stolen: string }>();
  expect(results.length).toBeGreaterThan(0);
  for (const { stolen } of results)
    expect((await browser.post("/api/v1/team/invitations/accept", { token: stolen })).status).toBe(404);
});
