// Every change of a team: read, decide, one batch with its audit entries and events. What the decision rests on is asserted in that batch;
// whoever lost reads again and decides again, five times, then 503 (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import type { BatchConflict } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { EventType } from "../events/event.ts";
import type { EventData } from "../events/event-data.ts";
import { recordEvent } from "../events/store.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type MerchantId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Member, Seat } from "./member.ts";
import type { Permission } from "./permissions.ts";
import { ROLE_PERMISSIONS } from "./roles.ts";
import { selectMembers } from "./store.ts";

const MAX_TRIES = 5;

export interface TeamEffects {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
  readonly trail: Trail;
  newOperationId(): string;
}

export interface TeamChange<T> {
  readonly value: T;
  /** Assertions first. One inserts the audit entry `aud` 0 of the operation. None: there is nothing to do. */
  readonly statements: readonly BatchItem<"sqlite">[];
}

/** `decide` is asked again with what then stands, after each batch that lost. */
export async function changeTeam<F, T>(
  fx: TeamEffects,
  read: () => Promise<Result<F, Failure>>,
  decide: (facts: F, operationId: string) => Result<TeamChange<T>, Failure>,
): Promise<Result<T, Failure>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const facts = await read();
    if (!facts.ok) return facts;
    const operationId = fx.newOperationId();
    const change = decide(facts.value, operationId);
    if (!change.ok) return change;
    const { value, statements } = change.value;
    if (statements.length === 0) return ok(value);
    const committed = await commitAudited(fx, derivedId("aud", operationId), statements);
    if (committed.kind === "stands") return ok(value);
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    throwUnlessLost(committed.conflict);
  }
  return err({ code: "CONTENTION" });
}

/** A batch may lose by an assertion, or by the second OWNER that the index refuses; any other violated key is a bug. */
function throwUnlessLost(conflict: BatchConflict): void {
  if (conflict.kind === "assertion" || conflict.table === "members") return;
  throw new Error(`a change of a team met ${conflict.table}`);
}

export interface Actors {
  readonly actor: Member;
  /** The member that the route names, if there is one of the team. */
  readonly target: Member | undefined;
}

/** The caller as they now are, and whom they act on. What the pipeline checked is checked again: a decision may come after a lost race. */
export async function readActors(
  fx: Pick<TeamEffects, "db" | "sleep">,
  seat: Seat,
  of: { readonly targetId?: string; readonly permission: Permission },
): Promise<Result<Actors, Failure>> {
  const ids = [seat.memberId, ...(of.targetId === undefined ? [] : [of.targetId])];
  const rows = await readWithRetry(fx.sleep, async () => selectMembers(fx.db, seat.merchantId, ids));
  if (!rows.ok) return rows;
  const actor = rows.value.find((each) => each.id === seat.memberId);
  if (actor === undefined) return err({ code: "MERCHANT_NOT_FOUND" });
  const refusal = permissionRefusal(actor, of.permission);
  if (refusal !== undefined) return err(refusal);
  return ok({ actor, target: rows.value.find((each) => each.id === of.targetId) });
}

export function permissionRefusal(actor: Pick<Member, "role">, permission: Permission): Failure | undefined {
  return ROLE_PERMISSIONS[actor.role].has(permission) ? undefined : { code: "PERMISSION_DENIED", permission };
}

/** The audit entry of a change of one member; `n` tells the entries of one operation apart. */
export function memberAudit(
  fx: Pick<TeamEffects, "db" | "trail" | "nowMs">,
  of: { readonly operationId: string; readonly n?: number; readonly member: Member },
  entry: Pick<Parameters<typeof insertAudit>[2], "action" | "before" | "after">,
) {
  const { member, operationId, n = 0 } = of;
  const id = derivedId("aud", operationId, n);
  return insertAudit(fx.db, fx.trail, { id, merchantId: member.merchantId, target: member.id, ...entry }, fx.nowMs);
}

/** The event of a change of the team (webhooks.md "Types"). */
export function teamEvent<T extends EventType>(
  fx: Pick<TeamEffects, "db" | "nowMs">,
  of: {
    readonly operationId: string;
    readonly merchantId: MerchantId;
    readonly type: T;
    readonly data: EventData[T];
  },
) {
  const { operationId, merchantId, type, data } = of;
  return recordEvent(fx.db, { id: derivedId("evt", operationId), merchantId, type, data, createdAtMs: fx.nowMs });
}
