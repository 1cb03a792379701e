// The second factor that completes a sign-in (security.md 1), and the limit on guessing it (security.md 3).
import { env } from "cloudflare:workers";
import { and, eq, inArray, like } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { backupCodes, factorGuesses, sessions } from "../../../src/platform/db/schema/users.ts";
import { type Answer, expectRefusal, seedMerchant } from "../../support/access.ts";
import { type Browser, mailedCode, mailsTo, newBrowser, signIn } from "../../support/browser.ts";
import {
  appCode,
  appHolder,
  askWith,
  newcomer,
  passTime,
  pendingBrowser,
  pendingBrowsers,
  SECOND_FACTOR,
  STEP_UP,
  stopClock,
  TOTP,
  userOf,
  wrongCode,
} from "../../support/factors.ts";
import { seedMember } from "../../support/people.ts";

const db = openDb(env.DB);
const VERIFY = `${SECOND_FACTOR}/verify`;
const EMAIL_OTP = "/api/v1/me/email-otp";

/** The stored counts of wrong factors, for the user's pending sessions, for the network and for the user. */
const failuresOf = async (email: string) => {
  const { id } = await userOf(email);
  const own = await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.userId, id), eq(sessions.state, "PENDING_2FA")));
  const scopes = [...own.map((session) => `session ${session.id}`), `network ${id} unknown`, `person ${id}`];
  const rows = await db.select().from(factorGuesses).where(inArray(factorGuesses.scope, scopes));
  return rows.map(({ failures }) => failures);
};
const sessionOf = async (browser: Browser) => {
  const tokenHash = sha256Hex(String(browser.cookies().session));
  const [session] = await db.select().from(sessions).where(eq(sessions.tokenHash, tokenHash));
  return session;
};
const give = (browser: Browser, code: unknown, method?: string) =>
  browser.post(VERIFY, { code, ...(method === undefined ? {} : { method }) });
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();

/** A user with emailed codes as their second factor. */
async function mailHolder() {
  const { email, browser } = await newcomer();
  expect((await browser.post(EMAIL_OTP)).status).toBe(204);
  return { email, browser };
}

beforeEach(stopClock);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a session that waits for its second factor", () => {
  it("opens no user or merchant route until the factor is given, which also replaces the session's token", async () => {
    const { email, secret } = await appHolder();
    const merchantId = await seedMerchant();
    await seedMember(merchantId, (await userOf(email)).id, "OWNER");
    const browser = await pendingBrowser(email);
    const closed = [
      ["GET", "/api/v1/me"],
      ["GET", "/api/v1/merchants"],
      ["GET", `/api/v1/merchants/merchant/${merchantId}/invoices`],
      ["POST", `/api/v1/merchants/merchant/${merchantId}/wallets`],
      ["POST", `${STEP_UP}/start`],
      ["POST", `${STEP_UP}/verify`],
      ["DELETE", TOTP],
      ["DELETE", EMAIL_OTP],
    ] as const;
    for (const [method, path] of closed) {
      const refused = expectRefusal(await browser.ask(path, { method }), 403, "SECOND_FACTOR_REQUIRED");
      expect(refused.factors).toEqual(["totp", "backup_code"]);
    }
    const mails = (await mailsTo(email)).length;
    const started = await browser.post(`${SECOND_FACTOR}/start`, {});
    expect([started.status, started.json]).toEqual([202, { factors: ["totp", "backup_code"], passkey: null }]);
    expect(await mailsTo(email)).toHaveLength(mails);

    const pending = String(browser.cookies().session);
    const given = await give(browser, appCode(secret));
    expect([given.status, given.json]).toEqual([
      200,
      { state: "active", factors: [], user: { id: (await userOf(email)).id, email, name: null } },
    ]);
    expect(browser.cookies().session).not.toBe(pending);
    expectRefusal(await newBrowser({ cookie: `session=${pending}` }).ask("/api/v1/me"), 401, "UNAUTHORIZED");
    expect((await browser.ask("/api/v1/me")).json).toMatchObject({
      session: { state: "active", steppedUpUntil: new Date(Date.now() + 300_000).toISOString() },
    });
    expect((await browser.ask(`/api/v1/merchants/merchant/${merchantId}/invoices`)).status).toBe(200);
    const session = await sessionOf(browser);
    const [entry, ...more] = await db
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.target, String(session?.id)), eq(auditEvents.action, "session.stepped_up")));
    expect([entry?.after, more]).toEqual(['{"factor":"TOTP","wasPending":true}', []]);
  });

  it("is the only kind of session that accepts a second factor", async () => {
    const { browser, secret } = await appHolder();
    expect((await browser.post(`${SECOND_FACTOR}/start`)).json).toEqual({ factors: [], passkey: null });
    const refused = expectRefusal(await give(browser, appCode(secret)), 422, "FACTOR_NOT_AVAILABLE");
    expect(refused.factors).toEqual([]);
  });

  it("accepts no factor that its user does not have", async () => {
    const { email } = await mailHolder();
    const browser = await pendingBrowser(email);
    for (const code of ["012345", "ABCDE-FGHJK"])
      expect(expectRefusal(await give(browser, code), 422, "FACTOR_NOT_AVAILABLE").factors).toEqual(["email_code"]);
    const { email: other } = await appHolder();
    expectRefusal(await give(await pendingBrowser(other), "01234567"), 422, "FACTOR_NOT_AVAILABLE");
    expect(await failuresOf(other)).toEqual([]);
  });
});

