import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { emailCodes, identities, sessions, users } from "../../../src/platform/db/schema/users.ts";
import { expectHeaders, expectRefusal, send, sendWith } from "../../support/access.ts";
import { freshEmail, mailedCode, newBrowser, signIn } from "../../support/browser.ts";
import { ORIGIN, seedUser } from "../../support/people.ts";

const db = openDb(env.DB);
const START = "/api/v1/auth/email/start";
const VERIFY = "/api/v1/auth/email/verify";
const ME = "/api/v1/me";

const codesOf = (email: string) => db.select().from(emailCodes).where(eq(emailCodes.emailKey, email.toLowerCase()));
const usersOf = (email: string) => db.select().from(users).where(eq(users.emailKey, email.toLowerCase()));
afterEach(() => {
  vi.restoreAllMocks();
});

const other = (code: string) => (code === "00000000" ? "11111111" : "00000000");

describe("signing in by email code:", () => {
  test("the first sign-in creates a verified account and a stepped-up session", async () => {
    const email = freshEmail("Ann.Example");
    const browser = newBrowser({ "user-agent": "A browser" });
    const sent = await browser.post(START, { email });
    expectHeaders(sent);
    expect([sent.status, sent.text]).toEqual([202, '{"status":"sent"}']);
    expect(sent.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^signin=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
    ]);
    const signedIn = await browser.post(VERIFY, { email, code: await mailedCode(email) });
    expectHeaders(signedIn);
    const [user] = await usersOf(email);
    expect([signedIn.status, signedIn.json]).toEqual([
      200,
      { state: "active", factors: [], user: { id: user?.id, email, name: null } },
    ]);
    expect(signedIn.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/),
      "signin=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
      expect.stringMatching(/^known=\d+\.[\w-]+\.[0-9a-f]{64}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/),
    ]);
    const me = await browser.ask(ME);
    expect(me.json).toMatchObject({
      id: user?.id,
      email,
      emailVerified: true,
      session: { state: "active", signedInWith: "email_code", steppedUpUntil: expect.stringMatching(/Z$/) },
    });
    const entries = await db
      .select()
      .from(auditEvents)
      .where(eq(auditEvents.actorId, String(user?.id)));
    expect(entries.map((entry) => entry.action).toSorted()).toEqual(["session.created", "user.created"]);
    expect(entries.every((entry) => entry.merchantId === null && entry.requestId !== null)).toBe(true);
  });

  test("a later sign-in finds the account by its address in upper or lower case, and marks the address as verified", async () => {
    const { email, userId } = await seedUser({ emailVerifiedAtMs: null });
    const answer = await signIn(newBrowser(), email.toUpperCase());
    expect(answer.json).toMatchObject({ state: "active", user: { id: userId, email } });
    const [user, ...more] = await usersOf(email);
    expect([user?.emailVerifiedAtMs !== null, more]).toEqual([true, []]);
  });

  test("a user with a second factor gets a pending session, which can only sign out", async () => {
    const { email } = await seedUser({ totpEnabledAtMs: Date.now() });
    const browser = newBrowser();
    const answer = await signIn(browser, email);
    expect(answer.json).toMatchObject({ state: "pending_2fa", factors: ["totp", "backup_code"] });
    expectRefusal(await browser.ask(ME), 403, "SECOND_FACTOR_REQUIRED");
    expect((await browser.post("/api/v1/auth/sign-out")).status).toBe(204);
    expectRefusal(await browser.ask(ME), 401, "UNAUTHORIZED");
  });

  test("a code works once", async () => {
    const email = freshEmail();
    const browser = newBrowser();
    await browser.post(START, { email });
    const cookie = `signin=${browser.cookies().signin}`;
    const code = await mailedCode(email);
    expect((await browser.post(VERIFY, { email, code })).status).toBe(200);
    const again = await send(VERIFY, { method: "POST", body: { email, code }, headers: { cookie, origin: ORIGIN } });
    expectRefusal(again, 401, "INVALID_CODE");
  });

  test("after five wrong codes the right one is refused", async () => {
    const email = freshEmail();
    const browser = newBrowser();
    await browser.post(START, { email });
    const code = await mailedCode(email);
    for (let i = 0; i < 5; i++)
      expectRefusal(await browser.post(VERIFY, { email, code: other(code) }), 401, "INVALID_CODE");
    expectRefusal(await browser.post(VERIFY, { email, code }), 401, "INVALID_CODE");
    expect(await usersOf(email)).toEqual([]);
  });

  test("twenty parallel guesses share five tries", async () => {
    const email = freshEmail();
    const browser = newBrowser();
    await browser.post(START, { email });
    const code = await mailedCode(email);
    await Promise.all(Array.from({ length: 20 }, () => browser.post(VERIFY, { email, code: other(code) })));
    expect(await codesOf(email)).toMatchObject([{ tries: 5 }]);
    expectRefusal(await browser.post(VERIFY, { email, code }), 401, "INVALID_CODE");
  });

  test("after four wrong codes the right one is accepted, even typed with spaces", async () => {
    const email = freshEmail();
    const browser = newBrowser();
    await browser.post(START, { email });
    const code = await mailedCode(email);
    for (let i = 0; i < 4; i++) await browser.post(VERIFY, { email, code: other(code) });
    const spaced = ` ${code.slice(0, 4)} ${code.slice(4)} `;
    expect((await browser.post(VERIFY, { email, code: spaced })).status).toBe(200);
  });

  test("a code is refused after ten minutes", async () => {
    const email = freshEmail();
    const browser = newBrowser();
    await browser.post(START, { email });
    const [row] = await codesOf(email);
    expect(row?.expiresAtMs).toBe((row?.createdAtMs ?? 0) + 10 * MINUTE_MS);
    await db
      .update(emailCodes)
      .set({ expiresAtMs: Date.now() })
      .where(eq(emailCodes.id, String(row?.id)));
    expectRefusal(await browser.post(VERIFY, { email, code: await mailedCode(email) }), 401, "INVALID_CODE");
  });

  test("another browser can neither use a code nor use up its tries", async () => {
    const email = freshEmail();
    const [mine, theirs, none] = [newBrowser(), newBrowser(), newBrowser()];
    await theirs.post(START, { email: freshEmail() });
    await mine.post(START, { email });
    const code = await mailedCode(email);
    for (const browser of [theirs, none, theirs, none, theirs, none])
      expectRefusal(await browser.post(VERIFY, { email, code }), 401, "INVALID_CODE");
    expect((await mine.post(VERIFY, { email, code })).status).toBe(200);
  });

  test("a new code replaces only the older code of the same browser", async () => {
    const email = freshEmail();
    const [mine, theirs] = [newBrowser(), newBrowser()];
    await mine.post(START, { email });
    const first = { code: await mailedCode(email), cookie: `signin=${mine.cookies().signin}`, origin: ORIGIN };
    await theirs.post(START, { email });
    const theirCode = await mailedCode(email);
    await mine.post(START, { email });
    const { code, ...headers } = first;
    expectRefusal(await send(VERIFY, { method: "POST", body: { email, code }, headers }), 401, "INVALID_CODE");
    expect((await theirs.post(VERIFY, { email, code: theirCode })).status).toBe(200);
    expect((await mine.post(VERIFY, { email, code: await mailedCode(email) })).status).toBe(200);
  });

  test("a code does not work for another address", async () => {
    const [ann, eve] = [freshEmail("ann"), freshEmail("eve")];
    const browser = newBrowser();
    await browser.post(START, { email: eve });
    const code = await mailedCode(eve);
    expectRefusal(await browser.post(VERIFY, { email: ann, code }), 401, "INVALID_CODE");
  });

  test("a code whose row is moved to another address does not work there", async () => {
    const [ann, eve] = [freshEmail("ann"), freshEmail("eve")];
    const browser = newBrowser();
    await browser.post(START, { email: eve });
    await db.update(emailCodes).set({ email: ann, emailKey: ann }).where(eq(emailCodes.emailKey, eve));
    expectRefusal(await browser.post(VERIFY, { email: ann, code: await mailedCode(eve) }), 401, "INVALID_CODE");
  });

  test("five parallel requests with one code open one session", async () => {
    const email = freshEmail();
    const browser = newBrowser();
    await browser.post(START, { email });
    const code = await mailedCode(email);
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser.post(VERIFY, { email, code })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
    const [user] = await usersOf(email);
    expect(
      await db
        .select()
        .from(sessions)
        .where(eq(sessions.userId, user?.id ?? "usr_")),
    ).toHaveLength(1);
  });

  test("parallel first sign-ins with one address create one account", async () => {
    const email = freshEmail();
    const browsers = Array.from({ length: 4 }, () => newBrowser());
    const codes: string[] = [];
    for (const browser of browsers) {
      await browser.post(START, { email });
      codes.push(await mailedCode(email));
    }
    const answers = await Promise.all(browsers.map((browser, i) => browser.post(VERIFY, { email, code: codes[i] })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await usersOf(email)).toHaveLength(1);
    const ids = answers.map(({ json }) => Reflect.get(Object(json?.user), "id"));
    expect(new Set(ids).size).toBe(1);
  });

  test.each([
    [START, { email: "nobody" }],
    [START, { email: "ann@example.com\r\nBcc: eve@example.com" }],
    [START, { email: `${"a".repeat(320)}@example.com` }],
    [START, { email: "ann@example.com", code: "1" }],
    [START, {}],
    [VERIFY, { email: "ann@example.com", code: "1234567" }],
    [VERIFY, { email: "ann@example.com", code: 12345678 }],
    [VERIFY, { email: "ann@example.com" }],
  ])("%s refuses %j", async (path, body) => {
    expectRefusal(await newBrowser().post(path, body), 400, "VALIDATION_FAILED");
  });

  test("a page from another origin can neither start nor finish a sign-in; a request without an origin can", async () => {
    const email = freshEmail();
    const headers = { origin: "https://evil.example" };
    expectRefusal(await send(START, { method: "POST", body: { email }, headers }), 403, "ORIGIN_NOT_ALLOWED");
    const body = { email, code: "00000000" };
    expectRefusal(await send(VERIFY, { method: "POST", body, headers }), 403, "ORIGIN_NOT_ALLOWED");
    expect(await codesOf(email)).toEqual([]);
    expect((await send(START, { method: "POST", body: { email } })).status).toBe(202);
  });
});

