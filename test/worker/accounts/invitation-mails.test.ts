// Invitations are not limited in number (the interface sets no limit). Their emails are limited per merchant, user and mailbox, and wait once a limit
// is reached.
import { and, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { MerchantId, UserId } from "../../../src/lib/ids.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { invitationMails, invitations } from "../../../src/platform/db/schema/teams.ts";
import { freshEmail, mailsTo } from "../../support/browser.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { ACCEPT, acceptById, freshTeam, freshUser, type TestTeam, tally, tokensMailedTo } from "../../support/teams.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

const idOf = (id: string) => id as `tin_${string}`;

/** Records emails as if they had been sent `agoMs` ago. */
async function seedMails(
  count: number,
  of: { merchantId?: MerchantId; userId?: UserId; emailKey?: string; agoMs?: number },
) {
  const { merchantId = freshId("mer"), userId = freshId("usr"), emailKey = null, agoMs = MINUTE_MS } = of;
  const rows = Array.from({ length: count }, () => ({ merchantId, userId, emailKey, atMs: Date.now() - agoMs }));
  for (let at = 0; at < rows.length; at += 25) await testDb.insert(invitationMails).values(rows.slice(at, at + 25));
}

/** Changes the rows as if a day had passed: sent emails no longer count, and every waiting email is due. */
async function passTheDay(team: TestTeam, userId: UserId) {
  await testDb.delete(invitationMails).where(eq(invitationMails.merchantId, team.merchantId));
  await testDb.delete(invitationMails).where(eq(invitationMails.userId, userId));
  const waiting = (await team.invitations()).filter(({ mailDueAtMs }) => mailDueAtMs !== null);
  for (const { id } of waiting) await testDb.update(invitations).set({ mailDueAtMs: 1 }).where(eq(invitations.id, id));
}

type TestAs = Awaited<ReturnType<typeof freshTeam>>["owner"]["as"];
const runCron = () => runJobs();

describe("past the daily limit of invitation emails", () => {
  it.each([
    ["500 for the merchant", 497, (merchantId: MerchantId) => ({ merchantId })],
    ["200 for the user across all merchants", 197, (_: MerchantId, userId: UserId) => ({ userId })],
  ] as const)(
    "an invitation is created and its email waits: the limit is exactly %s, even for ten parallel requests",
    async (_, count, of) => {
      const { team, owner } = await freshTeam();
      await seedMails(count, of(team.merchantId, owner.userId));
      await seedMails(600, { ...of(team.merchantId, owner.userId), agoMs: DAY_MS + MINUTE_MS });
      const emails = Array.from({ length: 10 }, () => freshEmail());
      const answers = await Promise.all(
        emails.map((email) => owner.as.post(`${team.path}/invitations`, { email, role: "VIEWER" })),
      );
      expect(tally(answers)).toEqual({ "201": 10 });
      expect(answers.filter(({ body }) => body.mailedAt !== null)).toHaveLength(3);
      const mailed = await Promise.all(emails.map(async (email) => (await tokensMailedTo(email)).length));
      expect(mailed).toEqual(answers.map(({ body }) => (body.mailedAt === null ? 0 : 1)));
      const { team: other, owner: stranger } = await freshTeam();
      const elsewhere = await stranger.as.post(`${other.path}/invitations`, { email: freshEmail(), role: "VIEWER" });
      expect(elsewhere.body.mailedAt).not.toBeNull();
    },
  );

  it("an invitation is listed at once, emailed when the limit allows, and valid for seven days from then", async () => {
    const { team, owner } = await freshTeam();
    const guest = await freshUser();
    await seedMails(500, { merchantId: team.merchantId });
    const made = await owner.as.post(`${team.path}/invitations`, { email: guest.email, role: "MEMBER" });
    expect([made.status, made.body.mailedAt]).toEqual([201, null]);
    await runCron();
    expect(await tokensMailedTo(guest.email)).toEqual([]);
    const { data } = (await guest.as.get("/api/v1/team/invitations")).body;
    expect(data).toMatchObject([{ id: made.body.id, status: "pending", mailedAt: null }]);
    await passTheDay(team, owner.userId);
    const beforeMs = Date.now();
    await runCron();
    await runCron();
    const [token = "", ...more] = await tokensMailedTo(guest.email);
    expect([token, more]).toEqual([expect.stringMatching(/^[\w-]{43}$/), []]);
    const listed = (await owner.as.get(`${team.path}/invitations`)).body.data[0];
    expect(Date.parse(listed.mailedAt)).toBeGreaterThanOrEqual(beforeMs);
    expect(Date.parse(listed.expiresAt) - Date.parse(listed.mailedAt)).toBe(7 * DAY_MS);
    expect(await testDb.$count(invitationMails, eq(invitationMails.merchantId, team.merchantId))).toBe(1);
    expect((await guest.as.post(ACCEPT, { token })).status).toBe(200);
  });

  it("a due email keeps waiting while other emails have used up the limit", async () => {
    const { team, owner } = await freshTeam();
    await seedMails(200, { userId: owner.userId });
    const email = freshEmail();
    const made = await owner.as.post(`${team.path}/invitations`, { email, role: "VIEWER" });
    const ours = eq(invitations.id, idOf(made.body.id));
    await testDb.update(invitations).set({ mailDueAtMs: 1 }).where(ours);
    await runCron();
    const [row] = await testDb.select().from(invitations).where(ours);
    expect([await tokensMailedTo(email), row?.mailedAtMs]).toEqual([[], null]);
    expect(row?.mailDueAtMs).toBeGreaterThan(Date.now() + DAY_MS - 2 * MINUTE_MS);
  });

  it("no email is sent for an invitation that ended while it waited", async () => {
    const ends = {
      revoked: async (team: TestTeam, as: TestAs, id: string) => as.delete(`${team.path}/invitations/${id}`),
      expired: async (_: TestTeam, __: unknown, id: string) =>
        testDb
          .update(invitations)
          .set({ expiresAtMs: 1 })
          .where(eq(invitations.id, idOf(id))),
      orphaned: async (team: TestTeam) =>
        testDb.update(merchants).set({ deletedAtMs: 1 }).where(eq(merchants.id, team.merchantId)),
    };
    for (const end of Object.values(ends)) {
      const { team, owner } = await freshTeam();
      await seedMails(200, { userId: owner.userId });
      const email = freshEmail();
      const made = await owner.as.post(`${team.path}/invitations`, { email, role: "VIEWER" });
      await end(team, owner.as, made.body.id);
      await passTheDay(team, owner.userId);
      await runCron();
      expect(await tokensMailedTo(email)).toEqual([]);
      expect((await team.invitations()).map(({ mailDueAtMs }) => mailDueAtMs)).toEqual([null]);
    }
    const { team, owner } = await freshTeam();
    const guest = await freshUser();
    await seedMails(200, { userId: owner.userId });
    const made = await owner.as.post(`${team.path}/invitations`, { email: guest.email, role: "VIEWER" });
    expect((await guest.as.post(acceptById(made.body.id))).status).toBe(200);
    expect((await team.invitations()).map(({ mailDueAtMs }) => mailDueAtMs)).toEqual([null]);
  });

  it("a resend is answered at once with status pending, and the new link is emailed later", async () => {
    const { team, owner } = await freshTeam();
    const email = freshEmail();
    const { id } = (await owner.as.post(`${team.path}/invitations`, { email, role: "VIEWER" })).body;
    await seedMails(199, { userId: owner.userId });
    const resent = await owner.as.post(`${team.path}/invitations/${id}/resend`);
    expect(resent).toMatchObject({ status: 200, body: { status: "pending", mailedAt: null } });
    expect(await tokensMailedTo(email)).toHaveLength(1);
    await passTheDay(team, owner.userId);
    await runCron();
    const [second, first] = await tokensMailedTo(email);
    expect([second === first, first === undefined]).toEqual([false, false]);
  });
});

describe("past the daily limit of one mailbox", () => {
  const invited = (of: { team: TestTeam; owner: { as: TestAs } }, email: string) =>
    of.owner.as.post(`${of.team.path}/invitations`, { email, role: "VIEWER" });

  it("an invitation is created and its email waits; the limit is 10 emails by all senders, including resends", async () => {
    const victim = freshEmail();
    const answers = [];
    for (let n = 0; n < 2; n++) {
      const of = await freshTeam();
      const made = await invited(of, n === 0 ? victim : victim.toUpperCase());
      answers.push(made);
      for (let again = 0; again < 8; again++)
        answers.push(await of.owner.as.post(`${of.team.path}/invitations/${made.body.id}/resend`));
    }
    expect(tally(answers)).toEqual({ "200": 16, "201": 2 });
    expect(answers.filter(({ body }) => body.mailedAt !== null)).toHaveLength(10);
    expect(await mailsTo(victim)).toHaveLength(10);
  });

  it("exactly 10 of the emails that twenty teams request at once are sent at first, and the others a day later", async () => {
    const victim = freshEmail();
    const teams = await Promise.all(Array.from({ length: 20 }, () => freshTeam()));
    const answers = await Promise.all(teams.map((of) => invited(of, victim)));
    expect(tally(answers)).toEqual({ "201": 20 });
    expect(await mailsTo(victim)).toHaveLength(10);
    const dayMs = DAY_MS + MINUTE_MS;
    await testDb
      .update(invitationMails)
      .set({ atMs: sql`at_ms - ${dayMs}` })
      .where(eq(invitationMails.emailKey, victim));
    const waiting = eq(invitations.emailKey, victim);
    await testDb
      .update(invitations)
      .set({ mailDueAtMs: sql`mail_due_at_ms - ${2 * dayMs}` })
      .where(waiting);
    await runCron();
    await runCron();
    expect(await mailsTo(victim)).toHaveLength(20);
    const rows = await testDb.select().from(invitations).where(waiting);
    expect(rows.filter(({ mailedAtMs }) => mailedAtMs === null)).toEqual([]);
  });

  it("an email that waits for its mailbox does not delay other emails of its sender or merchant", async () => {
    const victim = freshEmail();
    await seedMails(10, { emailKey: victim });
    const of = await freshTeam();
    expect((await invited(of, victim)).body.mailedAt).toBeNull();
    for (let n = 0; n < 3; n++) expect((await invited(of, freshEmail())).body.mailedAt).not.toBeNull();
  });

  it("an email that waits for its sender does not delay other emails to the mailbox", async () => {
    const guest = freshEmail();
    const busy = await freshTeam();
    await seedMails(200, { userId: busy.owner.userId });
    expect((await invited(busy, guest)).body.mailedAt).toBeNull();
    expect((await invited(await freshTeam(), guest)).body.mailedAt).not.toBeNull();
  });

  it("a due email keeps waiting while the mailbox is at its limit", async () => {
    const victim = freshEmail();
    await seedMails(10, { emailKey: victim });
    const of = await freshTeam();
    const { body } = await invited(of, victim);
    const ours = eq(invitations.id, idOf(body.id));
    await testDb.update(invitations).set({ mailDueAtMs: 1 }).where(ours);
    await runCron();
    const [row] = await testDb.select().from(invitations).where(ours);
    expect([await mailsTo(victim), row?.mailedAtMs]).toEqual([[], null]);
    expect(row?.mailDueAtMs).toBeGreaterThan(Date.now() + DAY_MS - 2 * MINUTE_MS);
    expect((await invited(of, freshEmail())).body.mailedAt).not.toBeNull();
  });
});

it("records of emails are deleted after a day, and not earlier", async () => {
  const userId = freshId("usr");
  await seedMails(3, { userId, agoMs: DAY_MS + MINUTE_MS });
  await seedMails(2, { userId, agoMs: DAY_MS - MINUTE_MS });
  await runCron();
  expect(await testDb.$count(invitationMails, and(eq(invitationMails.userId, userId)))).toBe(2);
});
