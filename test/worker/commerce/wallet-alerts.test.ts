// Each change to a wallet is emailed to every OWNER and ADMIN (security.md 1 "Step-up" and 4). If the change was made by a
// user whose only factor is email, the email has a link that disables the wallet without any other proof. It works once, and for seven days.
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";
import { disableWallet } from "../../../src/commerce/wallet-links/disable-wallet.ts";
import { walletDependencies } from "../../../src/commerce/wallets/dependencies.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { singleUseTokens } from "../../../src/platform/db/schema/users.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { type Ask, expectRefusal, seedKey, send, sendWith } from "../../support/access.ts";
import { dbBefore } from "../../support/before-write.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { ORIGIN, seedSession } from "../../support/people.ts";
import { freshTeam, freshUser, type Teammate, type TestTeam } from "../../support/teams.ts";
import { directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const DISABLE = "/api/v1/wallets/disable";
const IP = "203.0.113.44";

const mailbox = () => env.DEV_MAILBOX.getByName("mailbox");
const mailsTo = (user: { readonly email: string }) => mailbox().list(user.email);
const tokenIn = (text: string | undefined) => /\/wallets\/disable#token=([\w-]+)/.exec(text ?? "")?.[1];
const tokenOf = async (user: { readonly email: string }) => tokenIn((await mailsTo(user))[0]?.text) ?? "none";
const fingerprint = (text: string) => sha256Hex(text).slice(0, 16);
const disable = (token: string, more: Ask = {}) => send(DISABLE, { method: "POST", body: { token }, ...more });

async function rowOf(id: string) {
  const [row] = await testDb
    .select()
    .from(wallets)
    .where(eq(wallets.id, id as typeof wallets.$inferSelect.id));
  return row;
}

async function registered(team: TestTeam, who: Teammate, body: object = directWallet()) {
  const answer = await who.as.post(`${team.merchant}/wallets`, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** A team with two members who get emails and two who do not. */
async function shop() {
  const { team, owner } = await freshTeam();
  return {
    team,
    owner,
    admin: await team.join("ADMIN"),
    member: await team.join("MEMBER"),
    viewer: await team.join("VIEWER"),
  };
}

describe("a change to a wallet", () => {
  it("is emailed to every OWNER and ADMIN and nobody else, with the values before and after, and who made it", async () => {
    const { team, owner, admin, member, viewer } = await shop();
    const outsider = await freshUser();
    const first = await registered(team, owner);
    expect((await admin.as.patch(`${team.merchant}/wallets/${first.id}`, { isEnabled: false })).status).toBe(200);
    expect((await owner.as.delete(`${team.merchant}/wallets/${first.id}`)).status).toBe(200);
    const second = await registered(team, admin);
    for (const reader of [owner, admin]) {
      const [replaced, deleted, changed, made] = await mailsTo(reader);
      const [old, now] = [first, second].map(({ address }) => `${address}, fingerprint ${fingerprint(address)}`);
      expect(made?.subject).toBe("A wallet of Test shop was registered");
      expect(made?.text).toContain(`by ${owner.email} at `);
      expect(made?.text).toContain(`Before: none\n\nNow: ${old}, enabled`);
      expect(changed?.subject).toBe("A wallet of Test shop was changed");
      expect(changed?.text).toContain(`by ${admin.email} at `);
      expect(changed?.text).toContain(`Now: ${old}, disabled`);
      expect(deleted?.text).toContain("Now: none");
      expect(replaced?.text).toContain(`Before: ${old}, disabled`);
      expect(replaced?.text).toContain(`Now: ${now}, enabled`);
    }
    for (const other of [member, viewer, outsider]) expect(await mailsTo(other)).toEqual([]);
  });

  it("is emailed without a link when a key makes it, and the email names the key by its id", async () => {
    const { team, owner } = await shop();
    const key = await seedKey(team.merchantId);
    const [{ id } = expect.fail()] = await testDb.select().from(apiKeys).where(eq(apiKeys.merchantId, team.merchantId));
    expect((await send(`${team.merchant}/wallets`, { method: "POST", key, body: directWallet() })).status).toBe(201);
    const [mail] = await mailsTo(owner);
    expect(mail?.text).toContain(`by the API key ${id} at `);
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/wallets\/disable|sk_/);
  });

  it("never shows an extended key in full", async () => {
    const { team, owner } = await shop();
    const body = xpubWallet();
    await registered(team, owner, body);
    const [mail] = await mailsTo(owner);
    expect(mail?.text).toContain(
      `${body.xpub.slice(0, 8)}...${body.xpub.slice(-4)}, fingerprint ${fingerprint(body.xpub)}`,
    );
    expect(`${mail?.text}${mail?.html}`).not.toContain(body.xpub.slice(8, 30));
  });

  it("that is refused or has no effect is not emailed", async () => {
    const { team, owner, member } = await shop();
    const { id } = await registered(team, owner);
    const path = `${team.merchant}/wallets`;
    expect((await owner.as.post(path, directWallet())).status).toBe(409);
    expect((await owner.as.post(path, { ...directWallet(), address: "0x12" })).status).toBe(400);
    expect((await owner.as.patch(`${path}/${id}`, { isEnabled: true })).status).toBe(200);
    expect((await member.as.delete(`${path}/${id}`)).status).toBe(403);
    expect(await mailsTo(owner)).toHaveLength(1);
  });

  it("that is repeated with its Idempotency-Key is emailed once", async () => {
    const { team, owner, admin } = await shop();
    const body = directWallet();
    const ask = () => owner.as.post(`${team.merchant}/wallets`, body, { "idempotency-key": "once" });
    const answers = await Promise.all([ask(), ask(), ask()]);
    answers.push(await ask());
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(
      answers.map(({ headers }) => headers.get("idempotent-replayed")).filter((each) => each === null),
    ).toHaveLength(1);
    for (const reader of [owner, admin]) expect(await mailsTo(reader)).toHaveLength(1);
  });

  it("succeeds when no email can be sent, and the log says so without an address", async () => {
    const { team, owner } = await shop();
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      const broken = { getByName: () => ({ keep: () => Promise.reject(new Error("no mailbox")) }) };
      const changes = { DEV_MAILBOX: broken } as unknown as Partial<Env>;
      const ask = { method: "POST", headers: owner.headers, body: directWallet() };
      expect((await sendWith(changes, `${team.merchant}/wallets`, ask)).status).toBe(201);
      const lines = log.mock.calls.map(([line]) => String(line));
      expect(lines).toEqual([
        JSON.stringify({ level: "error", alert: "mails about a wallet change could not be sent", lost: 2 }),
      ]);
    } finally {
      log.mockRestore();
    }
  });

  it("needs no extra storage calls for its emails, because recipients are read with the caller", async () => {
    const { team, owner } = await shop();
    const headers = await seedSession(owner.userId);
    const counted = async (path: string, ask: Ask) => {
      const { bindings, calls } = countingEnv();
      const answer = await sendWith(bindings, `${team.merchant}${path}`, { headers, ...ask });
      return { answer, storage: calls.filter((call) => call !== "RATE_LIMITER.take") };
    };
    const made = await counted("/wallets", { method: "POST", body: directWallet() });
    expect([made.answer.status, made.storage]).toEqual([201, ["D1 read", "D1 write"]]);
    const path = `/wallets/${made.answer.json?.id}`;
    const changed = await counted(path, { method: "PATCH", body: { isEnabled: false } });
    // The merchant's object records that the wallet is disabled before D1 does, so that a restore of the database does not enable it again.
    const copied = ["MERCHANT_OBJECT.keepRevocations", "D1 write"];
    expect([changed.answer.status, changed.storage]).toEqual([200, ["D1 read", ...copied]]);
    const gone = await counted(path, { method: "DELETE" });
    expect([gone.answer.status, gone.storage]).toEqual([200, ["D1 read", "D1 read", ...copied]]);
  });
});

describe("the link in the email", () => {
  it("is sent to each recipient, with their own token, when a user whose only factor is email made the change", async () => {
    const { team, owner, admin } = await shop();
    const { id } = await registered(team, owner);
    const tokens = [await tokenOf(owner), await tokenOf(admin)];
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
    expect(tokens[0]).not.toBe(tokens[1]);
    const stored = await testDb.select().from(singleUseTokens).where(eq(singleUseTokens.kind, "WALLET_DISABLE"));
    const ours = stored.filter(({ data }) => data?.includes(id));
    expect(ours.map(({ hash, userId }) => [hash, userId]).sort()).toEqual(
      [
        [sha256Hex(tokens[0] ?? ""), owner.userId],
        [sha256Hex(tokens[1] ?? ""), admin.userId],
      ].sort(),
    );
    for (const row of ours) {
      expect(JSON.parse(row.data ?? "")).toEqual({ merchantId: team.merchantId, walletId: id });
      expect(row.expiresAtMs - row.createdAtMs).toBe(7 * DAY_MS);
    }
    const [mail] = await mailsTo(owner);
    expect(mail?.text).toContain(`${ORIGIN}/wallets/disable#token=`);
  });

  it.each([
    ["a passkey or an authenticator app", { totpEnabledAtMs: 1 }, "TOTP", false],
    ["emailed codes as the only second factor", { emailOtpEnabledAtMs: 1 }, "EMAIL_CODE", true],
  ] as const)("depends on the factors of the user who makes the change: %s", async (_, has, factor, isLinked) => {
    const { team, owner } = await shop();
    const admin = await team.join("ADMIN", has);
    const headers = await seedSession(admin.userId, { factor });
    const ask = { method: "POST", headers, body: directWallet() };
    expect((await send(`${team.merchant}/wallets`, ask)).status).toBe(201);
    const [mail] = await mailsTo(owner);
    expect(tokenIn(mail?.text) !== undefined).toBe(isLinked);
  });

  it("disables the wallet for any holder, signed in or not, and works once", async () => {
    const { team, owner, admin } = await shop();
    const { id } = await registered(team, owner);
    const [token, other] = [await tokenOf(admin), await tokenOf(owner)];
    const answer = await disable(token, { headers: { "cf-connecting-ip": IP } });
    expect([answer.status, answer.json]).toEqual([200, { walletId: id, isEnabled: false }]);
    expect((await rowOf(id))?.isEnabled).toBe(false);
    const [entry] = await testDb
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.target, id), eq(auditEvents.action, "wallet.disabled_by_link")));
    expect(entry).toMatchObject({
      merchantId: team.merchantId,
      actorKind: "USER",
      actorId: admin.userId,
      ip: IP,
      requestId: answer.headers.get("x-request-id"),
    });
    expect([entry?.before, entry?.after].map((json) => JSON.parse(json ?? "{}").isEnabled)).toEqual([true, false]);
    const written = await testDb.select().from(events).where(eq(events.merchantId, team.merchantId));
    expect(written.map(({ type }) => type)).toEqual(["wallet.created", "wallet.updated"]);
    expect(JSON.parse(written[1]?.data ?? "{}")).toMatchObject({ walletId: id, wallet: { id, isEnabled: false } });
    const [mail] = await mailsTo(owner);
    expect(mail?.subject).toBe("A wallet of Test shop was disabled with the link in a mail");
    expect(mail?.text).toContain(`by ${admin.email} at `);
    expect(tokenIn(mail?.text)).toBeUndefined();
    // No new invoice uses the wallet.
    const order = { name: "Order", rawAmount: 1, paymentMethods: [USDT] };
    expect((await owner.as.post(`${team.merchant}/invoices`, order)).body.code).toBe("NO_ENABLED_WALLET");
    expectRefusal(await disable(token), 404, "LINK_INVALID");
    // The other recipient's link still works.
    expect((await disable(other)).status).toBe(200);
  });

  it("works once however many use it at the same time", async () => {
    const { team, owner } = await shop();
    const { id } = await registered(team, owner);
    const token = await tokenOf(owner);
    const answers = await Promise.all(Array.from({ length: 8 }, () => disable(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(404)]);
    const entries = await testDb.select().from(auditEvents).where(eq(auditEvents.target, id));
    expect(entries.map(({ action }) => action).sort()).toEqual(["wallet.created", "wallet.disabled_by_link"]);
  });

  it("disables the wallet even if it is changed at the same time", async () => {
    const { team, owner } = await shop();
    const { id } = await registered(team, owner);
    const token = await tokenOf(owner);
    const [used] = await Promise.all([
      disable(token),
      ...[5, 6, 7].map((requiredConfirmations) =>
        owner.as.patch(`${team.merchant}/wallets/${id}`, { requiredConfirmations }),
      ),
    ]);
    expect([used?.status, (await rowOf(id))?.isEnabled]).toEqual([200, false]);
  });

  it("is refused when it is a week old, unknown or of another kind, or its wallet or merchant is gone", async () => {
    const { team, owner } = await shop();
    const { id } = await registered(team, owner);
    const token = await tokenOf(owner);
    const hash = sha256Hex(token);
    const set = (columns: Partial<typeof singleUseTokens.$inferInsert>) =>
      testDb.update(singleUseTokens).set(columns).where(eq(singleUseTokens.hash, hash));
    const refused = async (given = token) => expectRefusal(await disable(given), 404, "LINK_INVALID");
    const refusal = await refused("");
    for (const given of [hash, randomHex(32), "x".repeat(200), `${token} `])
      expect(await refused(given)).toEqual(refusal);
    await set({ expiresAtMs: Date.now() - 1 });
    expect(await refused()).toEqual(refusal);
    await set({ expiresAtMs: Date.now() + DAY_MS, kind: "OAUTH" });
    expect(await refused()).toEqual(refusal);
    await set({ kind: "WALLET_DISABLE" });
    await testDb.update(merchants).set({ deletedAtMs: 1 }).where(eq(merchants.id, team.merchantId));
    expect(await refused()).toEqual(refusal);
    await testDb.update(merchants).set({ deletedAtMs: null }).where(eq(merchants.id, team.merchantId));
    expect((await owner.as.delete(`${team.merchant}/wallets/${id}`)).status).toBe(200);
    expect(await refused()).toEqual(refusal);
    // The wallet that replaced the deleted one is unchanged.
    const next = await registered(team, owner);
    expect(await refused()).toEqual(refusal);
    expect((await rowOf(next.id))?.isEnabled).toBe(true);
  });

  it("is refused if the wallet is deleted, the link used or its holder removed after the link was looked up", async () => {
    const { team, owner, admin } = await shop();
    for (const meanwhile of ["delete", "use", "remove"] as const) {
      const { id } = await registered(team, owner);
      const token = await tokenOf(admin);
      let batches = 0;
      const late = dbBefore(async () => {
        batches += 1;
        if (batches === 2 && meanwhile === "delete") await owner.as.delete(`${team.merchant}/wallets/${id}`);
        if (batches === 2 && meanwhile === "use") await disable(token);
        if (batches === 2 && meanwhile === "remove") await owner.as.delete(`${team.path}/members/${admin.memberId}`);
      });
      const given = { db: testDb, nowMs: Date.now(), sleep, background: () => {} };
      const deps = { ...walletDependencies(env, given), db: late };
      const refused = await disableWallet(deps, { token, ip: null, requestId: null });
      expect([meanwhile, refused]).toEqual([meanwhile, { ok: false, error: { code: "LINK_INVALID" } }]);
      await owner.as.delete(`${team.merchant}/wallets/${id}`);
    }
  });

  it("is refused to a page from another origin, and for a body that is not a token", async () => {
    const { team, owner } = await shop();
    await registered(team, owner);
    const token = await tokenOf(owner);
    const elsewhere = await disable(token, { headers: { origin: "https://evil.example" } });
    expectRefusal(elsewhere, 403, "ORIGIN_NOT_ALLOWED");
    for (const body of [{}, { token: 1 }, { token, walletId: "wal_1" }])
      expectRefusal(await send(DISABLE, { method: "POST", body }), 400, "VALIDATION_FAILED");
    expect((await disable(token, { headers: { origin: ORIGIN } })).status).toBe(200);
  });

  it("is in no table in plain text, and in no log", async () => {
    const { team, owner } = await shop();
    const log = (["log", "warn", "error", "info", "debug"] as const).map((level) => vi.spyOn(console, level));
    await registered(team, owner);
    const token = await tokenOf(owner);
    await disable(token);
    const { results } = await env.DB.prepare(
      "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'",
    ).all<{ name: string }>();
    for (const { name } of results) {
      const rows = await env.DB.prepare(`select * from "${name}"`).all();
      expect(JSON.stringify(rows.results).includes(token), name).toBe(false);
    }
    expect(JSON.stringify(log.flatMap((spy) => spy.mock.calls))).not.toContain(token);
    for (const spy of log) spy.mockRestore();
  });
});