describe("whether an address has an account", () => {
  test("is not revealed: status, body and headers are the same for a known and an unknown address", async () => {
    const known = (await seedUser({ totpEnabledAtMs: Date.now() })).email;
    const shapes = await Promise.all(
      [known, freshEmail()].map(async (email) => {
        const browser = newBrowser();
        const started = await browser.post(START, { email });
        const wrong = await browser.post(VERIFY, { email, code: other(await mailedCode(email)) });
        return [started, wrong].map(({ status, text, headers }) => ({
          status,
          text: text.replaceAll(/req_\w{26}/g, ""),
          headers: [...headers].map(([name, value]) => [name, value.replace(/req_\w{26}|(?<=^signin=)[\w-]+/, "")]),
        }));
      }),
    );
    expect(shapes[0]).toEqual(shapes[1]);
  });
});

describe("the limits on emails", () => {
  test("allow one caller 5 an hour to one address, with an account or not, and say when to retry", async () => {
    const known = (await seedUser()).email;
    for (const [email, ip] of [
      [known, "203.0.113.1"],
      [freshEmail(), "203.0.113.2"],
    ] as const) {
      const browser = newBrowser({ "cf-connecting-ip": ip });
      for (let i = 0; i < 5; i++) expect((await browser.post(START, { email })).status).toBe(202);
      const refused = await browser.post(START, { email: email.toUpperCase() });
      expectRefusal(refused, 429, "RATE_LIMITED");
      const retryAfter = Number(refused.headers.get("retry-after"));
      expect(retryAfter).toBeGreaterThan(3_500);
      expect(retryAfter).toBeLessThanOrEqual(3_600);
      expect((await newBrowser({ "cf-connecting-ip": "203.0.113.9" }).post(START, { email })).status).toBe(202);
      await db
        .update(emailCodes)
        .set({ createdAtMs: sql`created_at_ms - ${HOUR_MS}` })
        .where(eq(emailCodes.ip, ip));
      expect((await browser.post(START, { email })).status).toBe(202);
    }
  });

  test("allow one caller 20 an hour in all, even in parallel requests; IPv6 callers are counted by their /64", async () => {
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        newBrowser({ "cf-connecting-ip": `2001:db8:1:2::${i}` }).post(START, { email: freshEmail() }),
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(20);
    expect(answers.filter(({ json }) => json?.code === "RATE_LIMITED")).toHaveLength(4);
    const neighbour = newBrowser({ "cf-connecting-ip": "2001:db8:1:3::1" });
    expect((await neighbour.post(START, { email: freshEmail() })).status).toBe(202);
  });

  test("allow 30 a day to one address from all networks, even in parallel requests, with an account or not", async () => {
    for (const email of [(await seedUser()).email, freshEmail()]) {
      const asked = (n: number) => newBrowser({ "cf-connecting-ip": `198.51.100.${n}` }).post(START, { email });
      const answers = await Promise.all(Array.from({ length: 36 }, (_, n) => asked(n)));
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(30);
      for (const refused of answers.filter(({ status }) => status !== 202)) {
        expectRefusal(refused, 429, "RATE_LIMITED");
        expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(86_000);
      }
      const yesterday = { createdAtMs: sql`created_at_ms - ${24 * HOUR_MS}` };
      await db.update(emailCodes).set(yesterday).where(eq(emailCodes.emailKey, email));
      expect((await asked(99)).status).toBe(202);
    }
  });

  test("do not block a browser that has signed in to the address before, even if it has signed out", async () => {
    const email = freshEmail();
    const ip = { "cf-connecting-ip": "203.0.113.77" };
    const mine = newBrowser(ip);
    expect((await signIn(mine, email)).status).toBe(200);
    await mine.post("/api/v1/auth/sign-out");
    expect(mine.cookies().session).toBeUndefined();
    // Strangers use up three limits: per address, per address and network, and per network.
    for (let n = 0; n < 40; n++) {
      const stranger = newBrowser(n < 10 ? ip : { "cf-connecting-ip": `192.0.2.${n}` });
      await stranger.post(START, { email });
    }
    for (let n = 0; n < 20; n++) await newBrowser(ip).post(START, { email: freshEmail() });
    expectRefusal(await newBrowser(ip).post(START, { email }), 429, "RATE_LIMITED");
    expectRefusal(await newBrowser({ "cf-connecting-ip": "192.0.2.99" }).post(START, { email }), 429, "RATE_LIMITED");
    for (let n = 0; n < 7; n++) expect((await mine.post(START, { email: email.toUpperCase() })).status).toBe(202);
    expect((await mine.post(VERIFY, { email, code: await mailedCode(email) })).status).toBe(200);
    // For another address this browser counts as unknown.
    expectRefusal(await mine.post(START, { email: freshEmail() }), 429, "RATE_LIMITED");
    expect((await codesOf(email)).filter(({ isCounted }) => isCounted)).toHaveLength(30);
  });

  test.each([undefined, "127.0.0.1", "::1"])("do not apply to a developer at %s", async (ip) => {
    const email = freshEmail();
    const browser = newBrowser(ip === undefined ? {} : { "cf-connecting-ip": ip });
    for (let i = 0; i < 7; i++) expect((await browser.post(START, { email })).status).toBe(202);
  });
});

