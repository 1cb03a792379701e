// Invitations accepted and ownership handed over by the real operations, against everything that takes their ground away meanwhile.
import { and, eq, isNull } from "drizzle-orm";
import { insertAudit } from "../../src/audit/store.ts";
import { batchConflict } from "../../src/db/conflict.ts";
import { readWithRetry, withinLimit } from "../../src/db/retry.ts";
import { invitations } from "../../src/db/schema/teams.ts";
import { recordOutbox } from "../../src/events/store.ts";
import type { Failure } from "../../src/failures.ts";
import { acceptInvitation } from "../../src/invitations/accept-invitation.ts";
import { acceptRefusal } from "../../src/invitations/invitation.ts";
import { type InvitationKey, selectOffered } from "../../src/invitations/store.ts";
import { derivedId, makeId } from "../../src/lib/ids.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";
import { changeRole } from "../../src/teams/change-role.ts";
import { readActors, type TeamEffects } from "../../src/teams/change-team.ts";
import { leaveTeam, removeMember } from "../../src/teams/remove-member.ts";
import { insertMember, setRole } from "../../src/teams/store.ts";
import { transferOwnership } from "../../src/teams/transfer-ownership.ts";
import type { Scenario } from "./campaign.ts";
import type { Lab } from "./lab.ts";
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
import type { Verdict, World } from "./world.ts";

/** Few steps each, so more befalls them than in the long histories of invoices. */
const SETTINGS = { faultChance: 0.35, maxSteps: 6_000 } as const;
const BY_TOKEN: InvitationKey = { tokenHash: INVITATION.tokenHash };
const BY_ID: InvitationKey = { invitationId: INVITATION.id };

type Accept = typeof acceptInvitation;
type Transfer = typeof transferOwnership;

/**
 * The guest accepts one invitation in three browsers, by token and by id, two of them under one key, while in some histories the inviter is
 * demoted or removed.
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
        const work = (fx: TeamEffects) => accept(fx, GUEST.person, by);
        sendOnce(scene, { by: GUEST, key }, work, (outcome) => outcomes.push({ key, outcome }));
      }
      const rival = world.pick(["nobody", "demotion", "removal"]);
      const rivals: Outcome[] = [];
      if (rival === "demotion") {
        const demotion = { targetId: ADMIN.memberId, role: "VIEWER" } as const;
        sendChange(
          scene,
          OWNER,
          (fx) => changeRole(fx, OWNER, demotion),
          (outcome) => rivals.push(outcome),
        );
      }
      if (rival === "removal")
        sendChange(
          scene,
          OWNER,
          (fx) => removeMember(fx, OWNER, ADMIN.memberId),
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
  const [seat] = lab.rows("select id, role from members where user_id = ?", GUEST.person.id);
  if (body !== undefined && JSON.parse(body).id !== seat?.id) return "the answer names another seat";
  if (isIn && seat?.role !== INVITATION.role) return `the guest came in as ${seat?.role}`;
  return undefined;
}

/**
 * The OWNER hands over to the ADMIN and to the MEMBER at once, two clients each, while one of them leaves, is removed or gets another role.
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
        const change = (fx: TeamEffects) => transfer(fx, OWNER, target.memberId);
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
      sendChange(scene, ADMIN, (fx) => leaveTeam(fx, ADMIN), onDone);
      return;
    case "removal":
      sendChange(scene, ADMIN, (fx) => removeMember(fx, ADMIN, MEMBER.memberId), onDone);
      return;
    case "demotion":
      sendChange(scene, OWNER, (fx) => changeRole(fx, OWNER, { targetId: ADMIN.memberId, role: "VIEWER" }), onDone);
      return;
    case "removal by the owner":
      sendChange(scene, OWNER, (fx) => removeMember(fx, OWNER, ADMIN.memberId), onDone);
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
  // One target at least stays in every history, so one transfer always finds it.
  if (transfers.length === 0) return "no transfer stands";
  if (roleOf(lab, OWNER) !== "ADMIN") return `the old owner is ${roleOf(lab, OWNER)}`;
  return undefined;
}

const EXPECTED: ReadonlySet<Failure["code"]> = new Set(["OWNER_REQUIRED", "MEMBER_NOT_FOUND"]);

/** Broken: looks, decides, and writes without asserting that what it saw still holds. */
export const acceptUnasserted: Accept = (fx, person, key) => async (operationId) => {
  const rows = await readWithRetry(fx.sleep, async () => selectOffered(fx.db, key, person.id));
  if (!rows.ok) return { kind: "refused", failure: rows.error };
  const [offered] = rows.value;
  if (offered === undefined) return { kind: "refused", failure: { code: "INVITATION_NOT_FOUND" } };
  const id = makeId("mem", operationId);
  const failure = offered.seatId === id ? undefined : acceptRefusal(offered, person, fx.nowMs);
  if (failure !== undefined) return { kind: "refused", failure };
  const { merchantId, role } = offered;
  const times = { createdAtMs: fx.nowMs, updatedAtMs: fx.nowMs };
  const entry = { merchantId, action: "team.member_joined", target: id } as const;
  return {
    kind: "ready",
    status: 200,
    body: JSON.stringify({ id, role }),
    statements: [
      fx.db
        .update(invitations)
        .set({ acceptedAtMs: fx.nowMs, acceptedBy: person.id })
        .where(and(eq(invitations.id, offered.id), isNull(invitations.acceptedAtMs))),
      insertMember(fx.db, { id, merchantId, userId: person.id, role, ...times }),
      insertAudit(fx.db, fx.trail, { id: derivedId("aud", operationId), ...entry }, fx.nowMs),
      ...eventOf(fx, operationId, "team.member_joined", {}),
    ],
  };
};

