import { HOUR_MS } from "../../lib/time.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import {
  type ChangeOf,
  changeStatements,
  type KeyChange,
  type KeyDependencies,
  overreach,
  readKeyAndSeat,
} from "./change-api-key.ts";

/**
 * Rotates a key's secret, as work for `runOnce`; the response must be stored encrypted. The new secret works at once, the previous one until the
 * overlap ends; older secrets no longer work. Concurrent rotations run one after the other, and the key keeps the secret of the last one.
 */
export function rotateApiKey(deps: KeyDependencies, of: ChangeOf, overlapHours: number): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a rotation", conflict);
    const keyAndSeat = await readKeyAndSeat(deps, of, tries);
    if (!keyAndSeat.ok) return { kind: "refused", failure: keyAndSeat.error };
    const { key, seat } = keyAndSeat.value;
    const failure = overreach(key, seat.role);
    if (failure !== undefined) return { kind: "refused", failure };
    const { secret, hash, display } = deps.newSecret({ ...key, isForApplication: key.rights !== null });
    const change: KeyChange = {
      columns: { hash, display, ...previousColumns(key.hash, deps.nowMs, overlapHours) },
      entry: { action: "api_key.rotated", before: { display: key.display }, after: { display, overlapHours } },
      event: "api_key.rotated",
    };
    const { changed, statements } = changeStatements(deps, of.trail, keyAndSeat.value, change, operationId);
    const body = JSON.stringify({ ...apiKeyBodyOf(changed, deps.nowMs), secret });
    return { kind: "ready", status: 200, body, statements };
  };
}

/** Without an overlap, the previous hash is not kept. */
function previousColumns(hash: string, nowMs: number, overlapHours: number) {
  if (overlapHours === 0) return { previousHash: null, previousExpiresAtMs: null };
  return { previousHash: hash, previousExpiresAtMs: nowMs + overlapHours * HOUR_MS };
}
