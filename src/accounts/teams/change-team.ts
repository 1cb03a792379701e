// Changes a team in one batch with its audit entries and events. The batch aborts if the facts behind the decision have changed since they were read.

import { derivedId, type MerchantId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change, type Decision } from "../../platform/changes/change.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { recordEvent } from "../../platform/events/store.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Permission } from "../roles/permissions.ts";
import { ROLE_PERMISSIONS } from "../roles/roles.ts";
import type { Member, Seat } from "./member.ts";
import { selectMembers } from "./store.ts";
import type { TeamEvents } from "./team-events.ts";

export interface TeamDependencies extends CommitDependencies {
  readonly trail: Trail;
}

/** `decide` is called again with the current rows after each batch that failed because of another writer. */
export function changeTeam<F, T>(
  deps: TeamDependencies,
  read: () => Promise<Result<F, Failure>>,
  decide: (facts: F, operationId: string) => Result<Decision<T>, Failure>,
): Promise<Result<T, Failure>> {
  return change(deps, { name: "a change of a team", read }, (facts, { operationId }) => decide(facts, operationId));
}

interface Actors {
  readonly actor: Member;
  /** The member named in the path; undefined if they are not in the team. */
  readonly target: Member | undefined;
}

/**
 * Reads the current rows of the caller and the target. Checks the caller's permission again, because it may have changed since the pipeline checked
 * it.
 */
export async function readActors(
  deps: Pick<TeamDependencies, "db" | "sleep">,
  seat: Seat,
  of: { readonly targetId?: string; readonly permission: Permission },
): Promise<Result<Actors, Failure>> {
  const ids = [seat.memberId, ...(of.targetId === undefined ? [] : [of.targetId])];
  const rows = await readWithRetry(deps.sleep, async () => selectMembers(deps.db, seat.merchantId, ids));
  if (!rows.ok) return rows;
  const actor = rows.value.find((each) => each.id === seat.memberId);
  if (actor === undefined) return err({ code: "MERCHANT_NOT_FOUND" });
  const refusal = permissionRefusal(actor, of.permission);
  if (refusal !== undefined) return err(refusal);
  return ok({ actor, target: rows.value.find((each) => each.id === of.targetId) });
}

function permissionRefusal(actor: Pick<Member, "role">, permission: Permission): Failure | undefined {
  return ROLE_PERMISSIONS[actor.role].has(permission) ? undefined : { code: "PERMISSION_DENIED", permission };
}

/** The audit entry about a change to one member; `n` numbers the entries of an operation. */
export function memberAudit(
  deps: Pick<TeamDependencies, "db" | "trail" | "nowMs">,
  of: { readonly operationId: string; readonly n?: number; readonly member: Member },
  entry: Pick<Parameters<typeof insertAudit>[2], "action" | "before" | "after">,
) {
  const { member, operationId, n = 0 } = of;
  const id = derivedId("aud", operationId, n);
  return insertAudit(
    deps.db,
    deps.trail,
    { id, merchantId: member.merchantId, target: member.id, ...entry },
    deps.nowMs,
  );
}

/** The event about a change to the team. */
export function teamEvent<T extends keyof TeamEvents>(
  deps: Pick<TeamDependencies, "db" | "nowMs">,
  of: {
    readonly operationId: string;
    readonly merchantId: MerchantId;
    readonly type: T;
    readonly data: TeamEvents[T];
  },
) {
  const { operationId, merchantId, type, data } = of;
  return recordEvent(deps.db, { id: derivedId("evt", operationId), merchantId, type, data, createdAtMs: deps.nowMs });
}