/** Broken the same way: of two transfers that both saw the OWNER, each makes its own. */
export const transferUnasserted: Transfer = async (fx, seat, targetId): ReturnType<Transfer> => {
  const actors = await readActors(fx, seat, { targetId, permission: "team:view" });
  if (!actors.ok) return actors;
  const { actor, target } = actors.value;
  if (actor.role !== "OWNER") return err({ code: "OWNER_REQUIRED" });
  if (target === undefined) return err({ code: "MEMBER_NOT_FOUND" });
  const operationId = fx.newOperationId();
  const entry = (member: typeof actor, after: string, n: number) =>
    insertAudit(
      fx.db,
      fx.trail,
      {
        ...{ id: derivedId("aud", operationId, n), merchantId: member.merchantId, target: member.id },
        ...{ action: "team.role_changed", before: { role: member.role }, after: { role: after } },
      },
      fx.nowMs,
    );
  const committed = await sent(fx, [
    setRole(fx.db, actor, "ADMIN", fx.nowMs),
    setRole(fx.db, target, "OWNER", fx.nowMs),
    entry(actor, "ADMIN", 0),
    entry(target, "OWNER", 1),
    ...eventOf(fx, operationId, "team.ownership_transferred", {}),
  ]);
  if (!committed.ok) return committed;
  return ok({ owner: { ...target, role: "OWNER" }, previousOwner: { ...actor, role: "ADMIN" } });
};

function eventOf(
  fx: TeamEffects,
  operationId: string,
  type: "team.member_joined" | "team.ownership_transferred",
  data: object,
) {
  const { merchantId } = INVITATION;
  const row = { id: derivedId("evt", operationId), merchantId, type, invoiceId: null, sequence: null };
  return recordOutbox(fx.db, [{ ...row, data: JSON.stringify(data), createdAtMs: fx.nowMs }]);
}

async function sent(
  fx: TeamEffects,
  statements: Parameters<TeamEffects["db"]["batch"]>[0],
): Promise<Result<void, Failure>> {
  try {
    await withinLimit(fx.sleep, fx.db.batch(statements));
    return ok(undefined);
  } catch (error) {
    if (batchConflict(error) === undefined) throw error;
    return err({ code: "CONTENTION" });
  }
}
