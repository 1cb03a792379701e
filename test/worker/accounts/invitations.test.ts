import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { seedKey, send } from "../../support/access.ts";
import { freshEmail, mailsTo } from "../../support/browser.ts";
import { seedSession } from "../../support/people.ts";
import {
  ACCEPT,
  acceptById,
  type Caller,
  callerWith,
  freshTeam,
  freshUser,
  invited,
  tally,
  tokensMailedTo,
} from "../../support/teams.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { expire } from "./invitations-harness.ts";

describe("an invitation", () => {
  it("is returned without its token and emailed with it, and the token is stored only as its SHA-256", async () => {
    const { team, owner } = await freshTeam();
    const email = `Guest.${freshEmail()}`;
    const answer = await owner.as.post(`${team.path}/invitations`, { email, role: "MEMBER" });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^tin_/),
        merchantId: team.merchantId,
        email,
        role: "MEMBER",
        status: "pending",
        invitedBy: owner.userId,
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
        acceptedAt: null,
        mailedAt: answer.body.createdAt,
      },
    ]);
    expect(Date.parse(answer.body.expiresAt) - Date.parse(answer.body.createdAt)).toBe(7 * DAY_MS);
    const [mail] = await mailsTo(email);
    expect(mail).toMatchObject({ to: email, subject: "Invitation to the team of Test shop" });
    const [token = "", ...others] = await tokensMailedTo(email);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(others).toEqual([]);
    const [row] = await team.invitations();
    expect(row?.tokenHash).toBe(sha256Hex(token));
    for (const table of ["invitations", "audit_events", "events", "operations", "members"]) {
      const { results } = await env.DB.prepare(`select * from ${table}`).all();
      expect(JSON.stringify(results).includes(token)).toBe(false);
    }
    expect(await team.audit()).toEqual([
      {
        actorId: owner.userId,
        action: "team.invitation_created",
        target: answer.body.id,
        before: null,
        after: { email, role: "MEMBER" },
      },
    ]);
  });

  it("names the merchant in its email without line breaks, direction marks and working HTML tags", async () => {
    const { team, owner } = await freshTeam();
    await testDb
      .update(merchants)
      .set({ name: "Shop\r\nBcc: all\u202e<img src=x>" })
      .where(eq(merchants.id, team.merchantId));
    const email = freshEmail();
    await invited(team, owner, email, "VIEWER");
    const [mail] = await mailsTo(email);
    expect(mail?.subject).toBe("Invitation to the team of Shop Bcc: all<img src=x>");
    for (const each of ["<img", "\u202e"]) expect(mail?.html.includes(each)).toBe(false);
  });

  it.each([
    ["OWNER", "OWNER"],
    ["ADMIN", "OWNER"],
    ["ADMIN", "ADMIN"],
  ] as const)("by an %s to the role %s is refused, and no email is sent", async (inviter, role) => {
    const { team, owner } = await freshTeam();
    const actor = inviter === "OWNER" ? owner : await team.join(inviter);
    const email = freshEmail();
    expect(await actor.as.post(`${team.path}/invitations`, { email, role })).toMatchObject({
      status: 403,
      body: { code: "INSUFFICIENT_RANK" },
    });
    expect(await tokensMailedTo(email)).toEqual([]);
    expect(await team.invitations()).toEqual([]);
  });

  it.each([
    [{ email: "not an address", role: "MEMBER" }, "email"],
    [{ email: "a@example.com\r\nBcc: b@example.com", role: "MEMBER" }, "email"],
    [{ email: "a@example.com", role: "BOSS" }, "role"],
    [{ email: "a@example.com", role: "MEMBER", note: "hi" }, "note"],
  ])("with the body %j is refused", async (body, path) => {
    const { team, owner } = await freshTeam();
    const answer = await owner.as.post(`${team.path}/invitations`, body);
    expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED", details: [{ path }] } });
  });

  it("is refused for a member's address and for an address with a pending invitation, in upper or lower case", async () => {
    const { team, owner } = await freshTeam();
    const member = await team.join("VIEWER");
    const path = `${team.path}/invitations`;
    const toMember = await owner.as.post(path, { email: member.email.toUpperCase(), role: "ADMIN" });
    expect(toMember).toMatchObject({ status: 409, body: { code: "ALREADY_MEMBER" } });
    const email = freshEmail();
    const { id } = await invited(team, owner, email, "VIEWER");
    const again = await owner.as.post(path, { email: email.toUpperCase(), role: "ADMIN" });
    expect(again).toMatchObject({ status: 409, body: { code: "INVITATION_EXISTS", invitationId: id } });
    expect(await tokensMailedTo(email)).toHaveLength(1);
  });

  it("that has expired is revoked when a new one is made for the same address", async () => {
    const { team, owner } = await freshTeam();
    const guest = await freshUser();
    const old = await invited(team, owner, guest.email, "VIEWER");
    await expire(old.id);
    const fresh = await invited(team, owner, guest.email, "MEMBER");
    expect(fresh.id).not.toBe(old.id);
    const list = await owner.as.get(`${team.path}/invitations`);
    expect(
      Object.fromEntries(list.body.data.map((each: { id: string; status: string }) => [each.id, each.status])),
    ).toEqual({ [old.id]: "revoked", [fresh.id]: "pending" });
    expect(await team.audit("team.invitation_revoked")).toMatchObject([{ target: old.id }]);
    expect((await guest.as.post(ACCEPT, { token: old.token })).status).toBe(404);
    expect(await guest.as.post(ACCEPT, { token: fresh.token })).toMatchObject({
      status: 200,
      body: { role: "MEMBER" },
    });
  });

  it("to ADMIN requires a step-up; to MEMBER or VIEWER it does not", async () => {
    const { team, owner } = await freshTeam();
    const admin = await team.join("ADMIN");
    const stale = callerWith(await seedSession(owner.userId, { factorAtMs: Date.now() - 6 * 60_000 }));
    const invite = (as: Caller, role: string) => as.post(`${team.path}/invitations`, { email: freshEmail(), role });
    expect(await invite(stale, "ADMIN")).toMatchObject({ status: 403, body: { code: "STEP_UP_REQUIRED" } });
    expect(await team.invitations()).toEqual([]);
    for (const role of ["MEMBER", "VIEWER"]) expect((await invite(stale, role)).status).toBe(201);
    expect((await invite(owner.as, "ADMIN")).status).toBe(201);
    // An inviter whose rank is too low is refused for that reason, whether or not they stepped up.
    const old = callerWith(await seedSession(admin.userId, { factorAtMs: null, factor: null }));
    expect(await invite(old, "ADMIN")).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_RANK" } });
  });

  it("repeated under its Idempotency-Key gets the same response and sends no second email", async () => {
    const { team, owner } = await freshTeam();
    const email = freshEmail();
    const headers = { "idempotency-key": "invite 1" };
    const post = (role: string) => owner.as.post(`${team.path}/invitations`, { email, role }, headers);
    const [first, second] = [await post("MEMBER"), await post("MEMBER")];
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await tokensMailedTo(email)).toHaveLength(1);
    expect((await post("VIEWER")).status).toBe(409);
    const many = { "idempotency-key": "invite 2" };
    const other = freshEmail();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        owner.as.post(`${team.path}/invitations`, { email: other, role: "VIEWER" }, many),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await tokensMailedTo(other)).toHaveLength(1);
  });

  it("is not limited in number: 60 parallel requests all succeed", async () => {
    const { team, owner } = await freshTeam();
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        owner.as.post(`${team.path}/invitations`, { email: freshEmail(), role: "VIEWER" }),
      ),
    );
    expect(tally(answers)).toEqual({ "201": 60 });
    const list = await owner.as.get(`${team.path}/invitations?limit=100`);
    expect(list.body.data).toHaveLength(60);
    expect(list.body.nextCursor).toBeNull();
    const page = await owner.as.get(`${team.path}/invitations`);
    expect(page.body.pagination).toEqual({ page: 1, limit: 20, total: 60, lastPage: 3 });
  });
});