describe("a code from the authenticator app", () => {
  it.each([
    [-2, 401],
    [-1, 200],
    [0, 200],
    [1, 200],
    [2, 401],
  ])("for the time step %i from now is answered with %i", async (away, status) => {
    const { email, secret } = await appHolder();
    passTime(120_000);
    expect((await give(await pendingBrowser(email), appCode(secret, away))).status).toBe(status);
  });

  it("works once, and no code of an earlier step works after it", async () => {
    const { email, secret } = await appHolder();
    passTime(120_000);
    const code = appCode(secret);
    expect((await give(await pendingBrowser(email), code)).status).toBe(200);
    const next = await pendingBrowser(email);
    for (const used of [code, appCode(secret, -1)]) expectRefusal(await give(next, used), 401, "INVALID_CODE");
    passTime(30_000);
    expectRefusal(await give(next, code), 401, "INVALID_CODE");
    expect((await give(next, appCode(secret))).status).toBe(200);
  });

  it("works once when many sessions send it at once", async () => {
    const { email, secret } = await appHolder();
    const browsers = await pendingBrowsers(email, 8);
    const answers = await Promise.all(browsers.map((browser) => give(browser, appCode(secret))));
    expect(statuses(answers)).toEqual([200, ...new Array(7).fill(401)]);
    for (const answer of answers.filter(({ status }) => status === 401)) expectRefusal(answer, 401, "INVALID_CODE");
    const active = await Promise.all(browsers.map(async (browser) => (await browser.ask("/api/v1/me")).status));
    expect(active.sort()).toEqual([200, ...new Array(7).fill(403)]);
  });

  it("gives one new token when one session sends it many times at once", async () => {
    const { email, secret } = await appHolder();
    const browser = await pendingBrowser(email);
    const answers = await Promise.all(Array.from({ length: 8 }, () => give(browser, appCode(secret))));
    expect(statuses(answers)).toEqual([200, ...new Array(7).fill(401)]);
    expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toHaveLength(1);
    expect((await browser.ask("/api/v1/me")).status).toBe(200);
  });
});

describe("a session's token", () => {
  it("is replaced once when three factors are sent at once; the other two requests are answered as not signed in", async () => {
    const { email, secret, backupCodes: codes } = await appHolder();
    const browser = await pendingBrowser(email);
    const answers = await Promise.all([appCode(secret), codes[0], codes[1]].map((code) => give(browser, code)));
    expect(statuses(answers)).toEqual([200, 401, 401]);
    for (const answer of answers.filter(({ status }) => status === 401)) expectRefusal(answer, 401, "UNAUTHORIZED");
    // The backup codes in the refused requests are not used up.
    const used = await db
      .select()
      .from(backupCodes)
      .where(eq(backupCodes.userId, (await userOf(email)).id));
    expect(used.filter(({ usedAtMs }) => usedAtMs !== null).length).toBeLessThanOrEqual(1);
  });
});

describe("a backup code", () => {
  it("works once, however it is typed", async () => {
    const { email, backupCodes: codes } = await appHolder();
    const [code = "", second = ""] = codes;
    const typed = ` ${code.toLowerCase().replace("-", " ")} `;
    expect((await give(await pendingBrowser(email), typed, "backup_code")).status).toBe(200);
    const next = await pendingBrowser(email);
    for (const used of [code, typed]) expectRefusal(await give(next, used, "backup_code"), 401, "INVALID_CODE");
    expect((await give(next, second)).status).toBe(200);
    expect((await next.ask("/api/v1/me")).json).toMatchObject({ factors: { backupCodesLeft: 8 } });
  });

  it("works once when many sessions send it at once", async () => {
    const { email, backupCodes: codes } = await appHolder();
    const browsers = await pendingBrowsers(email, 6);
    const answers = await Promise.all(browsers.map((browser) => give(browser, codes[3])));
    expect(statuses(answers)).toEqual([200, ...new Array(5).fill(401)]);
  });

  it("of another user is refused", async () => {
    const [mine, theirs] = [await appHolder(), await appHolder()];
    expectRefusal(await give(await pendingBrowser(theirs.email), mine.backupCodes[0]), 401, "INVALID_CODE");
  });
});

