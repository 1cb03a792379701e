import { insertAudit } from "../audit/store.ts";
import { isConflictOn } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId, makeId } from "../lib/ids.ts";
import { memberAudit, type TeamEffects, teamEvent } from "../teams/change-team.ts";
import { type Member, memberBodyOf } from "../teams/member.ts";
import { insertMember } from "../teams/store.ts";
import type { Person } from "../users/person.ts";
import { acceptRefusal, type OfferedInvitation } from "./invitation.ts";
import { assertAcceptable, type InvitationKey, selectOffered, updateInvitation } from "./store.ts";

/**
 * The work of one acceptance, for `runOnce`: the seat and the invitation's end are one batch, which asserts all that the decision rests on
 * (Interface 3.3). Of many at once one lands; the others read again and find the invitation used.
 */
export function acceptInvitation(fx: TeamEffects, person: Person, key: InvitationKey): Work {
  return async (operationId, conflict): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion" && !isConflictOn(conflict, "members"))
      throw new Error(`an acceptance met a key of ${conflict.table}`);
    const rows = await readWithRetry(fx.sleep, async () => selectOffered(fx.db, key, person.id));
    if (!rows.ok) return { kind: "refused", failure: rows.error };
    const [offered] = rows.value;
    const memberId = makeId("mem", operationId);
    if (offered === undefined) return { kind: "refused", failure: { code: "INVITATION_NOT_FOUND" } };
    // Our own earlier batch may stand already: then this one aborts on its operation id and the stored answer is given.
    const failure = offered.seatId === memberId ? undefined : acceptRefusal(offered, person, fx.nowMs);
    if (failure !== undefined) return { kind: "refused", failure };
    const { merchantId, role } = offered;
    const member: Member = {
      ...{ id: memberId, merchantId, userId: person.id, role, createdAtMs: fx.nowMs },
      ...{ email: person.email, name: person.name },
    };
    return {
      kind: "ready",
      status: 200,
      body: JSON.stringify({ ...memberBodyOf(member), merchantId }),
      statements: statementsOf(fx, { operationId, offered, member }),
    };
  };
}

function statementsOf(
  fx: TeamEffects,
  of: { readonly operationId: string; readonly offered: OfferedInvitation; readonly member: Member },
) {
  const { operationId, offered, member } = of;
  const { id, merchantId, userId, role, createdAtMs } = member;
  const accepted = { acceptedAtMs: fx.nowMs, acceptedBy: userId };
  const entry = {
    id: derivedId("aud", operationId),
    merchantId,
    action: "team.invitation_accepted",
    target: offered.id,
    after: { memberId: id, role },
  } as const;
  return [
    assertAcceptable(fx.db, offered, userId, fx.nowMs),
    updateInvitation(fx.db, offered, accepted, fx.nowMs),
    insertMember(fx.db, { id, merchantId, userId, role, createdAtMs, updatedAtMs: createdAtMs }),
    insertAudit(fx.db, fx.trail, entry, fx.nowMs),
    memberAudit(fx, { operationId, n: 1, member }, { action: "team.member_joined", after: { userId, role } }),
    ...teamEvent(fx, {
      operationId,
      merchantId,
      type: "team.member_joined",
      data: { memberId: id, member: memberBodyOf(member) },
    }),
  ];
}
