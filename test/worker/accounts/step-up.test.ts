// Passing a factor again before a protected change (security.md 1 "Step-up").
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { sessions, users } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal, seedMerchant } from "../../support/access.ts";
import { type Browser, mailedCode, mailsTo, newBrowser, signIn } from "../../support/browser.ts";
import {
  appCode,
  appHolder,
  newcomer,
  passTime,
  pendingBrowser,
  SECOND_FACTOR,
  STEP_UP,
  stopClock,
} from "../../support/factors.ts";
import { seedMember } from "../../support/people.ts";
import {
  type Authenticator,
  type CreationOptions,
  softwareAuthenticator,
} from "../../support/software-authenticator.ts";

const db = openDb(env.DB);
const START = `${STEP_UP}/start`;
const VERIFY = `${STEP_UP}/verify`;
const WALLET = {
  walletType: "DIRECT_WALLET",
  cryptocurrency: "USDT",
  network: "ETH",
  address: "0x52908400098527886E0F7030069857D2E4169EE7",
};

const challengeOf = ({ json }: { readonly json: Readonly<Record<string, unknown>> | undefined }) => {
  const options = json?.passkey;
  if (typeof options !== "object" || options === null || !("challenge" in options)) throw new Error("no options");
  return { ...options, challenge: String(options.challenge) };
};

/** The path to the wallets of a new merchant that the user owns. */
async function walletsOf(email: string): Promise<string> {
  const [user] = await db.select().from(users).where(eq(users.emailKey, email));
  if (user === undefined) throw new Error("no such user");
  const merchantId = await seedMerchant();
  await seedMember(merchantId, user.id, "OWNER");
  return `/api/v1/merchants/merchant/${merchantId}/wallets`;
}

async function addPasskey(browser: Browser): Promise<Authenticator> {
  const authenticator = await softwareAuthenticator();
  const { text } = await browser.post("/api/v1/me/passkeys/options");
  const options: CreationOptions = JSON.parse(text);
  const added = await browser.post("/api/v1/me/passkeys", { credential: await authenticator.create(options) });
  expect(added.status, added.text).toBe(201);
  return authenticator;
}

beforeEach(stopClock);
afterEach(() => {
  vi.useRealTimers();
});

