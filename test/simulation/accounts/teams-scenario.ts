// Runs the real operations that accept invitations and transfer ownership, while the rows on which they depend change.
import { and, eq, isNull } from "drizzle-orm";
import { acceptInvitation } from "../../../src/accounts/invitations/accept-invitation.ts";
import { acceptRefusal } from "../../../src/accounts/invitations/invitation.ts";
import { type InvitationKey, selectOffered } from "../../../src/accounts/invitations/store.ts";
import { changeRole } from "../../../src/accounts/teams/change-role.ts";
import { readActors, type TeamDependencies } from "../../../src/accounts/teams/change-team.ts";
import { leaveTeam, removeMember } from "../../../src/accounts/teams/remove-member.ts";
import { insertMember, setRole } from "../../../src/accounts/teams/store.ts";
import { transferOwnership } from "../../../src/accounts/teams/transfer-ownership.ts";
import { derivedId, makeId } from "../../../src/lib/ids.ts";
import { err, ok, type Result } from "../../../src/lib/result.ts";
import { insertAudit } from "../../../src/platform/audit/store.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { batchConflict } from "../../../src/platform/db/conflict.ts";
import { readWithRetry, withinLimit } from "../../../src/platform/db/retry.ts";
import { invitations } from "../../../src/platform/db/schema/teams.ts";
import type { Write } from "../../../src/platform/db/statement.ts";
import { recordOutbox } from "../../../src/platform/events/store.ts";
import type { Failure } from "../../../src/platform/failures.ts";
import type { Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Verdict, World } from "../engine/world.ts";
import {
  ADMIN,
  GUEST,
  INVITATION,
  MEMBER,
  type Outcome,
  OWNER,
  type Player,
  roleOf,
  type Scene,
  sendChange,
  sendOnce,
  teamProblem,
} from "./team.ts";

/** These operations have few steps, so their fault rate is higher than in the scenarios of invoices. */
const SETTINGS = { faultChance: 0.35, maxSteps: 6_000 } as const;
const BY_TOKEN: InvitationKey = { tokenHash: INVITATION.tokenHash };
const BY_ID: InvitationKey = { invitationId: INVITATION.id };

type Accept = typeof acceptInvitation;
type Transfer = typeof transferOwnership;

/**
 * Three browsers of the guest accept one invitation, by token or by id; two of them share an idempotency key. In some histories the inviter is
 * demoted or removed meanwhile.
 */
export function acceptScenario(lab: Lab, name = "accept invitation", accept: Accept = acceptInvitation): Scenario {
  return {
    ...SETTINGS,
    name,
    lab,
    start(world) {
      const scene: Scene = { lab, world, bugs: [] };
      const outcomes: { key: string; outcome: Outcome }[] = [];
      for (const [key, by] of [
        ["a", BY_TOKEN],
        ["a", BY_TOKEN],
        ["b", BY_ID],
      ] as const) {
        const work = (deps: TeamDependencies) => accept(deps, GUEST.user, by);
        sendOnce(scene, { by: GUEST, key }, work, (outcome) => outcomes.push({ key, outcome }));
      }
      const rival = world.pick(["nobody", "demotion", "removal"]);
      const rivals: Outcome[] = [];
      if (rival === "demotion") {
        const demotion = { targetId: ADMIN.memberId, role: "VIEWER" } as const;
        sendChange(
          scene,
          OWNER,
          (deps) => changeRole(deps, OWNER, demotion),
          (outcome) => rivals.push(outcome),
        );
      }
      if (rival === "removal")
        sendChange(
          scene,
          OWNER,
          (deps) => removeMember(deps, OWNER, ADMIN.memberId),
          (outcome) => rivals.push(outcome),
        );
      return () => teamProblem(scene) ?? acceptProblem(scene, outcomes, { rival, rivals });
    },
  };
}

