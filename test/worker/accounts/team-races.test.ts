// Parallel requests on real D1: there must always be one OWNER, nobody may be a member twice, and no role may be given by someone without the rank
// for it.
import { beforeEach, describe, expect, it } from "vitest";
import { seedSession } from "../../support/people.ts";
import {
  ACCEPT,
  acceptById,
  callerWith,
  freshTeam,
  freshUser,
  invited,
  type Teammate,
  type TestTeam,
  tally,
  tokensMailedTo,
} from "../../support/teams.ts";

const AT_ONCE = 20;
const times = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

let team: TestTeam;
let owner: Teammate;

beforeEach(async () => {
  ({ team, owner } = await freshTeam());
});

const transfer = (by: Teammate, to: Teammate) => by.as.post(`${team.path}/members/${to.memberId}/transfer-ownership`);
const remove = (by: Teammate, whom: Teammate) => by.as.delete(`${team.path}/members/${whom.memberId}`);

describe("20 parallel", () => {
  it("transfers to 20 members make one of them the OWNER and leave the others' roles unchanged", async () => {
    const members = await times(AT_ONCE, () => team.join("VIEWER"));
    const answers = await Promise.all(members.map((member) => transfer(owner, member)));
    expect(tally(answers)).toEqual({ "200": 1, "403 OWNER_REQUIRED": AT_ONCE - 1 });
    const roles = Object.values(await team.roles()).sort();
    expect(roles).toEqual(["ADMIN", "OWNER", ...new Array(AT_ONCE - 1).fill("VIEWER")]);
    expect(await team.audit("team.role_changed")).toHaveLength(2);
    expect(await team.events()).toHaveLength(1);
  });

  it("transfers to one member take effect once", async () => {
    const member = await team.join("ADMIN");
    const answers = await times(AT_ONCE, () => transfer(owner, member));
    expect(tally(answers)).toEqual({ "200": 1, "403 OWNER_REQUIRED": AT_ONCE - 1 });
    expect(await team.roles()).toEqual({ [owner.userId]: "ADMIN", [member.userId]: "OWNER" });
    expect(await team.events()).toHaveLength(1);
  });

  it("acceptances by one user, by token and by id, in many sessions, create one member", async () => {
    const guest = await freshUser();
    const { id, token } = await invited(team, owner, guest.email, "MEMBER");
    const answers = await times(AT_ONCE, async (i) => {
      const as = callerWith(await seedSession(guest.userId));
      return i % 2 === 0 ? as.post(ACCEPT, { token }) : as.post(acceptById(id));
    });
    expect(tally(answers)).toEqual({ "200": 1, "404 INVITATION_NOT_FOUND": AT_ONCE - 1 });
    expect(await team.roles()).toEqual({ [owner.userId]: "OWNER", [guest.userId]: "MEMBER" });
    expect(await team.audit("team.member_joined")).toHaveLength(1);
    expect(await team.events("team.member_joined")).toHaveLength(1);
  });

  it("acceptances by 20 users admit only the invited one", async () => {
    const guests = await times(AT_ONCE, () => freshUser());
    const [guest] = guests;
    if (guest === undefined) throw new Error("no guest");
    const { token } = await invited(team, owner, guest.email, "MEMBER");
    const answers = await Promise.all(guests.map(({ as }) => as.post(ACCEPT, { token })));
    const { "200": made, ...rest } = tally(answers);
    expect(made).toBe(1);
    expect(Object.keys(rest).every((each) => /MISMATCH|NOT_FOUND/.test(each))).toBe(true);
    expect(Object.keys(await team.roles()).sort()).toEqual([owner.userId, guest.userId].sort());
  });

  it("removals of one member take effect once", async () => {
    const admins = await times(AT_ONCE - 1, () => team.join("ADMIN"));
    const member = await team.join("MEMBER");
    const answers = await Promise.all([owner, ...admins].map((by) => remove(by, member)));
    expect(tally(answers)).toEqual({ "204": 1, "404 MEMBER_NOT_FOUND": AT_ONCE - 1 });
    expect(await team.audit("team.member_removed")).toHaveLength(1);
    expect(await team.events("team.member_removed")).toHaveLength(1);
  });

  it("invitations to one address create one pending invitation and one email", async () => {
    const guest = await freshUser();
    const answers = await times(AT_ONCE, () =>
      owner.as.post(`${team.path}/invitations`, { email: guest.email, role: "VIEWER" }),
    );
    expect(tally(answers)).toEqual({ "201": 1, "409 INVITATION_EXISTS": AT_ONCE - 1 });
    expect(await team.invitations()).toHaveLength(1);
    expect(await tokensMailedTo(guest.email)).toHaveLength(1);
  });

  it("changes to one member's role happen one after the other: each audit entry starts where another ended", async () => {
    const member = await team.join("VIEWER");
    const answers = await times(AT_ONCE, (i) =>
      owner.as.patch(`${team.path}/members/${member.memberId}`, { role: i % 2 === 0 ? "MEMBER" : "ADMIN" }),
    );
    const { "200": applied = 0, "503 CONTENTION": lost = 0, ...rest } = tally(answers);
    expect(rest).toEqual({});
    expect(applied + lost).toBe(AT_ONCE);
    expect(applied).toBeGreaterThan(1);
    const entries = await team.audit("team.role_changed");
    const last = (await team.roles())[member.userId];
    const steps = (key: "before" | "after", role: string) => entries.filter((each) => each[key].role === role).length;
    for (const role of ["VIEWER", "MEMBER", "ADMIN"]) {
      const isFirst = role === "VIEWER" ? 1 : 0;
      const isLast = role === last ? 1 : 0;
      expect(steps("after", role) - steps("before", role)).toBe(isLast - isFirst);
    }
  });
});

