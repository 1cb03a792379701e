// A merchant with a team, and clients that run its real operations. Shared by the simulations of invitations and of ownership. A route takes a few
// lines here: like a route of the Worker, it either passes the operation to `runOnce` or just runs it.

import type { Invitation } from "../../../src/accounts/invitations/invitation.ts";
import type { Role } from "../../../src/accounts/roles/roles.ts";
import type { TeamDependencies } from "../../../src/accounts/teams/change-team.ts";
import type { Seat } from "../../../src/accounts/teams/member.ts";
import type { User } from "../../../src/accounts/users/user.ts";
import { type MemberId, type MerchantId, makeId, type UserId } from "../../../src/lib/ids.ts";
import type { Result } from "../../../src/lib/result.ts";
import { DAY_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { faultKind } from "../../../src/platform/db/retry.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { invitations, members, teams } from "../../../src/platform/db/schema/teams.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import type { Failure } from "../../../src/platform/failures.ts";
import { KeyReservations } from "../../../src/platform/idempotency/key-reservations.ts";
import { type OnceDependencies, runOnce, type Work } from "../../../src/platform/idempotency/run-once.ts";
import { type Attempt, insist } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, Verdict, World } from "../engine/world.ts";

const MERCHANT: MerchantId = "mer_00000000000000000000000000";
const START_MS = 1_799_999_000_000;
const numbered = (n: number) => String(n).padStart(26, "0");

export interface Player extends Seat {
  readonly user: User;
  readonly role: Role | undefined;
}

const player = (n: number, name: string, role: Role | undefined): Player => {
  const id: UserId = makeId("usr", numbered(n));
  const email = `${name}@example.com`;
  const factors = {
    isOperator: false,
    hasTotp: false,
    hasEmailOtp: false,
    hasPasskey: false,
    hasGoogle: false,
    hasGithub: false,
  };
  return {
    merchantId: MERCHANT,
    memberId: makeId("mem", numbered(n)) satisfies MemberId,
    user: { id, email, emailKey: email, name: null, isEmailVerified: true, ...factors },
    role,
  };
};

export const OWNER = player(1, "owner", "OWNER");
export const ADMIN = player(2, "admin", "ADMIN");
export const MEMBER = player(3, "member", "MEMBER");
export const GUEST = player(4, "guest", undefined);
const EVERYBODY = [OWNER, ADMIN, MEMBER, GUEST];

/** The ADMIN has invited the guest as a MEMBER. */
export const INVITATION: Invitation = {
  id: makeId("tin", numbered(1)),
  merchantId: MERCHANT,
  email: GUEST.user.email,
  emailKey: GUEST.user.emailKey,
  role: "MEMBER",
  tokenHash: "a".repeat(64),
  invitedBy: ADMIN.user.id,
  createdAtMs: START_MS,
  updatedAtMs: START_MS,
  expiresAtMs: START_MS + 30 * DAY_MS,
  acceptedAtMs: null,
  acceptedBy: null,
  revokedAtMs: null,
  mailedAtMs: null,
  mailDueAtMs: null,
  waitsForMailbox: false,
};

/** Stores the team before the first schedule of the lab. */
export async function seatTeam(lab: Lab): Promise<void> {
  const db = lab.db(async (_, work) => work());
  const times = { createdAtMs: START_MS, updatedAtMs: START_MS };
  await db.insert(merchants).values({ id: MERCHANT, name: "Shop", ...times });
  await db.insert(teams).values({ merchantId: MERCHANT, updatedAtMs: START_MS });
  for (const { user, memberId, role } of EVERYBODY) {
    const { id, email, emailKey } = user;
    await db.insert(users).values({ id, email, emailKey, emailVerifiedAtMs: START_MS, ...times });
    if (role !== undefined)
      await db.insert(members).values({ id: memberId, merchantId: MERCHANT, userId: id, role, ...times });
  }
  await db.insert(invitations).values(INVITATION);
  for (const { user } of EVERYBODY) reservationsOf(lab, user.id);
}

function reservationsOf(lab: Lab, scope: string): KeyReservations {
  return lab.object(`keys ${scope}`, (storage) => new KeyReservations(storage, () => lab.world.newUlid()));
}

