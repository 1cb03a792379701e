import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { ACCEPT, acceptById, freshTeam, freshUser, invited, tally } from "../../support/teams.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import { expire } from "./invitations-harness.ts";

describe("accepting an invitation", () => {
  it.each(["token", "id"] as const)(
    "by %s makes the user a member, ends the invitation, and is recorded in the audit log and as an event",
    async (by) => {
      const { team, owner } = await freshTeam();
      const guest = await freshUser();
      const { id, token } = await invited(team, owner, guest.email.toUpperCase(), "ADMIN");
      const accept = () => (by === "token" ? guest.as.post(ACCEPT, { token }) : guest.as.post(acceptById(id)));
      const answer = await accept();
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          id: expect.stringMatching(/^mem_/),
          merchantId: team.merchantId,
          userId: guest.userId,
          email: guest.email,
          name: null,
          role: "ADMIN",
          joinedAt: expect.any(String),
        },
      ]);
      expect(await team.roles()).toEqual({ [owner.userId]: "OWNER", [guest.userId]: "ADMIN" });
      expect((await owner.as.get(`${team.path}/invitations`)).body.data).toMatchObject([
        { id, status: "accepted", acceptedAt: expect.any(String) },
      ]);
      const entries = await team.audit();
      expect(entries).toHaveLength(3);
      expect(entries).toEqual(
        expect.arrayContaining([
          {
            actorId: guest.userId,
            action: "team.invitation_accepted",
            target: id,
            before: null,
            after: { memberId: answer.body.id, role: "ADMIN" },
          },
          {
            actorId: guest.userId,
            action: "team.member_joined",
            target: answer.body.id,
            before: null,
            after: { userId: guest.userId, role: "ADMIN" },
          },
        ]),
      );
      const { merchantId: _, ...member } = answer.body;
      expect(await team.events()).toEqual([{ type: "team.member_joined", data: { memberId: member.id, member } }]);
      expect((await guest.as.get(`${team.path}/members`)).status).toBe(200);
      expect(await accept()).toMatchObject({ status: 404, body: { code: "INVITATION_NOT_FOUND" } });
    },
  );

  it("under an Idempotency-Key returns the same response when repeated", async () => {
    const { team, owner } = await freshTeam();
    const guest = await freshUser();
    const { token } = await invited(team, owner, guest.email, "VIEWER");
    const accept = () => guest.as.post(ACCEPT, { token }, { "idempotency-key": "a" });
    const [first, second] = [await accept(), await accept()];
    expect([first.status, second.status, second.text]).toEqual([200, 200, first.text]);
    expect(await team.audit("team.member_joined")).toHaveLength(1);
  });

  it("by token or by id is allowed only to the user who has verified the invited address", async () => {
    const { team, owner } = await freshTeam();
    const guest = await freshUser({ emailVerifiedAtMs: null });
    const stranger = await freshUser();
    const { id, token } = await invited(team, owner, guest.email, "VIEWER");
    const answers = [
      await guest.as.post(ACCEPT, { token }),
      await guest.as.post(acceptById(id)),
      await stranger.as.post(ACCEPT, { token }),
      await stranger.as.post(acceptById(id)),
    ];
    expect(tally(answers)).toEqual({ "403 INVITATION_EMAIL_MISMATCH": 4 });
    expect((await guest.as.get("/api/v1/team/invitations")).body.data).toEqual([]);
    expect(Object.keys(await team.roles())).toEqual([owner.userId]);
  });

  it("is answered with 404 for every unknown token and id", async () => {
    const guest = await freshUser();
    const answers = [
      await guest.as.post(ACCEPT, { token: "x" }),
      await guest.as.post(ACCEPT, { token: "A".repeat(43) }),
      await guest.as.post(acceptById("tin_01ARZ3NDEKTSV4RRFFQ69G5FAV")),
      await guest.as.post(acceptById("x")),
    ];
    expect(tally(answers)).toEqual({ "404 INVITATION_NOT_FOUND": 4 });
    expect((await guest.as.post(ACCEPT, {})).status).toBe(400);
  });

  it("does not work with the token's hash from the database", async () => {
    const { team, owner } = await freshTeam();
    const guest = await freshUser();
    await invited(team, owner, guest.email, "VIEWER");
    const [row] = await team.invitations();
    expect((await guest.as.post(ACCEPT, { token: row?.tokenHash })).status).toBe(404);
  });

  it("is refused after 7 days, and possible again after a resend", async () => {
    const { team, owner } = await freshTeam();
    const guest = await freshUser();
    const { id, token } = await invited(team, owner, guest.email, "VIEWER");
    await expire(id);
    const gone = { status: 410, body: { code: "INVITATION_EXPIRED" } };
    expect(await guest.as.post(ACCEPT, { token })).toMatchObject(gone);
    expect(await guest.as.post(acceptById(id))).toMatchObject(gone);
    expect((await guest.as.get("/api/v1/team/invitations")).body.data).toEqual([]);
    expect((await owner.as.get(`${team.path}/invitations`)).body.data).toMatchObject([{ id, status: "expired" }]);
    expect(await owner.as.post(`${team.path}/invitations/${id}/resend`)).toMatchObject({ status: 200 });
    expect((await guest.as.post(acceptById(id))).status).toBe(200);
  });

  it("is refused once the inviter is demoted or removed, or the merchant is deleted", async () => {
    const { team, owner } = await freshTeam();
    const admin = await team.join("ADMIN");
    const guest = await freshUser();
    const demote = (role: "VIEWER" | "ADMIN") =>
      testDb.update(members).set({ role }).where(eq(members.id, admin.memberId));
    const { id, token } = await invited(team, admin, guest.email, "MEMBER");
    const accept = async () => tally([await guest.as.post(ACCEPT, { token }), await guest.as.post(acceptById(id))]);
    // The role is changed directly in the database, because the routes would also revoke the invitation. Acceptance must check the inviter's role
    // again.
    await demote("VIEWER");
    expect(await accept()).toEqual({ "404 INVITATION_NOT_FOUND": 2 });
    expect((await guest.as.get("/api/v1/team/invitations")).body.data).toEqual([]);
    await testDb.delete(members).where(eq(members.id, admin.memberId));
    expect(await accept()).toEqual({ "404 INVITATION_NOT_FOUND": 2 });
    const { team: dead, owner: last } = await freshTeam();
    const offer = await invited(dead, last, guest.email, "MEMBER");
    await testDb.update(merchants).set({ deletedAtMs: Date.now() }).where(eq(merchants.id, dead.merchantId));
    expect((await guest.as.post(ACCEPT, { token: offer.token })).status).toBe(404);
    expect((await guest.as.get("/api/v1/team/invitations")).body.data).toEqual([]);
    expect(Object.keys(await team.roles())).toEqual([owner.userId]);
  });

  it("is refused to a user who is already a member", async () => {
    const { team, owner } = await freshTeam();
    const guest = await freshUser();
    const { token } = await invited(team, owner, guest.email, "ADMIN");
    const nowMs = Date.now();
    await testDb.insert(members).values({
      id: freshId("mem"),
      merchantId: team.merchantId,
      userId: guest.userId,
      role: "VIEWER",
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    expect(await guest.as.post(ACCEPT, { token })).toMatchObject({ status: 409, body: { code: "ALREADY_MEMBER" } });
    expect((await team.roles())[guest.userId]).toBe("VIEWER");
  });

  it("is possible from the invitee's own list, which is paginated and shows the merchant's name and the inviter's address", async () => {
    const { team, owner } = await freshTeam();
    const { team: second, owner: other } = await freshTeam();
    const guest = await freshUser();
    const { id } = await invited(team, owner, guest.email.toUpperCase(), "MEMBER");
    const later = await invited(second, other, guest.email, "VIEWER");
    const { status, body } = await guest.as.get("/api/v1/team/invitations");
    expect(status).toBe(200);
    expect(body.pagination).toEqual({ page: 1, limit: 20, total: 2, lastPage: 1 });
    expect(body.data.map((each: { id: string }) => each.id).sort()).toEqual([id, later.id].sort());
    expect(body.data.find((each: { id: string }) => each.id === id)).toMatchObject({
      merchantId: team.merchantId,
      merchantName: "Test shop",
      role: "MEMBER",
      inviterEmail: owner.email,
      expiresAt: expect.any(String),
    });
    const paged = await guest.as.get("/api/v1/team/invitations?limit=1");
    const next = await guest.as.get(`/api/v1/team/invitations?limit=1&cursor=${paged.body.nextCursor}`);
    const ids = [...paged.body.data, ...next.body.data].map((each: { id: string }) => each.id);
    expect(ids.sort()).toEqual([id, later.id].sort());
    expect((await (await freshUser()).as.get("/api/v1/team/invitations")).body.data).toEqual([]);
  });
});