describe("an emailed code as the second factor", () => {
  it("is required once it is switched on, emailed on request, and valid only for its session", async () => {
    const { email, browser: first } = await mailHolder();
    expect((await first.ask("/api/v1/me")).json).toMatchObject({ factors: { emailOtp: true } });
    const [browser, other] = [await pendingBrowser(email), await pendingBrowser(email)];
    const started = await browser.post(`${SECOND_FACTOR}/start`, {});
    expect([started.status, started.json]).toEqual([202, { factors: ["email_code"], passkey: null }]);
    const code = await mailedCode(email);
    expect(started.text).not.toContain(code);
    await other.post(`${SECOND_FACTOR}/start`);
    expectRefusal(await give(other, code), 401, "INVALID_CODE");
    expect((await give(browser, code)).json).toMatchObject({ state: "active" });
    expectRefusal(await give(other, code), 401, "INVALID_CODE");
    expect((await give(other, await mailedCode(email))).status).toBe(200);
  });

  it("differs from the code that signed in", async () => {
    const { email } = await mailHolder();
    const browser = await pendingBrowser(email);
    expectRefusal(await give(browser, await mailedCode(email)), 401, "INVALID_CODE");
  });

  it("allows 5 tries, and works only once in parallel requests", async () => {
    const { email } = await mailHolder();
    const browser = await pendingBrowser(email);
    await browser.post(`${SECOND_FACTOR}/start`);
    const code = await mailedCode(email);
    const wrong = code === "00000000" ? "11111111" : "00000000";
    for (let tries = 0; tries < 5; tries++) expectRefusal(await give(browser, wrong), 401, "INVALID_CODE");
    expectRefusal(await give(browser, code), 401, "INVALID_CODE");
    await browser.post(`${SECOND_FACTOR}/start`);
    const next = await mailedCode(email);
    const answers = await Promise.all([1, 2, 3].map(() => give(browser, next)));
    expect(statuses(answers)).toEqual([200, 401, 401]);
  });

  it("is switched on and off after a step-up, and each switch writes one audit entry", async () => {
    const { email, browser } = await newcomer();
    const { id } = await userOf(email);
    const entries = async () =>
      (await db.select().from(auditEvents).where(eq(auditEvents.target, id)))
        .map(({ action }) => action)
        .filter((action) => action.startsWith("email_otp"));
    const on = await Promise.all([1, 2, 3].map(() => browser.post(EMAIL_OTP)));
    expect(statuses(on)).toEqual([204, 204, 204]);
    expect(await entries()).toEqual(["email_otp.enabled"]);
    passTime(300_000);
    expectRefusal(await browser.ask(EMAIL_OTP, { method: "DELETE" }), 403, "STEP_UP_REQUIRED");
    await browser.post(`${STEP_UP}/start`);
    await browser.post(`${STEP_UP}/verify`, { code: await mailedCode(email) });
    const off = await Promise.all([1, 2].map(() => browser.ask(EMAIL_OTP, { method: "DELETE" })));
    expect(statuses(off)).toEqual([204, 204]);
    expect((await entries()).sort()).toEqual(["email_otp.disabled", "email_otp.enabled"]);
    expect((await signIn(newBrowser(), email)).json).toMatchObject({ state: "active" });
  });
});

