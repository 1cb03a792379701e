// Every change of a stored key: one batch with its audit entry and its event. The batch aborts unless the key and the role of who changes it
// are as they were read, so that a user who has just lost the role gets no secret.

import { derivedId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { AuditEntry, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change, currentRow } from "../../platform/changes/change.ts";
import type { Statement } from "../../platform/db/batch.ts";
import type { EventType } from "../../platform/events/event.ts";
import { recordEvent } from "../../platform/events/store.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import type { Seat } from "../merchants/store.ts";
import { seatHeld, seatNow } from "../teams/check-seat.ts";
import type { Permission } from "../teams/permissions.ts";
import type { Role } from "../teams/roles.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import type { ApiKeyEvents } from "./api-key-events.ts";
import { ungrantable } from "./grant.ts";
import { assertKeyAsRead, selectApiKey, updateApiKey } from "./store.ts";

export interface KeyDependencies extends CommitDependencies {
  /** Fresh bytes of the system's generator. */
  randomBytes(count: number): Uint8Array;
}

/** Who acts: a member, by the place that proved them. */
export interface KeyActor {
  readonly seat: Seat;
  readonly trail: Trail;
  /** What they need for what they do. */
  readonly permission: Permission;
}

export interface ChangeOf extends KeyActor {
  readonly apiKeyId: string;
  /** As it was read with the caller; undefined when there is none. */
  readonly read: ApiKeyRow | undefined;
}

/** A key and the seat of who acts on it. */
export interface Standing {
  readonly key: ApiKeyRow;
  readonly seat: Seat;
}

type KeyEvent = Extract<EventType, `api_key.${string}`>;

export interface KeyChange {
  readonly columns: Parameters<typeof updateApiKey>[2];
  readonly entry: Pick<AuditEntry, "action" | "before" | "after">;
  readonly event?: KeyEvent;
}

/** Answers the key to show. `decide` returns undefined where there is nothing to do. */
export function changeApiKey(
  deps: KeyDependencies,
  of: ChangeOf,
  decide: (standing: Standing) => Result<KeyChange | undefined, Failure>,
): Promise<Result<ApiKeyRow, Failure>> {
  const subject = { name: "a change of a key", read: (tries: number) => standingOf(deps, of, tries) };
  return change(deps, subject, (standing, { operationId }) => {
    const decided = decide(standing);
    if (!decided.ok) return decided;
    if (decided.value === undefined) return ok({ value: standing.key });
    const { changed, statements } = changeStatements(deps, of.trail, standing, decided.value, operationId);
    return ok({ value: changed, statements });
  });
}

/** The key and the seat to decide on: as they were read with the caller, or from the second attempt on as they are now. */
export async function standingOf(
  deps: KeyDependencies,
  of: ChangeOf,
  tries: number,
): Promise<Result<Standing, Failure>> {
  const { read, apiKeyId } = of;
  const { merchantId } = of.seat;
  const seat = tries === 0 ? ok(of.seat) : await seatNow(deps, of);
  if (!seat.ok) return seat;
  const again = () => selectApiKey(deps.db, { merchantId, apiKeyId });
  const key = await currentRow(deps, { read, again, missing: { code: "API_KEY_NOT_FOUND" } }, tries);
  return key.ok ? ok({ key: key.value, seat: seat.value }) : key;
}

/** The key as the change leaves it, and the batch that makes it so; assertions first. */
export function changeStatements(
  deps: Pick<KeyDependencies, "db" | "nowMs">,
  trail: Trail,
  { key, seat }: Standing,
  { columns, entry, event }: KeyChange,
  operationId: string,
): { readonly changed: ApiKeyRow; readonly statements: readonly Statement[] } {
  const changed = { ...key, ...columns };
  const audit = { id: derivedId("aud", operationId), merchantId: key.merchantId, target: key.id, ...entry };
  const statements = [
    assertKeyAsRead(deps.db, key),
    ...seatHeld(deps, seat),
    updateApiKey(deps.db, key, columns),
    insertAudit(deps.db, trail, audit, deps.nowMs),
    ...(event === undefined ? [] : keyEvent(deps, { event, key: changed }, operationId)),
  ];
  return { changed, statements };
}

/** The event row of a change; its `data` holds the key as GET shows it. */
export function keyEvent(
  deps: Pick<KeyDependencies, "db" | "nowMs">,
  of: { readonly event: KeyEvent; readonly key: ApiKeyRow },
  operationId: string,
) {
  const { event, key } = of;
  return recordEvent(deps.db, {
    id: derivedId("evt", operationId),
    merchantId: key.merchantId,
    type: event,
    data: { apiKeyId: key.id, apiKey: apiKeyBodyOf(key, deps.nowMs) } satisfies ApiKeyEvents[KeyEvent],
    createdAtMs: deps.nowMs,
  });
}

/**
 * PERMISSION_NOT_GRANTABLE where the key holds more than the actor could put into it: by rotating such a key, or opening it to other
 * addresses, they would get more than their role has.
 */
export function overreach(key: Pick<ApiKeyRow, "kind" | "permissions">, role: Role): Failure | undefined {
  const permissions = ungrantable({ kind: key.kind, names: parseJson(key.permissions), role });
  return permissions.length === 0 ? undefined : { code: "PERMISSION_NOT_GRANTABLE", permissions };
}