describe("a protected change", () => {
  it("requires a factor given in the last 5 minutes: a new emailed code for a user without other factors", async () => {
    const { email, browser } = await newcomer();
    const wallets = await walletsOf(email);
    passTime(299_999);
    expectRefusal(await browser.post(wallets, {}), 400, "VALIDATION_FAILED");
    passTime(1);
    const refused = expectRefusal(await browser.post(wallets, WALLET), 403, "STEP_UP_REQUIRED");
    expect(refused.factors).toEqual(["email_code"]);
    const before = String(browser.cookies().session);
    const started = await browser.post(START, {});
    expect([started.status, started.json]).toEqual([202, { factors: ["email_code"], passkey: null }]);
    expectRefusal(await browser.post(wallets, WALLET), 403, "STEP_UP_REQUIRED");
    const given = await browser.post(VERIFY, { code: await mailedCode(email) });
    expect([given.status, given.json]).toMatchObject([200, { state: "active", factors: [], user: { email } }]);
    expect(given.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/),
    ]);
    expectRefusal(await newBrowser({ cookie: `session=${before}` }).ask("/api/v1/me"), 401, "UNAUTHORIZED");
    expect((await browser.post(wallets, WALLET)).status).toBe(201);
    const tokenHash = sha256Hex(String(browser.cookies().session));
    const [session] = await db.select().from(sessions).where(eq(sessions.tokenHash, tokenHash));
    const entries = await db
      .select()
      .from(auditEvents)
      .where(eq(auditEvents.target, String(session?.id)));
    expect(entries.find(({ action }) => action === "session.stepped_up")).toMatchObject({
      merchantId: null,
      after: '{"factor":"EMAIL_CODE","wasPending":false}',
    });
  });

  it("is not allowed by a code emailed for another purpose or to another session", async () => {
    const { email, browser } = await newcomer();
    const other = newBrowser();
    await signIn(other, email);
    const used = await mailedCode(email);
    expectRefusal(await browser.post(VERIFY, { code: used }), 401, "INVALID_CODE");
    await newBrowser().post("/api/v1/auth/email/start", { email });
    expectRefusal(await browser.post(VERIFY, { code: await mailedCode(email) }), 401, "INVALID_CODE");
    await browser.post(START);
    const mine = await mailedCode(email);
    expectRefusal(await other.post(VERIFY, { code: mine }), 401, "INVALID_CODE");
    expect((await browser.post(VERIFY, { code: mine })).status).toBe(200);
    expectRefusal(await browser.post(VERIFY, { code: mine }), 401, "INVALID_CODE");
  });

  it("accepts an emailed code only once, even in four parallel requests", async () => {
    const { email, browser } = await newcomer();
    await browser.post(START);
    const code = await mailedCode(email);
    const answers = await Promise.all([1, 2, 3, 4].map(() => browser.post(VERIFY, { code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });
});

describe("a user with an authenticator app", () => {
  it("steps up with the app, and never with an emailed code", async () => {
    const { email, browser, secret } = await appHolder();
    const wallets = await walletsOf(email);
    passTime(300_000);
    const refused = expectRefusal(await browser.post(wallets, WALLET), 403, "STEP_UP_REQUIRED");
    expect(refused.factors).toEqual(["totp", "backup_code"]);
    const mails = await mailsTo(email);
    const started = await browser.post(START);
    expect([started.status, started.json]).toEqual([202, { factors: ["totp", "backup_code"], passkey: null }]);
    expect(await mailsTo(email)).toEqual(mails);
    for (const body of [{ code: "01234567" }, { code: "01234567", method: "email_code" }]) {
      const refusal = expectRefusal(await browser.post(VERIFY, body), 422, "FACTOR_NOT_AVAILABLE");
      expect(refusal.factors).toEqual(["totp", "backup_code"]);
    }
    expect((await browser.post(VERIFY, { code: appCode(secret) })).status).toBe(200);
    expect((await browser.post(wallets, WALLET)).status).toBe(201);
  });

  it("cannot use a code that was emailed before the app was set up", async () => {
    const { email, browser } = await newcomer();
    const other = newBrowser();
    await signIn(other, email);
    await other.post(START);
    const code = await mailedCode(email);
    const secret = String((await browser.post("/api/v1/me/totp")).json?.secret);
    await browser.post("/api/v1/me/totp/confirm", { code: appCode(secret) });
    expectRefusal(await browser.post(VERIFY, { code }), 422, "FACTOR_NOT_AVAILABLE");
    // The user's other session, which did not give a code from the app, has ended.
    expectRefusal(await other.post(VERIFY, { code }), 401, "UNAUTHORIZED");
    expectRefusal(await other.post(await walletsOf(email), WALLET), 401, "UNAUTHORIZED");
  });

  it("may step up with a backup code instead", async () => {
    const { email, browser, backupCodes } = await appHolder();
    const wallets = await walletsOf(email);
    passTime(300_000);
    expect((await browser.post(VERIFY, { code: backupCodes[0] })).status).toBe(200);
    expect((await browser.post(wallets, WALLET)).status).toBe(201);
    expectRefusal(await browser.post(VERIFY, { code: backupCodes[0] }), 401, "INVALID_CODE");
  });

  it("is stepped up after a sign-in with the app, but not after one with an emailed second factor", async () => {
    const { email, secret } = await appHolder();
    await db.update(users).set({ emailOtpEnabledAtMs: 1 }).where(eq(users.emailKey, email));
    const wallets = await walletsOf(email);
    const byMail = await pendingBrowser(email);
    expect((await byMail.post(`${SECOND_FACTOR}/start`)).json).toMatchObject({
      factors: ["totp", "backup_code", "email_code"],
    });
    const mailed = await byMail.post(`${SECOND_FACTOR}/verify`, { code: await mailedCode(email) });
    expect(mailed.status).toBe(200);
    expectRefusal(await byMail.post(wallets, WALLET), 403, "STEP_UP_REQUIRED");
    const byApp = await pendingBrowser(email);
    expect((await byApp.post(`${SECOND_FACTOR}/verify`, { code: appCode(secret) })).status).toBe(200);
    expect((await byApp.post(wallets, WALLET)).status).toBe(201);
  });
});

describe("a user with a passkey", () => {
  it("steps up with the passkey, and its assertion works once", async () => {
    const { email, browser } = await newcomer();
    const authenticator = await addPasskey(browser);
    const wallets = await walletsOf(email);
    const refused = expectRefusal(await browser.post(wallets, WALLET), 403, "STEP_UP_REQUIRED");
    expect(refused.factors).toEqual(["passkey"]);
    const mails = await mailsTo(email);
    const started = await browser.post(START);
    expect([started.status, started.json]).toMatchObject([
      202,
      { factors: ["passkey"], passkey: { allowCredentials: [{ id: authenticator.credentialId }] } },
    ]);
    expect(await mailsTo(email)).toEqual(mails);
    expectRefusal(await browser.post(VERIFY, { code: "01234567" }), 422, "FACTOR_NOT_AVAILABLE");
    const credential = await authenticator.get(challengeOf(started));
    const answers = await Promise.all([1, 2, 3].map(() => browser.post(VERIFY, { credential })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expectRefusal(await browser.post(VERIFY, { credential }), 401, "PASSKEY_REFUSED");
    expect((await browser.post(wallets, WALLET)).status).toBe(201);
  });

  it("can use the passkey as a second factor, but only in the session whose challenge it answers", async () => {
    const { email, browser } = await newcomer();
    const authenticator = await addPasskey(browser);
    await db.update(users).set({ emailOtpEnabledAtMs: 1 }).where(eq(users.emailKey, email));
    const [mine, other] = [await pendingBrowser(email), await pendingBrowser(email)];
    const started = await mine.post(`${SECOND_FACTOR}/start`);
    expect(started.json).toMatchObject({ factors: ["passkey", "email_code"] });
    const credential = await authenticator.get(challengeOf(started));
    const verify = `${SECOND_FACTOR}/verify`;
    expectRefusal(await other.post(verify, { credential }), 401, "PASSKEY_REFUSED");
    expect((await mine.post(verify, { credential, method: "passkey" })).json).toMatchObject({ state: "active" });
    expect((await mine.post(await walletsOf(email), WALLET)).status).toBe(201);
  });

  it("is refused with a wrong assertion, which counts as a guess", async () => {
    const { browser } = await newcomer();
    const authenticator = await addPasskey(browser);
    const challenge = challengeOf(await browser.post(START));
    const wrong = await authenticator.get(challenge, { origin: "https://evil.example" });
    for (let n = 0; n < 10; n++)
      expectRefusal(await browser.post(VERIFY, { credential: wrong }), 401, "PASSKEY_REFUSED");
    const right = await authenticator.get(challenge);
    expectRefusal(await browser.post(VERIFY, { credential: right }), 429, "TOO_MANY_ATTEMPTS");
  });
});
