import { env } from "cloudflare:workers";
import { and, eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import type { UserId } from "../../../src/lib/ids.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { backupCodes, identities, passkeys, sessions, users } from "../../../src/platform/db/schema/users.ts";
import { expectHeaders, expectRefusal, seedKey, seedMerchant, send } from "../../support/access.ts";
import { freshEmail, newBrowser, signIn } from "../../support/browser.ts";
import { seedSession, seedUser } from "../../support/people.ts";
import { freshId } from "../../support/worker-merchant.ts";

const db = openDb(env.DB);
const ME = "/api/v1/me";
const SESSIONS = `${ME}/sessions`;
const SIGN_OUT = "/api/v1/auth/sign-out";

const tokenHashOf = (headers: Readonly<Record<string, string>>) => sha256Hex(String(headers.cookie?.split("=")[1]));
const ageSession = (headers: Readonly<Record<string, string>>, changes: Partial<typeof sessions.$inferInsert>) =>
  db
    .update(sessions)
    .set(changes)
    .where(eq(sessions.tokenHash, tokenHashOf(headers)));
const statusOf = async (headers: Readonly<Record<string, string>>) => (await send(ME, { headers })).status;
const actionsOf = async (userId: UserId) => {
  const entries = await db.select().from(auditEvents).where(eq(auditEvents.actorId, userId));
  return entries.map((entry) => entry.action);
};
const listOf = async (headers: Readonly<Record<string, string>>, query = "") => {
  const answer = await send(`${SESSIONS}${query}`, { headers });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text);
};

describe("a session lives", () => {
  test("for 7 days after its last use", async () => {
    const { headers } = await seedUser();
    await ageSession(headers, {
      createdAtMs: Date.now() - 20 * DAY_MS,
      lastSeenAtMs: Date.now() - 7 * DAY_MS + MINUTE_MS,
    });
    expect(await statusOf(headers)).toBe(200);
    const isTouched = and(
      eq(sessions.tokenHash, tokenHashOf(headers)),
      sql`last_seen_at_ms > ${Date.now() - MINUTE_MS}`,
    );
    await expect.poll(() => db.select().from(sessions).where(isTouched)).toHaveLength(1);
    await ageSession(headers, { lastSeenAtMs: Date.now() - 7 * DAY_MS });
    expectRefusal(await send(ME, { headers }), 401, "UNAUTHORIZED");
  });

  test("for 30 days at most, however much it is used", async () => {
    const { headers } = await seedUser();
    await ageSession(headers, { createdAtMs: Date.now() - 30 * DAY_MS + MINUTE_MS });
    expect(await statusOf(headers)).toBe(200);
    await ageSession(headers, { createdAtMs: Date.now() - 30 * DAY_MS });
    expectRefusal(await send(ME, { headers }), 401, "UNAUTHORIZED");
  });

  test("until sign-out, which deletes the cookie and is recorded in the audit log", async () => {
    const { headers, userId } = await seedUser();
    const out = await send(SIGN_OUT, { method: "POST", headers });
    expectHeaders(out);
    expect([out.status, out.text, out.headers.getSetCookie()]).toEqual([
      204,
      "",
      ["session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"],
    ]);
    expectRefusal(await send(ME, { headers }), 401, "UNAUTHORIZED");
    expectRefusal(await send(SIGN_OUT, { method: "POST", headers }), 401, "UNAUTHORIZED");
    expect(await actionsOf(userId)).toEqual(["session.revoked"]);
  });

  test("until the same browser signs in again and gets a new token; sessions of other browsers stay", async () => {
    const email = freshEmail();
    const browser = newBrowser();
    await signIn(browser, email);
    const first = { cookie: `session=${browser.cookies().session}` };
    const elsewhere = newBrowser();
    await signIn(elsewhere, email);
    await signIn(browser, email);
    expect(browser.cookies().session).not.toBe(first.cookie.slice(8));
    expectRefusal(await send(ME, { headers: first }), 401, "UNAUTHORIZED");
    expect([(await browser.ask(ME)).status, (await elsewhere.ask(ME)).status]).toEqual([200, 200]);
  });
});