describe.each(Array.from({ length: 6 }, (_, i) => i))("in any order of arrival (round %i),", () => {
  it("a transfer and a removal of its target leave one OWNER, who is a member", async () => {
    const target = await team.join("MEMBER");
    const admin = await team.join("ADMIN");
    const [moved, removed] = await Promise.all([transfer(owner, target), remove(admin, target)]);
    const roles = await team.roles();
    expect(await team.owners()).toBe(1);
    if (moved.status === 200) {
      expect(roles[target.userId]).toBe("OWNER");
      expect(removed).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_RANK" } });
    } else {
      expect([moved.status, moved.body.code, removed.status]).toEqual([404, "MEMBER_NOT_FOUND", 204]);
      expect(roles).toEqual({ [owner.userId]: "OWNER", [admin.userId]: "ADMIN" });
    }
  });

  it("a transfer and the target's own departure leave one OWNER, who is a member", async () => {
    const target = await team.join("ADMIN");
    const [moved, left] = await Promise.all([transfer(owner, target), target.as.post(`${team.path}/leave`)]);
    expect(await team.owners()).toBe(1);
    if (moved.status === 200) expect(left).toMatchObject({ status: 403, body: { code: "OWNER_CANNOT_LEAVE" } });
    else expect([moved.body.code, left.status]).toEqual(["MEMBER_NOT_FOUND", 204]);
  });

  it("the old OWNER can remove an ADMIN only before the transfer of ownership", async () => {
    const [target, admin] = [await team.join("MEMBER"), await team.join("ADMIN")];
    const [moved, removed] = await Promise.all([transfer(owner, target), remove(owner, admin)]);
    expect(moved.status).toBe(200);
    // After the transfer the old OWNER is an ADMIN, who cannot remove another ADMIN.
    expect([204, 403]).toContain(removed.status);
    expect(admin.userId in (await team.roles())).toBe(removed.status !== 204);
    expect(await team.owners()).toBe(1);
  });

  it("an invitation that is accepted while its inviter is demoted ends as either accepted or revoked", async () => {
    const admin = await team.join("ADMIN");
    const guest = await freshUser();
    const { token } = await invited(team, admin, guest.email, "MEMBER");
    const [demoted, accepted] = await Promise.all([
      owner.as.patch(`${team.path}/members/${admin.memberId}`, { role: "VIEWER" }),
      guest.as.post(ACCEPT, { token }),
    ]);
    expect(demoted.status).toBe(200);
    const [row] = await team.invitations();
    if (accepted.status === 200) {
      expect((await team.roles())[guest.userId]).toBe("MEMBER");
      expect([row?.acceptedAtMs === null, row?.revokedAtMs]).toEqual([false, null]);
    } else {
      expect(accepted).toMatchObject({ status: 404, body: { code: "INVITATION_NOT_FOUND" } });
      expect(guest.userId in (await team.roles())).toBe(false);
      expect([row?.acceptedAtMs, row?.revokedAtMs === null]).toEqual([null, false]);
    }
  });

  it("exactly one of a revocation and an acceptance of the same invitation succeeds", async () => {
    const guest = await freshUser();
    const { id, token } = await invited(team, owner, guest.email, "MEMBER");
    const [revoked, accepted] = await Promise.all([
      owner.as.delete(`${team.path}/invitations/${id}`),
      guest.as.post(ACCEPT, { token }),
    ]);
    expect([revoked.status, accepted.status].sort()).toEqual(accepted.status === 200 ? [200, 404] : [204, 404]);
    expect(guest.userId in (await team.roles())).toBe(accepted.status === 200);
  });

  it("exactly one of a resend and an acceptance by the old link succeeds", async () => {
    const guest = await freshUser();
    const { id, token } = await invited(team, owner, guest.email, "MEMBER");
    const [resent, accepted] = await Promise.all([
      owner.as.post(`${team.path}/invitations/${id}/resend`),
      guest.as.post(ACCEPT, { token }),
    ]);
    expect([resent.status, accepted.status].sort()).toEqual([200, 404]);
    expect(guest.userId in (await team.roles())).toBe(accepted.status === 200);
  });

  it("a transfer and a change of the target's role leave the target as the only OWNER", async () => {
    const target = await team.join("MEMBER");
    const [moved, changed] = await Promise.all([
      transfer(owner, target),
      owner.as.patch(`${team.path}/members/${target.memberId}`, { role: "ADMIN" }),
    ]);
    expect(moved.status).toBe(200);
    expect([200, 403]).toContain(changed.status);
    expect(await team.roles()).toEqual({ [owner.userId]: "ADMIN", [target.userId]: "OWNER" });
  });
});