describe("resending an invitation", () => {
  it("ends the old link, emails a new one, and makes the resender its inviter", async () => {
    const { team, owner } = await freshTeam();
    const admin = await team.join("ADMIN");
    const guest = await freshUser();
    const { id, token } = await invited(team, admin, guest.email, "MEMBER");
    const answer = await owner.as.post(`${team.path}/invitations/${id}/resend`);
    expect(answer).toMatchObject({ status: 200, body: { id, status: "pending", invitedBy: owner.userId } });
    const [second, first] = await tokensMailedTo(guest.email);
    expect(first).toBe(token);
    expect(second).not.toBe(token);
    expect(answer.text).not.toContain(second);
    expect(await team.audit("team.invitation_resent")).toMatchObject([{ actorId: owner.userId, target: id }]);
    expect((await guest.as.post(ACCEPT, { token })).status).toBe(404);
    // The first inviter may leave: the invitation now belongs to the owner.
    await owner.as.delete(`${team.path}/members/${admin.memberId}`);
    expect((await guest.as.post(ACCEPT, { token: second })).status).toBe(200);
  });

  it("requires the rank to invite, and an open invitation of the same team", async () => {
    const { team, owner } = await freshTeam();
    const admin = await team.join("ADMIN");
    const guest = await freshUser();
    const high = await invited(team, owner, freshEmail(), "ADMIN");
    const path = (id: string, rest = "/resend") => `${team.path}/invitations/${id}${rest}`;
    expect(await admin.as.post(path(high.id))).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_RANK" } });
    const used = await invited(team, owner, guest.email, "VIEWER");
    await guest.as.post(ACCEPT, { token: used.token });
    expect(await admin.as.delete(path(high.id, ""))).toMatchObject({ status: 204, text: "" });
    const { team: elsewhere, owner: stranger } = await freshTeam();
    const foreign = await invited(elsewhere, stranger, freshEmail(), "VIEWER");
    const ids = [used.id, high.id, foreign.id, "tin_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"];
    const answers = await Promise.all(ids.flatMap((id) => [owner.as.post(path(id)), owner.as.delete(path(id, ""))]));
    expect(tally(answers)).toEqual({ "404 INVITATION_NOT_FOUND": 10 });
    expect((await elsewhere.invitations())[0]?.revokedAtMs).toBeNull();
  });
});