function acceptProblem(
  { lab }: Scene,
  outcomes: readonly { readonly key: string; readonly outcome: Outcome }[],
  of: { readonly rival: string; readonly rivals: readonly Outcome[] },
): Verdict {
  if (outcomes.length !== 3) return `${outcomes.length} outcomes of 3 clients`;
  if (of.rivals.length !== (of.rival === "nobody" ? 0 : 1)) return `the ${of.rival} had ${of.rivals.length} outcomes`;
  const answers = new Map<string, string>();
  for (const { key, outcome } of outcomes) {
    if (outcome.kind === "answer") answers.set(key, outcome.body);
    else if (outcome.code !== "INVITATION_NOT_FOUND") return `an acceptance was refused with ${outcome.code}`;
  }
  const isIn = roleOf(lab, GUEST) !== undefined;
  if (answers.size > 1) return "both keys were told that they accepted";
  if (answers.size === 1 && !isIn) return "an acceptance was answered and does not stand";
  if (answers.size === 0 && isIn) return "the guest is in and nobody was told";
  if (of.rival === "nobody" && !isIn) return "the guest could come in and did not";
  const [key] = answers.keys();
  const same = outcomes.filter((each) => each.key === key).map(({ outcome }) => JSON.stringify(outcome));
  if (new Set(same).size > 1) return `${key} had the outcomes ${same.join(" and ")}`;
  const [body] = answers.values();
  const [seat] = lab.rows("select id, role from members where user_id = ?", GUEST.user.id);
  if (body !== undefined && JSON.parse(body).id !== seat?.id) return "the answer names another seat";
  if (isIn && seat?.role !== INVITATION.role) return `the guest came in as ${seat?.role}`;
  return undefined;
}

/**
 * The OWNER transfers ownership to the ADMIN and to the MEMBER at once, with two clients each, while one of them leaves, is removed or gets another
 * role.
 */
export function transferScenario(
  lab: Lab,
  name = "transfer ownership",
  transfer: Transfer = transferOwnership,
): Scenario {
  return {
    ...SETTINGS,
    name,
    lab,
    start(world) {
      const scene: Scene = { lab, world, bugs: [] };
      const told: { target: Player; outcome: Outcome }[] = [];
      for (const target of [ADMIN, ADMIN, MEMBER, MEMBER]) {
        const change = (deps: TeamDependencies) => transfer(deps, OWNER, target.memberId);
        sendChange(scene, OWNER, change, (outcome) => told.push({ target, outcome }));
      }
      const rivals: Outcome[] = [];
      startRival(scene, world, (outcome) => rivals.push(outcome));
      return () => teamProblem(scene) ?? transferProblem(scene, told, rivals);
    },
  };
}

function startRival(scene: Scene, world: World, onDone: (outcome: Outcome) => void): void {
  switch (world.pick(["leave", "removal", "demotion", "removal by the owner"])) {
    case "leave":
      sendChange(scene, ADMIN, (deps) => leaveTeam(deps, ADMIN), onDone);
      return;
    case "removal":
      sendChange(scene, ADMIN, (deps) => removeMember(deps, ADMIN, MEMBER.memberId), onDone);
      return;
    case "demotion":
      sendChange(scene, OWNER, (deps) => changeRole(deps, OWNER, { targetId: ADMIN.memberId, role: "VIEWER" }), onDone);
      return;
    case "removal by the owner":
      sendChange(scene, OWNER, (deps) => removeMember(deps, OWNER, ADMIN.memberId), onDone);
      return;
  }
}

function transferProblem(
  { lab }: Scene,
  told: readonly { readonly target: Player; readonly outcome: Outcome }[],
  rivals: readonly Outcome[],
): Verdict {
  if (told.length !== 4 || rivals.length !== 1) return `${told.length + rivals.length} outcomes of 5 clients`;
  const transfers = lab.rows("select data from events where type = 'team.ownership_transferred'");
  if (transfers.length > 1) return `${transfers.length} transfers by one owner`;
  const done = told.filter(({ outcome }) => outcome.kind === "answer");
  if (done.length > transfers.length) return `${done.length} transfers answered, ${transfers.length} stand`;
  for (const { target, outcome } of done) {
    if (roleOf(lab, target) !== "OWNER") return "a transfer was answered and somebody else is the owner";
    if (outcome.kind === "answer" && JSON.parse(outcome.body).owner.id !== target.memberId)
      return "a transfer was answered with another member";
  }
  for (const { outcome } of told) {
    if (outcome.kind === "refused" && !EXPECTED.has(outcome.code)) return `a transfer was refused with ${outcome.code}`;
  }
  // At least one target stays a member in every history, so at least one transfer succeeds.
  if (transfers.length === 0) return "no transfer stands";
  if (roleOf(lab, OWNER) !== "ADMIN") return `the old owner is ${roleOf(lab, OWNER)}`;
  return undefined;
}