function teamDependencies(lab: Lab, world: World, client: Client, actor: UserId): TeamDependencies {
  return {
    db: lab.db(world.effectOf(client)),
    sleep: world.sleepOf(client),
    nowMs: world.nowMs,
    trail: { actor: { kind: "USER", id: actor }, ip: null, requestId: null },
    newOperationId: () => world.newUlid(),
  };
}

/** The final outcome of a request. */
export type Outcome =
  | { readonly kind: "answer"; readonly body: string }
  | { readonly kind: "refused"; readonly code: Failure["code"] };

export interface Scene {
  readonly lab: Lab;
  readonly world: World;
  readonly bugs: unknown[];
}

/** A client that repeats a request without a key until it is answered or finally refused. */
export function sendChange<T extends object>(
  scene: Scene,
  by: Player,
  change: (deps: TeamDependencies) => Promise<Result<T, Failure>>,
  onDone: (outcome: Outcome) => void,
): void {
  const { lab, world } = scene;
  insistOn(scene, onDone, async (client) => {
    const done = await change(teamDependencies(lab, world, client, by.user.id));
    return done.ok ? { kind: "answer", body: JSON.stringify(done.value) } : { kind: "refused", failure: done.error };
  });
}

/** A client that repeats a request under one Idempotency-Key of its user. */
export function sendOnce(
  scene: Scene,
  of: { readonly by: Player; readonly key: string },
  work: (deps: TeamDependencies) => Work,
  onDone: (outcome: Outcome) => void,
): void {
  const { lab, world } = scene;
  const { by, key } = of;
  insistOn(scene, onDone, async (client) => {
    const deps = teamDependencies(lab, world, client, by.user.id);
    const effect = world.effectOf(client);
    const reservations = () => reservationsOf(lab, by.user.id);
    const once: OnceDependencies = {
      ...deps,
      nowMs: () => world.nowMs,
      background: () => {},
      keys: {
        reserve: (...args) => effect("reserve", () => reservations().reserve(...args)),
        takeOver: (...args) => effect("take over", () => reservations().takeOver(...args)),
        endLease: (...args) => effect("end lease", () => reservations().endLease(...args)),
      },
    };
    return runOnce(once, { merchantId: by.user.id, key: { hash: key, fingerprint: "v1" } }, work(deps));
  });
}

type Asked =
  | { readonly kind: "answer"; readonly body: string }
  | { readonly kind: "refused"; readonly failure: Failure };

function insistOn(scene: Scene, onDone: (outcome: Outcome) => void, ask: (client: Client) => Promise<Asked>): void {
  const { world, bugs } = scene;
  insist<Outcome>({
    world,
    attempt: async (client) => attemptOf(await ask(client)),
    onDone,
    onBug: (error) => bugs.push(error),
    isFault: (error) => faultKind(error) !== "other",
  });
}

function attemptOf(asked: Asked): Attempt<Outcome> {
  if (asked.kind === "answer") return { kind: "done", value: { kind: "answer", body: asked.body } };
  const { failure } = asked;
  switch (failure.code) {
    case "OPERATION_IN_PROGRESS":
      return { kind: "again", afterMs: failure.retryAfterSeconds * SECOND_MS };
    case "STORAGE_UNAVAILABLE":
    case "CONTENTION":
      return { kind: "again", afterMs: SECOND_MS };
    default:
      return { kind: "done", value: { kind: "refused", code: failure.code } };
  }
}

/** The current role of a player; undefined if they are not a member. */
export function roleOf(lab: Lab, { user }: Player): Role | undefined {
  const [row] = lab.rows("select role from members where user_id = ?", user.id);
  return (row?.role ?? undefined) as Role | undefined;
}

