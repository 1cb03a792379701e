import { newApiKey } from "../auth/api-key.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { HOUR_MS } from "../lib/time.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import {
  type ChangeOf,
  changeStatements,
  type KeyChange,
  type KeyEffects,
  overreach,
  standingOf,
} from "./change-api-key.ts";

/**
 * The work of one rotation, for `runOnce`, whose answer must be sealed. The new secret works now, the one before it until the overlap ends;
 * one older still is dead. Of several at once each takes its turn, and the last one's secret is the key's.
 */
export function rotateApiKey(fx: KeyEffects, of: ChangeOf, overlapHours: number): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion")
      throw new Error(`a rotation met ${conflict.table}(${conflict.columns.join()})`);
    const standing = await standingOf(fx, of, tries);
    if (!standing.ok) return { kind: "refused", failure: standing.error };
    const { key, seat } = standing.value;
    const failure = overreach(key, seat.role);
    if (failure !== undefined) return { kind: "refused", failure };
    const { secret, hash, display } = newApiKey(key.kind, fx.randomBytes);
    const change: KeyChange = {
      columns: { hash, display, ...previousColumns(key.hash, fx.nowMs, overlapHours) },
      entry: { action: "api_key.rotated", before: { display: key.display }, after: { display, overlapHours } },
      event: "api_key.rotated",
    };
    const { changed, statements } = changeStatements(fx, of.trail, standing.value, change, operationId);
    const body = JSON.stringify({ ...apiKeyBodyOf(changed, fx.nowMs), secret });
    return { kind: "ready", status: 200, body, statements };
  };
}

/** Without an overlap the old hash is not even kept. */
function previousColumns(hash: string, nowMs: number, overlapHours: number) {
  if (overlapHours === 0) return { previousHash: null, previousExpiresAtMs: null };
  return { previousHash: hash, previousExpiresAtMs: nowMs + overlapHours * HOUR_MS };
}