const EXPECTED: ReadonlySet<Failure["code"]> = new Set(["OWNER_REQUIRED", "MEMBER_NOT_FOUND"]);

/** Broken: checks first, and then writes without asserting that the checked facts are unchanged. */
export const acceptUnasserted: Accept = (deps, user, key) => async (operationId) => {
  const rows = await readWithRetry(deps.sleep, async () => selectOffered(deps.db, key, user.id));
  if (!rows.ok) return { kind: "refused", failure: rows.error };
  const [offered] = rows.value;
  if (offered === undefined) return { kind: "refused", failure: { code: "INVITATION_NOT_FOUND" } };
  const id = makeId("mem", operationId);
  const failure = offered.seatId === id ? undefined : acceptRefusal(offered, user, deps.nowMs);
  if (failure !== undefined) return { kind: "refused", failure };
  const { merchantId, role } = offered;
  const times = { createdAtMs: deps.nowMs, updatedAtMs: deps.nowMs };
  const entry = { merchantId, action: "team.member_joined", target: id } as const;
  return {
    kind: "ready",
    status: 200,
    body: JSON.stringify({ id, role }),
    statements: [
      deps.db
        .update(invitations)
        .set({ acceptedAtMs: deps.nowMs, acceptedBy: user.id })
        .where(and(eq(invitations.id, offered.id), isNull(invitations.acceptedAtMs))),
      insertMember(deps.db, { id, merchantId, userId: user.id, role, ...times }),
      insertAudit(deps.db, deps.trail, { id: derivedId("aud", operationId), ...entry }, deps.nowMs),
      ...eventOf(deps, operationId, "team.member_joined", {}),
    ],
  };
};

/** Broken in the same way: two concurrent transfers that both read the OWNER both succeed. */
export const transferUnasserted: Transfer = async (deps, seat, targetId): ReturnType<Transfer> => {
  const actors = await readActors(deps, seat, { targetId, permission: "team:view" });
  if (!actors.ok) return actors;
  const { actor, target } = actors.value;
  if (actor.role !== "OWNER") return err({ code: "OWNER_REQUIRED" });
  if (target === undefined) return err({ code: "MEMBER_NOT_FOUND" });
  const operationId = deps.newOperationId();
  const entry = (member: typeof actor, after: string, n: number) =>
    insertAudit(
      deps.db,
      deps.trail,
      {
        id: derivedId("aud", operationId, n),
        merchantId: member.merchantId,
        target: member.id,
        action: "team.role_changed",
        before: { role: member.role },
        after: { role: after },
      },
      deps.nowMs,
    );
  const committed = await sent(deps, [
    setRole(deps.db, actor, "ADMIN", deps.nowMs),
    setRole(deps.db, target, "OWNER", deps.nowMs),
    entry(actor, "ADMIN", 0),
    entry(target, "OWNER", 1),
    ...eventOf(deps, operationId, "team.ownership_transferred", {}),
  ]);
  if (!committed.ok) return committed;
  return ok({ owner: { ...target, role: "OWNER" }, previousOwner: { ...actor, role: "ADMIN" } });
};

function eventOf(
  deps: TeamDependencies,
  operationId: string,
  type: "team.member_joined" | "team.ownership_transferred",
  data: object,
) {
  const { merchantId } = INVITATION;
  const row = { id: derivedId("evt", operationId), merchantId, type, invoiceId: null, sequence: null };
  return recordOutbox(deps.db, [{ ...row, data: JSON.stringify(data), createdAtMs: deps.nowMs }]);
}

async function sent(deps: TeamDependencies, statements: readonly Write[]): Promise<Result<void, Failure>> {
  try {
    await withinLimit(deps.sleep, commit(deps.db, statements));
    return ok(undefined);
  } catch (error) {
    if (batchConflict(error) === undefined) throw error;
    return err({ code: "CONTENTION" });
  }
}