describe("changes to an account:", () => {
  test.each([
    ["POST", SIGN_OUT],
    ["DELETE", SESSIONS],
    ["DELETE", `${SESSIONS}/ses_01ARZ3NDEKTSV4RRFFQ69G5FAV`],
    ["PATCH", ME],
  ])("%s %s requires our own origin", async (method, path) => {
    const { headers } = await seedUser();
    for (const origin of [undefined, "https://evil.example", "null", "http://localhost:8788"]) {
      const { cookie = "" } = headers;
      const ask = { method, headers: origin === undefined ? { cookie } : { cookie, origin } };
      expectRefusal(await send(path, ask), 403, "ORIGIN_NOT_ALLOWED");
    }
    expect(await statusOf(headers)).toBe(200);
  });

  test("an API key cannot read an account or its sessions", async () => {
    const key = await seedKey(await seedMerchant());
    for (const path of [ME, SESSIONS]) expectRefusal(await send(path, { key }), 403, "SESSION_REQUIRED");
  });

  test("a new name is stored, shown and recorded in the audit log; the same name again writes nothing", async () => {
    const { headers, userId } = await seedUser();
    const name = "Ann 👩‍💻 Example";
    for (let i = 0; i < 2; i++) {
      const answer = await send(ME, { method: "PATCH", body: { name }, headers });
      expect([answer.status, answer.json?.name]).toEqual([200, name]);
    }
    expect((await send(ME, { headers })).json?.name).toBe(name);
    const entries = await db.select().from(auditEvents).where(eq(auditEvents.actorId, userId));
    expect(entries).toMatchObject([
      { action: "user.updated", before: '{"name":null}', after: JSON.stringify({ name }), target: userId },
    ]);
  });

  test.each([
    [{ name: "" }],
    [{ name: "👩".repeat(201) }],
    [{ name: null }],
    [{}],
    [{ name: "Ann", email: "eve@example.com" }],
  ])("the change %j is refused", async (body) => {
    const { headers } = await seedUser();
    expectRefusal(await send(ME, { method: "PATCH", body, headers }), 400, "VALIDATION_FAILED");
  });

  test("a name may have 200 characters, each counted once, even outside the first Unicode plane", async () => {
    const { headers } = await seedUser();
    const body = { name: "👩".repeat(200) };
    expect((await send(ME, { method: "PATCH", body, headers })).status).toBe(200);
  });
});

describe("/me", () => {
  test("shows the user, their factors, their linked identities and the session", async () => {
    const nowMs = Date.now();
    const user = await seedUser({ name: "Ann", emailOtpEnabledAtMs: nowMs, totpEnabledAtMs: nowMs });
    const { userId } = user;
    const stranger = await seedUser();
    const passkey = (owner: UserId) => ({
      id: freshId("pky"),
      userId: owner,
      credentialId: crypto.randomUUID(),
      publicKey: "",
      counter: 0,
      transports: "[]",
      name: "Key",
      isBackedUp: false,
      createdAtMs: nowMs,
    });
    const linkedAtMs = nowMs - DAY_MS;
    const subject = crypto.randomUUID();
    await db.batch([
      db.insert(passkeys).values([passkey(userId), passkey(userId), passkey(stranger.userId)]),
      db.insert(backupCodes).values([
        { userId, mac: "a", macKeyId: "k" },
        { userId, mac: "b", macKeyId: "k", usedAtMs: nowMs },
        { userId, mac: "c", macKeyId: "k" },
      ]),
      db.insert(identities).values({ provider: "google", subject, userId, email: "a@b.c", createdAtMs: linkedAtMs }),
    ]);
    const { json } = await send(ME, { headers: user.headers });
    expect(json).toEqual({
      id: userId,
      email: user.email,
      name: "Ann",
      emailVerified: true,
      isOperator: false,
      factors: { totp: true, emailOtp: true, passkeys: 2, backupCodesLeft: 2 },
      identities: [{ provider: "google", email: "a@b.c", linkedAt: new Date(linkedAtMs).toISOString() }],
      // For a user with a passkey, an emailed code is not a step-up.
      session: {
        id: expect.stringMatching(/^ses_/),
        state: "active",
        signedInWith: "email_code",
        steppedUpUntil: null,
      },
      createdAt: expect.stringMatching(/Z$/),
    });
    const bare = await send(ME, { headers: stranger.headers });
    expect(bare.json).toMatchObject({ factors: { passkeys: 1, backupCodesLeft: 0 }, identities: [] });
  });
});

