import { derivedId, makeId, type UserId } from "../../lib/ids.ts";
import { limitReached } from "../../lib/limits.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import type { KeyKind } from "../auth/api-key.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import type { Seat } from "../merchant-records/store.ts";
import { seatHeld, seatNow } from "../teams/check-seat.ts";
import { apiKeyBodyOf, apiKeyFacts } from "./api-key-body.ts";
import { type KeyActor, type KeyDependencies, keyEvent, overreach } from "./change-api-key.ts";
import { assertKeyRoom, insertApiKey, selectKeysFull } from "./store.ts";

interface NewKey {
  readonly name: string;
  readonly kind: KeyKind;
  /** Names in upper snake case. */
  readonly permissions: readonly string[];
  /** In milliseconds; absent or null if the key never expires. */
  readonly expiresAt?: number | null | undefined;
  /** Absent or null allows any address. */
  readonly allowedIps?: readonly string[] | null | undefined;
  /** Set if the user made the key because an application asked for it. */
  readonly asked?: Pick<ApiKeyRow, keyof typeof NOT_ASKED>;
}

const NOT_ASKED = { givenTo: null, rights: null, question: null, unusedUntilMs: null };

/**
 * Creates a key, as work for `runOnce`. The response must be stored encrypted, because it contains the secret, which is shown nowhere else. Each
 * attempt generates a new secret; only the committed one is returned. Fails with LIMIT_REACHED, with PERMISSION_NOT_GRANTABLE, or with
 * VALIDATION_FAILED if `expiresAt` is not in the future.
 */
export function createApiKey(
  deps: KeyDependencies,
  actor: KeyActor & { readonly createdBy: UserId },
  wanted: NewKey,
): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a new key", conflict);
    const seat = tries === 0 ? ok(actor.seat) : await seatWithRoom(deps, actor);
    if (!seat.ok) return { kind: "refused", failure: seat.error };
    const { merchantId } = seat.value;
    const { secret, hash, display } = deps.newSecret({
      kind: wanted.kind,
      merchantId,
      isForApplication: wanted.asked !== undefined,
    });
    const key: ApiKeyRow = {
      id: makeId("key", operationId),
      merchantId,
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
      createdAtMs: deps.nowMs,
      ...(wanted.asked ?? NOT_ASKED),
    };
    const failure = expiryProblem(key, deps.nowMs) ?? overreach(key, seat.value.role);
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
      body: JSON.stringify({ ...apiKeyBodyOf(key, deps.nowMs), secret }),
      statements: [
        ...seatHeld(deps, seat.value),
        assertKeyRoom(deps.db, key.merchantId),
        insertApiKey(deps.db, key),
        insertAudit(deps.db, actor.trail, entry, deps.nowMs),
        ...keyEvent(deps, { event: "api_key.created", key }, operationId),
      ],
    };
  };
}

/** Reads the seat again after a batch was aborted; fails with LIMIT_REACHED if the merchant has reached its limit of keys. */
async function seatWithRoom(deps: KeyDependencies, actor: KeyActor): Promise<Result<Seat, Failure>> {
  const seat = await seatNow(deps, actor);
  if (!seat.ok) return seat;
  const room = await readWithRetry(deps.sleep, async () => selectKeysFull(deps.db, seat.value.merchantId));
  if (!room.ok) return room;
  return room.value[0]?.isFull === 1 ? err(limitReached("keysPerMerchant")) : seat;
}

/** The list as JSON for a column; null if there is no list. */
export function jsonOrNull(list: readonly string[] | null | undefined): string | null {
  return list === null || list === undefined ? null : JSON.stringify(list);
}

function expiryProblem({ expiresAtMs }: ApiKeyRow, nowMs: number): Failure | undefined {
  if (expiresAtMs === null || expiresAtMs > nowMs) return undefined;
  return { code: "VALIDATION_FAILED", details: [{ path: "expiresAt", message: "must be in the future" }] };
}