/** Invariants of a team's rows after any history. */
export function teamProblem({ lab, bugs }: Scene): Verdict {
  if (bugs.length > 0) return `a bug: ${bugs[0]}`;
  const [facts] = lab.rows(`select
    (select count(*) from assertions) as assertions,
    (select count(*) from members where role = 'OWNER') as owners,
    (select count(*) from members) as seats,
    (select count(distinct user_id) from members) as people,
    (select count(*) from audit_events where action = 'team.member_joined') as joined,
    (select count(*) from events where type = 'team.member_joined') as told_joined,
    (select count(*) from audit_events where action in ('team.member_removed', 'team.member_left')) as gone,
    (select count(*) from events where type = 'team.member_removed') as told_gone,
    (select count(*) from audit_events where action = 'team.role_changed') as changed,
    (select count(*) from events where type = 'team.role_changed') as told_changed,
    (select count(*) from events where type = 'team.ownership_transferred') as transferred,
    (select count(*) from invitations where accepted_at_ms is not null) as accepted,
    (select count(*) from audit_events where action = 'team.invitation_revoked') as revoked,
    (select count(*) from invitations where revoked_at_ms is not null) as is_revoked`);
  if (facts === undefined) throw new Error("no facts");
  const { owners, seats, people, joined, gone, changed, transferred } = facts;
  if (facts.assertions !== 0) return "an assertion was stored";
  if (owners !== 1) return `${owners} owners`;
  if (seats !== people) return `${seats} seats for ${people} people`;
  if (Number(seats) !== 3 + Number(joined) - Number(gone))
    return `${seats} seats after ${joined} came and ${gone} went`;
  if (facts.told_joined !== joined || facts.accepted !== joined)
    return `${joined} joined, ${facts.told_joined} were told of, ${facts.accepted} invitations used`;
  if (facts.told_gone !== gone) return `${gone} went, ${facts.told_gone} were told of`;
  if (Number(changed) !== Number(facts.told_changed) + 2 * Number(transferred))
    return `${changed} roles changed, with ${facts.told_changed} told and ${transferred} transfers`;
  if (facts.revoked !== facts.is_revoked) return `${facts.is_revoked} revoked, ${facts.revoked} in the log`;
  return replayProblem(lab);
}

const RANK = { VIEWER: 1, MEMBER: 2, ADMIN: 3, OWNER: 4 } as const;

/**
 * Replays the log in the order of commits: each actor must have been allowed to make the change at that moment, and the result must be the stored
 * state.
 */
function replayProblem(lab: Lab): Verdict {
  const roles = new Map<string, Role>();
  const userOf = new Map<string, string>();
  for (const { user, memberId, role } of EVERYBODY) {
    userOf.set(memberId, user.id);
    if (role !== undefined) roles.set(user.id, role);
  }
  const rank = (userId: string) => RANK[roles.get(userId) ?? "VIEWER"] * (roles.has(userId) ? 1 : 0);
  for (const row of lab.rows(
    "select entry.* from audit_order written join audit_events entry using (id) order by written.rowid",
  )) {
    const [actor, before, after] = [String(row.actor_id), JSON.parse(`${row.before}`), JSON.parse(`${row.after}`)];
    const target = userOf.get(String(row.target)) ?? "";
    switch (row.action) {
      case "team.role_changed": {
        if (roles.get(target) !== before.role) return `a change from ${before.role} found ${roles.get(target)}`;
        const isTransfer = before.role === "OWNER" ? actor === target : after.role === "OWNER";
        const highest = Math.max(rank(target), RANK[after.role as Role]);
        if (!isTransfer && rank(actor) <= highest) return `a ${roles.get(actor)} made a ${before.role} a ${after.role}`;
        roles.set(target, after.role);
        break;
      }
      case "team.member_removed":
        if (rank(actor) <= rank(target)) return `a ${roles.get(actor)} removed a ${roles.get(target)}`;
        roles.delete(target);
        break;
      case "team.member_left":
        if (roles.get(target) === "OWNER") return "an owner left";
        roles.delete(target);
        break;
      case "team.member_joined":
        if (rank(INVITATION.invitedBy) <= RANK[INVITATION.role])
          return "let in by an inviter who could not invite any more";
        userOf.set(String(row.target), actor);
        roles.set(actor, INVITATION.role);
        break;
    }
  }
  const stands = new Map(lab.rows("select user_id, role from members").map((row) => [row.user_id, row.role]));
  const isSame = stands.size === roles.size && [...roles].every(([userId, role]) => stands.get(userId) === role);
  return isSame ? undefined : "the log does not lead to the roles that stand";
}