describe("a user's sessions", () => {
  test("are listed until they end, newest first, and the current one is marked", async () => {
    const { headers, userId } = await seedUser();
    const nowMs = Date.now();
    await seedSession(userId, { revokedAtMs: nowMs });
    await seedSession(userId, { lastSeenAtMs: nowMs - 7 * DAY_MS });
    await seedSession(userId, { createdAtMs: nowMs - 30 * DAY_MS });
    const facts = { ip: "203.0.113.7", userAgent: "Phone", signedInWith: "PASSKEY" } as const;
    await seedSession(userId, { ...facts, createdAtMs: nowMs - 2 * DAY_MS, lastSeenAtMs: nowMs - DAY_MS });
    await seedSession(userId, { state: "PENDING_2FA", createdAtMs: nowMs - 3_600_000 });
    await seedSession(userId, { state: "PENDING_2FA", createdAtMs: nowMs - 60_000, lastSeenAtMs: nowMs });
    await seedUser();
    const { data, ...page } = await listOf(headers);
    expect(data).toMatchObject([
      { isCurrent: true, signedInWith: "email_code", state: "active" },
      { isCurrent: false, state: "pending_2fa", expiresAt: new Date(nowMs + 3_540_000).toISOString() },
      {
        isCurrent: false,
        ip: "203.0.113.7",
        userAgent: "Phone",
        signedInWith: "passkey",
        state: "active",
        createdAt: new Date(nowMs - 2 * DAY_MS).toISOString(),
        lastSeenAt: new Date(nowMs - DAY_MS).toISOString(),
        expiresAt: new Date(nowMs + 6 * DAY_MS).toISOString(),
      },
    ]);
    expect(page).toEqual({ nextCursor: null, pagination: { page: 1, limit: 20, total: 3, lastPage: 1 } });
    expect(JSON.stringify(data)).not.toContain(tokenHashOf(headers));
  });

  test("are listed in pages", async () => {
    const { headers, userId } = await seedUser();
    for (let i = 1; i < 5; i++) await seedSession(userId, { createdAtMs: Date.now() - i * DAY_MS });
    const ids: string[] = [];
    let query = "?limit=2";
    for (let pages = 0; pages < 3; pages++) {
      const { data, nextCursor } = await listOf(headers, query);
      ids.push(...data.map((session: { id: string }) => session.id));
      query = `?limit=2&cursor=${nextCursor}`;
    }
    expect([ids.length, new Set(ids).size]).toEqual([5, 5]);
    expectRefusal(await send(`${SESSIONS}?cursor=x`, { headers }), 400, "VALIDATION_FAILED");
  });

  test("can be ended one by one, which takes effect at once and leaves the others", async () => {
    const { headers, userId } = await seedUser();
    const phone = await seedSession(userId);
    const { data } = await listOf(phone);
    const { id } = data.find((session: { isCurrent: boolean }) => session.isCurrent);
    const ended = await send(`${SESSIONS}/${id}`, { method: "DELETE", headers });
    expect([ended.status, ended.headers.getSetCookie()]).toEqual([204, []]);
    expect([await statusOf(phone), await statusOf(headers)]).toEqual([401, 200]);
    expectRefusal(await send(`${SESSIONS}/${id}`, { method: "DELETE", headers }), 404, "SESSION_NOT_FOUND");
    expect(await actionsOf(userId)).toEqual(["session.revoked"]);
  });

  test("include the current one; ending it deletes the cookie", async () => {
    const { headers } = await seedUser();
    const { data } = await listOf(headers);
    const ended = await send(`${SESSIONS}/${data[0].id}`, { method: "DELETE", headers });
    expect(ended.headers.getSetCookie()).toEqual([expect.stringMatching(/^session=;.*Max-Age=0/)]);
    expect(await statusOf(headers)).toBe(401);
  });

  test("are not found by another user, who cannot end them", async () => {
    const [ann, eve] = [await seedUser(), await seedUser()];
    const { data } = await listOf(ann.headers);
    for (const id of [data[0].id, freshId("ses"), "ses_1", "'"])
      expectRefusal(
        await send(`${SESSIONS}/${encodeURIComponent(id)}`, { method: "DELETE", headers: eve.headers }),
        404,
        "SESSION_NOT_FOUND",
      );
    expect(await statusOf(ann.headers)).toBe(200);
  });

  test("can all be ended except the current one, including those that wait for a second factor", async () => {
    const { headers, userId } = await seedUser();
    const others = [await seedSession(userId), await seedSession(userId, { state: "PENDING_2FA" })];
    const stranger = await seedUser();
    expect((await send(SESSIONS, { method: "DELETE", headers })).status).toBe(204);
    for (const other of others) expect(await statusOf(other)).toBe(401);
    expect([await statusOf(headers), await statusOf(stranger.headers)]).toEqual([200, 200]);
    expect((await listOf(headers)).data).toHaveLength(1);
    expect(await actionsOf(userId)).toEqual(["session.revoked"]);
  });

  test("that have ended keep their end time when the others are ended later", async () => {
    const { headers, userId } = await seedUser();
    await seedSession(userId, { revokedAtMs: 5 });
    await send(SESSIONS, { method: "DELETE", headers });
    const rows = await db.select().from(sessions).where(eq(sessions.userId, userId));
    expect(rows.map((row) => row.revokedAtMs).toSorted()).toEqual([5, null]);
    expect(await db.select().from(users).where(eq(users.id, userId))).toHaveLength(1);
  });
});
