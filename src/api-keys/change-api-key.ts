// Every change of a key that stands: read, decide, one batch with its audit entry and its event. The batch rests on the key as it was read
// and on the person's role at that moment, so that nobody who has just lost it walks away with a secret. Whoever lost a race reads again and
// decides again, five times, then 503 (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import { commitAudited } from "../audit/commit-audited.ts";
import type { AuditEntry, Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { EventType } from "../events/event.ts";
import { recordEvent } from "../events/store.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { type Seat, selectSeat } from "../merchants/store.ts";
import type { Permission } from "../teams/permissions.ts";
import { ROLE_PERMISSIONS, type Role } from "../teams/roles.ts";
import { assertSeat } from "../teams/store.ts";
import { apiKeyBodyOf, listIn } from "./api-key-body.ts";
import { ungrantable } from "./grant.ts";
import { assertKeyAsRead, selectApiKey, updateApiKey } from "./store.ts";

const MAX_TRIES = 5;

export interface KeyEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  newOperationId(): string;
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

/** A key and a role as they stand together. */
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

/** `decide` is asked again with the key as it then stands; undefined means that there is nothing to do. Answers the key to show. */
export async function changeApiKey(
  fx: KeyEffects,
  of: ChangeOf,
  decide: (standing: Standing) => Result<KeyChange | undefined, Failure>,
): Promise<Result<ApiKeyRow, Failure>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const standing = await standingOf(fx, of, tries);
    if (!standing.ok) return standing;
    const change = decide(standing.value);
    if (!change.ok) return change;
    if (change.value === undefined) return ok(standing.value.key);
    const operationId = fx.newOperationId();
    const { changed, statements } = changeStatements(fx, of.trail, standing.value, change.value, operationId);
    const committed = await commitAudited(fx, derivedId("aud", operationId), statements);
    if (committed.kind === "stands") return ok(changed);
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (committed.conflict.kind !== "assertion") throw new Error(`a change of a key met ${committed.conflict.table}`);
  }
  return err({ code: "CONTENTION" });
}

/** The key and the role to decide on: as they were read with the caller, or after a lost race as they are now. */
export async function standingOf(fx: KeyEffects, of: ChangeOf, tries: number): Promise<Result<Standing, Failure>> {
  const { read, seat } = of;
  if (tries === 0) return read === undefined ? err({ code: "API_KEY_NOT_FOUND" }) : ok({ key: read, seat });
  const now = await seatNow(fx, of);
  if (!now.ok) return now;
  const { merchantId } = seat;
  const keys = await readWithRetry(fx.sleep, async () => selectApiKey(fx.db, { merchantId, apiKeyId: of.apiKeyId }));
  if (!keys.ok) return keys;
  const [key] = keys.value;
  return key === undefined ? err({ code: "API_KEY_NOT_FOUND" }) : ok({ key, seat: now.value });
}

/** The actor's role as it is now. Who left the team, or lost the permission, is told what they would be told at the door. */
export async function seatNow(fx: KeyEffects, of: KeyActor): Promise<Result<Seat, Failure>> {
  const rows = await readWithRetry(fx.sleep, async () => selectSeat(fx.db, of.seat));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  if (row === undefined) return err({ code: "MERCHANT_NOT_FOUND" });
  const { permission } = of;
  if (!ROLE_PERMISSIONS[row.role].has(permission)) return err({ code: "PERMISSION_DENIED", permission });
  return ok({ ...of.seat, role: row.role });
}

/** The key as the change leaves it, and the batch that makes it so; assertions first. */
export function changeStatements(
  fx: Pick<KeyEffects, "db" | "nowMs">,
  trail: Trail,
  { key, seat }: Standing,
  { columns, entry, event }: KeyChange,
  operationId: string,
): { readonly changed: ApiKeyRow; readonly statements: readonly BatchItem<"sqlite">[] } {
  const changed = { ...key, ...columns };
  const audit = { id: derivedId("aud", operationId), merchantId: key.merchantId, target: key.id, ...entry };
  const statements = [
    assertKeyAsRead(fx.db, key),
    assertSeat(fx.db, { ...seat, id: seat.memberId }),
    updateApiKey(fx.db, key, columns),
    insertAudit(fx.db, trail, audit, fx.nowMs),
    ...(event === undefined ? [] : keyEvent(fx, { event, key: changed }, operationId)),
  ];
  return { changed, statements };
}

/** The event row of a change; its `data` holds the key as GET shows it. */
export function keyEvent(
  fx: Pick<KeyEffects, "db" | "nowMs">,
  of: { readonly event: KeyEvent; readonly key: ApiKeyRow },
  operationId: string,
) {
  const { event, key } = of;
  return recordEvent(fx.db, {
    id: derivedId("evt", operationId),
    merchantId: key.merchantId,
    type: event,
    data: { apiKeyId: key.id, apiKey: apiKeyBodyOf(key, fx.nowMs) },
    createdAtMs: fx.nowMs,
  });
}

/**
 * PERMISSION_NOT_GRANTABLE where the key holds more than the actor could put into it: whoever could rotate such a key, or open it to other
 * addresses, would get at what their role does not have.
 */
export function overreach(key: Pick<ApiKeyRow, "kind" | "permissions">, role: Role): Failure | undefined {
  const permissions = ungrantable({ kind: key.kind, names: listIn(key.permissions), role });
  return permissions.length === 0 ? undefined : { code: "PERMISSION_NOT_GRANTABLE", permissions };
}
