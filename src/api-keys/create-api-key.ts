import { insertAudit } from "../audit/store.ts";
import { type KeyKind, newApiKey } from "../auth/api-key.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId, makeId, type UserId } from "../lib/ids.ts";
import { ok } from "../lib/result.ts";
import { assertSeat } from "../teams/store.ts";
import { apiKeyBodyOf, apiKeyFacts } from "./api-key-body.ts";
import { type KeyActor, type KeyEffects, keyEvent, overreach, seatNow } from "./change-api-key.ts";
import { insertApiKey } from "./store.ts";

export interface NewKey {
  readonly name: string;
  readonly kind: KeyKind;
  /** Names in upper snake. */
  readonly permissions: readonly string[];
  /** Milliseconds; absent or null: never. */
  readonly expiresAt?: number | null | undefined;
  /** Absent or null: any. */
  readonly allowedIps?: readonly string[] | null | undefined;
}

/**
 * The work of one creation, for `runOnce`, whose answer must be sealed: it is the only place that ever shows the secret. A second try
 * draws another one, and only the one of the batch that stands is answered.
 */
export function createApiKey(fx: KeyEffects, actor: KeyActor & { readonly createdBy: UserId }, wanted: NewKey): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion")
      throw new Error(`a new key met ${conflict.table}(${conflict.columns.join()})`);
    const seat = tries === 0 ? ok(actor.seat) : await seatNow(fx, actor);
    if (!seat.ok) return { kind: "refused", failure: seat.error };
    const { secret, hash, display } = newApiKey(wanted.kind, fx.randomBytes);
    const key: ApiKeyRow = {
      id: makeId("key", operationId),
      merchantId: seat.value.merchantId,
      kind: wanted.kind,
      name: wanted.name,
      hash,
      display,
      previousHash: null,
      previousExpiresAtMs: null,
      permissions: JSON.stringify(wanted.permissions),
      allowedIps: jsonOrNull(wanted.allowedIps),
      expiresAtMs: wanted.expiresAt ?? null,
      revokedAtMs: null,
      createdBy: actor.createdBy,
      lastUsedAtMs: null,
      createdAtMs: fx.nowMs,
    };
    const failure = expiryProblem(key, fx.nowMs) ?? overreach(key, seat.value.role);
    if (failure !== undefined) return { kind: "refused", failure };
    const entry = {
      id: derivedId("aud", operationId),
      merchantId: key.merchantId,
      action: "api_key.created",
      target: key.id,
      after: apiKeyFacts(key),
    } as const;
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ ...apiKeyBodyOf(key, fx.nowMs), secret }),
      statements: [
        assertSeat(fx.db, { ...seat.value, id: seat.value.memberId }),
        insertApiKey(fx.db, key),
        insertAudit(fx.db, actor.trail, entry, fx.nowMs),
        ...keyEvent(fx, { event: "api_key.created", key }, operationId),
      ],
    };
  };
}

/** A list as its column holds it. */
export function jsonOrNull(list: readonly string[] | null | undefined): string | null {
  return list === null || list === undefined ? null : JSON.stringify(list);
}

function expiryProblem({ expiresAtMs }: ApiKeyRow, nowMs: number): Failure | undefined {
  if (expiresAtMs === null || expiresAtMs > nowMs) return undefined;
  return { code: "VALIDATION_FAILED", details: [{ path: "expiresAt", message: "must be in the future" }] };
}