describe("guessing a second factor", () => {
  const guess = async (browser: Browser, secret: string, times: number) => {
    for (let n = 0; n < times; n++) expectRefusal(await give(browser, wrongCode(secret)), 401, "INVALID_CODE");
  };
  const isLocked = async (answer: Answer, seconds: number) => {
    expectRefusal(answer, 429, "TOO_MANY_ATTEMPTS");
    expect(answer.headers.get("retry-after")).toBe(String(seconds));
  };

  it("is blocked after 10 wrong guesses, in all new sessions of the network, until 15 minutes after the first guess", async () => {
    const { email, browser: active, secret, backupCodes: codes } = await appHolder();
    const browser = await pendingBrowser(email);
    await guess(browser, secret, 7);
    passTime(60_000);
    expectRefusal(await give(browser, "ABCDE-FGHJK"), 401, "INVALID_CODE");
    await guess(browser, secret, 2);
    await isLocked(await give(browser, appCode(secret)), 840);
    await isLocked(await give(await pendingBrowser(email), codes[0]), 840);
    // A session that passed a second factor before is not blocked, because it has a separate count.
    const stepUp = (code: string) => active.post(`${STEP_UP}/verify`, { code });
    expectRefusal(await stepUp(wrongCode(secret)), 401, "INVALID_CODE");
    expect((await stepUp(appCode(secret))).status).toBe(200);
    passTime(839_999);
    await isLocked(await give(browser, appCode(secret)), 1);
    passTime(1);
    expect((await give(browser, appCode(secret))).status).toBe(200);
  });

  it("is limited to 10 attempts, even in parallel requests", async () => {
    const { email, secret } = await appHolder();
    const browsers = await pendingBrowsers(email, 4);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const browser = browsers[n % 4];
        if (browser === undefined) throw new Error("no browser");
        return give(browser, wrongCode(secret));
      }),
    );
    expect(statuses(answers)).toEqual([...new Array(10).fill(401), ...new Array(14).fill(429)]);
  });

  it("continues at the same count after a correct code, which is not counted itself", async () => {
    const { email, secret, backupCodes: codes } = await appHolder();
    const browser = await pendingBrowser(email);
    await guess(browser, secret, 9);
    for (const code of codes.slice(0, 4)) expect((await give(await pendingBrowser(email), code)).status).toBe(200);
    expect(await failuresOf(email)).toEqual([9, 9, 9]);
    await guess(browser, secret, 1);
    await isLocked(await give(await pendingBrowser(email), codes[4]), 900);
  });

  it("in a session that has given a factor is counted and blocked only in that session", async () => {
    const { email, browser: active, secret } = await appHolder();
    const verify = (code: string) => active.post(`${STEP_UP}/verify`, { code });
    for (let n = 0; n < 10; n++) expectRefusal(await verify(wrongCode(secret)), 401, "INVALID_CODE");
    await isLocked(await verify(appCode(secret)), 900);
    expect(await failuresOf(email)).toEqual([]);
    expect((await give(await pendingBrowser(email), appCode(secret))).status).toBe(200);
  });

  it("is blocked from every network after 100 wrong guesses a day, but never in the user's active sessions", async () => {
    const { email, browser: active, secret } = await appHolder();
    const pending = await pendingBrowser(email);
    const from = (ip: string, code: string) =>
      pending.ask(VERIFY, { method: "POST", body: { code }, headers: { "cf-connecting-ip": ip } });
    await guess(await pendingBrowser(email), secret, 10);
    await isLocked(await give(pending, appCode(secret)), 900);
    expectRefusal(await from("198.51.100.7", wrongCode(secret)), 401, "INVALID_CODE");
    await db
      .update(factorGuesses)
      .set({ failures: 100 })
      .where(like(factorGuesses.scope, `person ${(await userOf(email)).id}`));
    await isLocked(await from("198.51.100.8", appCode(secret)), 86_400);
    expect((await active.post(`${STEP_UP}/verify`, { code: appCode(secret) })).status).toBe(200);
  });

  it("blocks no user except the one whose factor is guessed", async () => {
    const [one, other] = [await appHolder(), await appHolder()];
    await guess(await pendingBrowser(one.email), one.secret, 10);
    expect((await give(await pendingBrowser(other.email), appCode(other.secret))).status).toBe(200);
  });

  it("is always counted: if the count cannot be stored, no factor is checked", async () => {
    const { email, secret, backupCodes: codes } = await appHolder();
    const browser = await pendingBrowser(email);
    const DB = new Proxy(env.DB, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (name !== "prepare") return member.bind(target);
        return (text: string) => {
          if (/^insert into "factor_guesses"/.test(text))
            throw new Error("D1_ERROR: D1 DB is overloaded. Too many requests queued.");
          return env.DB.prepare(text);
        };
      },
    });
    vi.spyOn(console, "error").mockImplementation(() => {});
    for (const code of [appCode(secret), codes[0], wrongCode(secret)]) {
      const answer = await askWith({ DB }, browser, VERIFY, { method: "POST", body: { code } });
      expectRefusal(answer, 503, "STORAGE_UNAVAILABLE");
    }
    expect((await sessionOf(browser))?.state).toBe("PENDING_2FA");
    expect(await failuresOf(email)).toEqual([]);
    expect((await give(browser, appCode(secret))).status).toBe(200);
  });
});