describe("an identity that waits for proof of the mailbox", () => {
  const start = async (email: string, subject: string) => {
    const browser = newBrowser();
    await browser.post(START, { email });
    const identity = JSON.stringify({ provider: "github", subject, email });
    await db.update(emailCodes).set({ identity }).where(eq(emailCodes.emailKey, email));
    return browser;
  };

  test("is linked by the sign-in with the emailed code", async () => {
    const { email, userId } = await seedUser();
    const subject = crypto.randomUUID();
    const browser = await start(email, subject);
    expect((await browser.post(VERIFY, { email, code: await mailedCode(email) })).status).toBe(200);
    expect((await browser.ask(ME)).json?.identities).toEqual([
      { provider: "github", email, linkedAt: expect.stringMatching(/Z$/) },
    ]);
    const entries = await db.select().from(auditEvents).where(eq(auditEvents.actorId, userId));
    expect(entries.map((entry) => entry.action)).toContain("identity.linked");
  });

  test("is refused when it is another account's, and nobody is signed in", async () => {
    const owner = await seedUser();
    const subject = crypto.randomUUID();
    await db.insert(identities).values({ provider: "github", subject, userId: owner.userId, createdAtMs: 1 });
    const email = freshEmail();
    const browser = await start(email, subject);
    expectRefusal(await browser.post(VERIFY, { email, code: await mailedCode(email) }), 409, "IDENTITY_TAKEN");
    expect([await usersOf(email), browser.cookies().session]).toEqual([[], undefined]);
  });
});

