// Setting up an authenticator app, its backup codes, and what a copy of the database reveals about both (security.md 1).
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { authenticateUser } from "../../../src/accounts/auth/authenticate-session.ts";
import { confirmTotp } from "../../../src/accounts/totp/confirm-totp.ts";
import { totpDependencies } from "../../../src/accounts/totp/dependencies.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { type Keyring, parseKeyring } from "../../../src/lib/keyring.ts";
import { unseal } from "../../../src/lib/seal.ts";
import { requestSleep } from "../../../src/lib/sleep.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { backupCodes, sessions, users } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal } from "../../support/access.ts";
import { type Browser, freshEmail, mailedCode, newBrowser, signIn } from "../../support/browser.ts";
import {
  appCode,
  appHolder,
  begin,
  codesIn,
  newcomer,
  passTime,
  pendingBrowser,
  SECOND_FACTOR,
  STEP_UP,
  stopClock,
  TOTP,
  userOf,
  wrongCode,
} from "../../support/factors.ts";

const db = openDb(env.DB);
const CONFIRM = `${TOTP}/confirm`;
const CODES = `${TOTP}/backup-codes`;

const codesOf = async (email: string) =>
  db
    .select()
    .from(backupCodes)
    .where(eq(backupCodes.userId, (await userOf(email)).id));
const actionsOf = async (email: string, action: (typeof auditEvents.$inferSelect)["action"]) =>
  db
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.actorId, (await userOf(email)).id), eq(auditEvents.action, action)));
const factorsOf = async (browser: Browser) => (await browser.ask("/api/v1/me")).json?.factors;