describe("resending an invitation to ADMIN", () => {
  it("requires a factor given in the last 5 minutes, like creating one; another role requires none", async () => {
    const { team, owner } = await freshTeam();
    const high = await invited(team, owner, freshEmail(), "ADMIN");
    const low = await invited(team, owner, freshEmail(), "MEMBER");
    const path = (id: string) => `${team.path}/invitations/${id}/resend`;
    const stale = callerWith(await seedSession(owner.userId, { factorAtMs: Date.now() - 300_001 }));
    const before = await team.invitations();
    const refused = await stale.post(path(high.id));
    expect(refused).toMatchObject({ status: 403, body: { code: "STEP_UP_REQUIRED", factors: ["email_code"] } });
    expect(await team.invitations()).toEqual(before);
    expect((await stale.post(path(low.id))).status).toBe(200);
    expect((await owner.as.post(path(high.id))).status).toBe(200);
  });
});

it("the revocation of an invitation is recorded in the audit log, and the invitation can no longer be accepted", async () => {
  const { team, owner } = await freshTeam();
  const guest = await freshUser();
  const { id, token } = await invited(team, owner, guest.email, "VIEWER");
  expect((await owner.as.delete(`${team.path}/invitations/${id}`)).status).toBe(204);
  expect(await team.audit("team.invitation_revoked")).toMatchObject([{ actorId: owner.userId, target: id }]);
  expect((await guest.as.post(ACCEPT, { token })).status).toBe(404);
  expect((await guest.as.post(acceptById(id))).status).toBe(404);
});

it("API keys can neither list members nor invite", async () => {
  const { team } = await freshTeam();
  const key = await seedKey(team.merchantId);
  const ask = { key, method: "POST", body: { email: "a@example.com", role: "VIEWER" } };
  for (const answer of [await send(`${team.path}/invitations`, ask), await send(`${team.path}/members`, { key })])
    expect(answer).toMatchObject({ status: 403, json: { code: "SESSION_REQUIRED" } });
});
