// Changes a stored key in one batch with its audit entry and, if there is one, its event. The batch aborts if the key was changed or revoked, or the
// user's role has changed, since they were read, so that a user who has just lost the role gets no secret.

import { derivedId, type UserId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { AuditEntry, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change, currentRow } from "../../platform/changes/change.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { EventType } from "../../platform/events/event.ts";
import { recordEvent } from "../../platform/events/store.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import type { KeyMaking, NewApiKey } from "../auth/api-key.ts";
import type { MerchantPrincipal } from "../auth/principal.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import type { Seat } from "../merchant-records/store.ts";
import type { Permission } from "../roles/permissions.ts";
import type { Role } from "../roles/roles.ts";
import { seatHeld, seatNow } from "../teams/check-seat.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import type { ApiKeyEvents } from "./api-key-events.ts";
import { ungrantable } from "./grant.ts";
import { assertKeyAsRead, selectApiKey, updateApiKey } from "./store.ts";

export interface KeyDependencies extends CommitDependencies {
  readonly mailer: Mailer;
  /** Makes a secret; throws if API_KEY_MAC_KEY is invalid, or is missing and cannot be derived from MASTER_KEY. */
  newSecret(of: Pick<KeyMaking, "kind" | "merchantId" | "isForApplication">): NewApiKey;
}

/** Only users manage keys (decisions 7). A key should not hold the permissions for this; one that does is refused here. */
export function keyActor(
  principal: MerchantPrincipal,
  trail: Trail,
  permission: Permission,
): Result<KeyActor & { readonly createdBy: UserId; readonly email: string }, Failure> {
  if (principal.kind === "API_KEY") return err({ code: "SESSION_REQUIRED" });
  const { merchantId, memberId, role, user } = principal;
  return ok({ seat: { merchantId, memberId, role }, trail, permission, createdBy: user.id, email: user.email });
}

/** The acting user: a member of the team. */
export interface KeyActor {
  readonly seat: Seat;
  readonly trail: Trail;
  /** The permission that the change needs. */
  readonly permission: Permission;
}

export interface ChangeOf extends KeyActor {
  readonly apiKeyId: string;
  /** The key, from the storage call that authenticated the caller; undefined if there is no such key. */
  readonly read: ApiKeyRow | undefined;
}

interface KeyAndSeat {
  readonly key: ApiKeyRow;
  readonly seat: Seat;
}

type KeyEvent = Extract<EventType, `api_key.${string}`>;

export interface KeyChange {
  readonly columns: Parameters<typeof updateApiKey>[2];
  readonly entry: Pick<AuditEntry, "action" | "before" | "after">;
  readonly event?: KeyEvent;
  readonly afterwards?: (() => Promise<void>) | undefined;
}

/** Returns the key after the change, or unchanged if `decide` returns undefined. */
export function changeApiKey(
  deps: KeyDependencies,
  of: ChangeOf,
  decide: (keyAndSeat: KeyAndSeat) => Result<KeyChange | undefined, Failure>,
): Promise<Result<ApiKeyRow, Failure>> {
  const subject = { name: "a change of a key", read: (tries: number) => readKeyAndSeat(deps, of, tries) };
  return change(deps, subject, (keyAndSeat, { operationId }) => {
    const decided = decide(keyAndSeat);
    if (!decided.ok) return decided;
    if (decided.value === undefined) return ok({ value: keyAndSeat.key });
    const { changed, statements } = changeStatements(deps, of.trail, keyAndSeat, decided.value, operationId);
    return ok({ value: changed, statements, afterwards: decided.value.afterwards });
  });
}

/** Returns the key and the seat: those read during authentication for the first attempt, and newly read ones for each later attempt. */
export async function readKeyAndSeat(
  deps: KeyDependencies,
  of: ChangeOf,
  tries: number,
): Promise<Result<KeyAndSeat, Failure>> {
  const { read, apiKeyId } = of;
  const { merchantId } = of.seat;
  const seat = tries === 0 ? ok(of.seat) : await seatNow(deps, of);
  if (!seat.ok) return seat;
  const again = () => selectApiKey(deps.db, { merchantId, apiKeyId });
  const key = await currentRow(deps, { read, again, missing: { code: "API_KEY_NOT_FOUND" } }, tries);
  return key.ok ? ok({ key: key.value, seat: seat.value }) : key;
}

/** The changed key, and the statements of the change, with the assertions first. */
export function changeStatements(
  deps: Pick<KeyDependencies, "db" | "nowMs">,
  trail: Trail,
  { key, seat }: KeyAndSeat,
  { columns, entry, event }: KeyChange,
  operationId: string,
): { readonly changed: ApiKeyRow; readonly statements: readonly Write[] } {
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

/** The event about a change; its `data` contains the key in the format of the API. */
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
 * Returns PERMISSION_NOT_GRANTABLE if the key has permissions that the user cannot grant. By rotating such a key, or allowing other addresses, the
 * user would get more permissions than their role has.
 */
export function overreach(key: Pick<ApiKeyRow, "kind" | "permissions">, role: Role): Failure | undefined {
  const permissions = ungrantable({ kind: key.kind, names: parseJson(key.permissions), role });
  return permissions.length === 0 ? undefined : { code: "PERMISSION_NOT_GRANTABLE", permissions };
}