describe("the secrets of a sign-in", () => {
  test("(code, nonce and session token) are in no table and no log line, and the stored token hash cannot sign in", async () => {
    const email = freshEmail();
    const browser = newBrowser();
    const lines: unknown[] = [];
    for (const level of ["debug", "info", "log", "warn", "error"] as const)
      vi.spyOn(console, level).mockImplementation((...words) => void lines.push(...words));
    await browser.post(START, { email });
    const { signin } = browser.cookies();
    const code = await mailedCode(email);
    await browser.post(VERIFY, { email, code });
    const { session } = browser.cookies();
    const names = await env.DB.prepare(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '_cf_%'",
    ).all<{ name: string }>();
    const dump: string[] = [];
    for (const { name } of names.results)
      dump.push(JSON.stringify((await env.DB.prepare(`select * from "${name}"`).all()).results));
    const text = dump.join("\n");
    expect(text).toContain(sha256Hex(String(session)));
    const logText = lines.map(String).join("\n");
    for (const secret of [code, signin, session]) expect(`${text}\n${logText}`).not.toContain(secret);
    const copied = { cookie: `session=${sha256Hex(String(session))}` };
    expectRefusal(await send(ME, { headers: copied }), 401, "UNAUTHORIZED");
    expect((await send(ME, { headers: { cookie: `session=${session}` } })).status).toBe(200);
  });

  test("are not created without CODE_PEPPER, while the rest of the API works", async () => {
    const changes = { CODE_PEPPER: "" };
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const email = freshEmail();
    expectRefusal(await sendWith(changes, START, { method: "POST", body: { email } }), 500, "INTERNAL_ERROR");
    expect(await codesOf(email)).toEqual([]);
    expect(logged).toHaveBeenCalledWith(expect.stringContaining("CODE_PEPPER must be"));
    const { headers } = await seedUser();
    expect((await sendWith(changes, ME, { headers })).status).toBe(200);
  });
});