beforeEach(stopClock);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("setting up an authenticator app", () => {
  it("gives a secret that does not count as a factor until it is confirmed with a code", async () => {
    const { email, browser } = await newcomer();
    const begun = await browser.post(TOTP);
    expect([begun.status, begun.json]).toEqual([
      200,
      {
        secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
        otpauthUri: expect.stringMatching(/^otpauth:\/\/totp\/Edgetill:.+[?&]secret=/),
      },
    ]);
    expect(begun.headers.get("cache-control")).toBe("no-store");
    expect(await factorsOf(browser)).toMatchObject({ totp: false, backupCodesLeft: 0 });
    expect((await signIn(newBrowser(), email)).json).toMatchObject({ state: "active", factors: [] });
  });

  it("creates a new secret when it is started again, and only the last one can be confirmed", async () => {
    const { browser } = await newcomer();
    const [first, second] = [await begin(browser), await begin(browser)];
    expect(second).not.toBe(first);
    expectRefusal(await browser.post(CONFIRM, { code: appCode(first) }), 401, "INVALID_CODE");
    expect((await browser.post(CONFIRM, { code: appCode(second) })).status).toBe(200);
  });

  it("is confirmed by a code, which gives ten backup codes, a new token, a step-up and audit entries", async () => {
    const { email, browser } = await newcomer();
    const secret = await begin(browser);
    const before = browser.cookies();
    const confirmed = await browser.post(CONFIRM, { code: appCode(secret) });
    expect(Object.keys(confirmed.json ?? {})).toEqual(["backupCodes"]);
    const codes = codesIn(confirmed);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
    expect(browser.cookies().session).not.toBe(before.session);
    const old = newBrowser({ cookie: `session=${before.session}` });
    expectRefusal(await old.ask("/api/v1/me"), 401, "UNAUTHORIZED");
    const me = await browser.ask("/api/v1/me");
    expect(me.json).toMatchObject({
      factors: { totp: true, emailOtp: false, backupCodesLeft: 10 },
      session: { steppedUpUntil: new Date(Date.now() + 300_000).toISOString() },
    });
    expect(await actionsOf(email, "totp.enabled")).toMatchObject([{ target: (await userOf(email)).id }]);
    expect(await actionsOf(email, "session.stepped_up")).toMatchObject([{ after: '{"factor":"TOTP"}' }]);
    expectRefusal(await browser.post(TOTP), 409, "TOTP_ALREADY_ENABLED");
    expectRefusal(await browser.post(CONFIRM, { code: appCode(secret, 1) }), 409, "TOTP_ALREADY_ENABLED");
    // The code that confirmed the set-up cannot be used again.
    const again = await pendingBrowser(email);
    expectRefusal(await again.post(`${SECOND_FACTOR}/verify`, { code: appCode(secret) }), 401, "INVALID_CODE");
  });

  it("ends the user's other sessions, because no code from the app was given in them", async () => {
    const { email, browser } = await newcomer();
    const other = newBrowser();
    await signIn(other, email);
    const secret = await begin(browser);
    expect((await other.ask("/api/v1/me")).status).toBe(200);
    expect((await browser.post(`${TOTP}/confirm`, { code: appCode(secret) })).status).toBe(200);
    expectRefusal(await other.ask("/api/v1/me"), 401, "UNAUTHORIZED");
    expect((await browser.ask("/api/v1/me")).status).toBe(200);
  });

  it("is not confirmed by a wrong code, or without a secret to confirm", async () => {
    const { email, browser } = await newcomer();
    expectRefusal(await browser.post(CONFIRM, { code: "000000" }), 409, "TOTP_NOT_ENABLED");
    const secret = await begin(browser);
    for (const code of [wrongCode(secret), appCode(secret, -2), appCode(secret, 2)])
      expectRefusal(await browser.post(CONFIRM, { code }), 401, "INVALID_CODE");
    expectRefusal(await browser.post(CONFIRM, { code: "12345" }), 400, "VALIDATION_FAILED");
    expect([(await userOf(email)).totpEnabledAtMs, await codesOf(email)]).toEqual([null, []]);
  });

  it("is not confirmed by a session that was ended or got a new token during the request", async () => {
    for (const change of [{ revokedAtMs: Date.now() }, { tokenHash: sha256Hex(crypto.randomUUID()) }]) {
      const { email, browser } = await newcomer();
      const code = appCode(await begin(browser));
      const token = String(browser.cookies().session);
      const given = { db, nowMs: Date.now(), sleep: requestSleep(), background: () => {} };
      const known = await authenticateUser(db, { ...given, token, mayOweFactor: false }, []);
      if (!known.ok) throw new Error(known.error.code);
      const { principal } = known.value;
      await db.update(sessions).set(change).where(eq(sessions.id, principal.session.id));
      const trail = { actor: { kind: "USER", id: principal.user.id }, ip: null, requestId: null } as const;
      const confirmed = await confirmTotp(totpDependencies(env, given), { principal, code, trail });
      expect(confirmed).toEqual({ ok: false, error: { code: "UNAUTHORIZED" } });
      expect([(await userOf(email)).totpEnabledAtMs, await codesOf(email)]).toEqual([null, []]);
    }
  });

  it("is confirmed once by parallel confirmations from two sessions", async () => {
    const { email, browser } = await newcomer();
    const other = newBrowser();
    await signIn(other, email);
    const code = appCode(await begin(browser));
    const answers = await Promise.all(
      [browser, browser, browser, other, other].map((one) => one.post(CONFIRM, { code })),
    );
    const [won, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    for (const { status } of answers.filter((each) => each !== won)) expect([401, 409]).toContain(status);
    const stored = await codesOf(email);
    expect(stored).toHaveLength(10);
    expect(await actionsOf(email, "totp.enabled")).toHaveLength(1);
    // The stored backup codes are those in the successful response.
    const pending = await pendingBrowser(email);
    if (won === undefined) throw new Error("no confirmation succeeded");
    const given = await pending.post(`${SECOND_FACTOR}/verify`, { code: codesIn(won)[0] });
    expect(given.status).toBe(200);
  });
});

describe("removing an authenticator app", () => {
  it("deletes its secret and its backup codes, and is recorded in the audit log", async () => {
    const { email, browser } = await appHolder();
    expect((await browser.ask(TOTP, { method: "DELETE" })).status).toBe(204);
    expect(await userOf(email)).toMatchObject({ totpSecret: null, totpEnabledAtMs: null, totpLastStep: null });
    expect(await codesOf(email)).toEqual([]);
    expect(await actionsOf(email, "totp.disabled")).toHaveLength(1);
    expect((await signIn(newBrowser(), email)).json).toMatchObject({ state: "active" });
  });

  it("requires the app or a backup code; an emailed code is not enough", async () => {
    const { email, browser, secret } = await appHolder();
    passTime(300_000);
    const refused = expectRefusal(await browser.ask(TOTP, { method: "DELETE" }), 403, "STEP_UP_REQUIRED");
    expect(refused.factors).toEqual(["totp", "backup_code"]);
    // A session that has just passed its second factor by email is not enough either.
    await db.update(users).set({ emailOtpEnabledAtMs: 1 }).where(eq(users.emailKey, email));
    const mailed = await pendingBrowser(email);
    await mailed.post(`${SECOND_FACTOR}/start`);
    expect((await mailed.post(`${SECOND_FACTOR}/verify`, { code: await mailedCode(email) })).status).toBe(200);
    expectRefusal(await mailed.ask(TOTP, { method: "DELETE" }), 403, "STEP_UP_REQUIRED");
    expect((await browser.post(`${STEP_UP}/verify`, { code: appCode(secret) })).status).toBe(200);
    expect((await browser.ask(TOTP, { method: "DELETE" })).status).toBe(204);
  });

  it("succeeds once in parallel requests, and is refused without an app", async () => {
    const { email, browser } = await appHolder();
    const answers = await Promise.all([1, 2, 3].map(() => browser.ask(TOTP, { method: "DELETE" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409].sort());
    expect(await actionsOf(email, "totp.disabled")).toHaveLength(1);
    const { browser: none } = await newcomer();
    expectRefusal(await none.ask(TOTP, { method: "DELETE" }), 409, "TOTP_NOT_ENABLED");
  });
});

describe("backup codes", () => {
  it("are all replaced at once: the old ones stop working, and the new ones work", async () => {
    const { email, browser, backupCodes: old } = await appHolder();
    const replaced = await browser.post(CODES);
    expect(replaced.status).toBe(200);
    const fresh = codesIn(replaced);
    expect(new Set([...old, ...fresh]).size).toBe(20);
    expect(await codesOf(email)).toHaveLength(10);
    expect(await actionsOf(email, "totp.backup_codes_replaced")).toHaveLength(1);
    const pending = await pendingBrowser(email);
    expectRefusal(await pending.post(`${SECOND_FACTOR}/verify`, { code: old[0] }), 401, "INVALID_CODE");
    expect((await pending.post(`${SECOND_FACTOR}/verify`, { code: fresh[0] })).status).toBe(200);
  });

  it("are refused to a user without an app", async () => {
    const { email, browser } = await newcomer();
    expectRefusal(await browser.post(CODES), 409, "TOTP_NOT_ENABLED");
    expect(await codesOf(email)).toEqual([]);
  });
});

describe("a copy of the database", () => {
  const keysOf = (text: string | undefined): Keyring => {
    const keys = parseKeyring("TEST", text);
    if (!keys.ok) throw new Error(keys.error);
    return keys.value;
  };

  it("contains a secret that can be decrypted only with the deployment's key and for its own user", async () => {
    const { email, secret } = await appHolder();
    const { id, totpSecret: sealed } = await userOf(email);
    const ours = keysOf(env.SECRETS_AES_KEY);
    const theirs = keysOf("test:OTk5NDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjA=");
    expect(await unseal(ours, `totp:${id}`, String(sealed))).toBe(secret);
    for (const opened of [
      await unseal(ours, "totp:usr_01ARZ3NDEKTSV4RRFFQ69G5FAV", String(sealed)),
      await unseal(ours, id, String(sealed)),
      await unseal(theirs, `totp:${id}`, String(sealed)),
    ])
      expect(opened).toBeUndefined();
  });

  it("does not let anyone use another user's factor: a secret and backup codes moved to another user do not work", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const [mine, theirs] = [await appHolder(), await appHolder()];
    const { totpSecret } = await userOf(mine.email);
    await db.update(users).set({ totpSecret, totpLastStep: null }).where(eq(users.emailKey, theirs.email));
    const { id: userId } = await userOf(theirs.email);
    await db.insert(backupCodes).values((await codesOf(mine.email)).map((row) => ({ ...row, userId })));
    const pending = await pendingBrowser(theirs.email);
    const verify = (code: unknown) => pending.post(`${SECOND_FACTOR}/verify`, { code });
    expectRefusal(await verify(appCode(mine.secret)), 500, "INTERNAL_ERROR");
    expectRefusal(await verify(mine.backupCodes[0]), 401, "INVALID_CODE");
    // Background work of tests in other files may log in this process as well.
    expect(log.mock.calls.filter(([line]) => String(line).includes("cannot be decrypted"))).toHaveLength(1);
  });

  it("contains HMACs that do not work as backup codes, and no plain hash of a code", async () => {
    const { email, backupCodes: codes } = await appHolder();
    const rows = await codesOf(email);
    const pending = await pendingBrowser(email);
    for (const { mac } of rows.slice(0, 3))
      expectRefusal(
        await pending.post(`${SECOND_FACTOR}/verify`, { code: mac.slice(0, 60), method: "backup_code" }),
        401,
        "INVALID_CODE",
      );
    const macs = rows.map(({ mac }) => mac);
    for (const code of codes) {
      for (const text of [code, code.replace("-", "")]) expect(macs).not.toContain(sha256Hex(text));
    }
  });

  it("contains no secret, code or token in plain text, and neither does any log line", async () => {
    const logs = (["log", "info", "warn", "error", "debug"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => {}),
    );
    const { email, browser, secret, backupCodes: codes } = await appHolder();
    const tokens = [browser.cookies().session];
    const pending = await pendingBrowser(email);
    tokens.push(pending.cookies().session);
    await pending.post(`${SECOND_FACTOR}/verify`, { code: wrongCode(secret) });
    await pending.post(`${SECOND_FACTOR}/verify`, { code: codes[0] });
    await pending.post(`${STEP_UP}/verify`, { code: appCode(secret) });
    tokens.push(pending.cookies().session);
    const plain = freshEmail();
    const other = newBrowser();
    await signIn(other, plain);
    await other.post(`${STEP_UP}/start`);
    const mailed = await mailedCode(plain);
    await other.post(`${STEP_UP}/verify`, { code: mailed });
    tokens.push(other.cookies().session);
    const { results: tables } = await env.DB.prepare("select name from sqlite_master where type = 'table'").all();
    let stored = "";
    for (const { name } of tables)
      if (!/^(_cf|sqlite_)/.test(String(name)))
        stored += JSON.stringify((await env.DB.prepare(`select * from "${name}"`).all()).results);
    expect(stored).toContain(email);
    const logged = JSON.stringify(logs.flatMap((log) => log.mock.calls));
    const canaries = [secret, mailed, ...tokens, ...codes, ...codes.map((code) => code.replace("-", ""))];
    expect(new Set(canaries).size).toBe(canaries.length);
    for (const canary of canaries) {
      expect(canary).toMatch(/./);
      expect(stored).not.toContain(canary);
      expect(logged).not.toContain(canary);
    }
  });
});
