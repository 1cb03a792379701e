import { HOUR_MS } from "../../lib/time.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { newApiKey } from "../auth/api-key.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import {
  type ChangeOf,
  changeStatements,
  type KeyChange,
  type KeyDependencies,
  overreach,
  standingOf,
} from "./change-api-key.ts";

/**
 * The work of one rotation, for `runOnce`, whose answer must be sealed. The new secret works now, the one before it until the overlap ends;
 * older ones no longer work. Concurrent rotations run one after the other, and the last one's secret is the key's.
 */
export function rotateApiKey(deps: KeyDependencies, of: ChangeOf, overlapHours: number): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a rotation", conflict);
    const standing = await standingOf(deps, of, tries);
    if (!standing.ok) return { kind: "refused", failure: standing.error };
    const { key, seat } = standing.value;
    const failure = overreach(key, seat.role);
    if (failure !== undefined) return { kind: "refused", failure };
    const { secret, hash, display } = newApiKey(key.kind, deps.randomBytes);
    const change: KeyChange = {
      columns: { hash, display, ...previousColumns(key.hash, deps.nowMs, overlapHours) },
      entry: { action: "api_key.rotated", before: { display: key.display }, after: { display, overlapHours } },
      event: "api_key.rotated",
    };
    const { changed, statements } = changeStatements(deps, of.trail, standing.value, change, operationId);
    const body = JSON.stringify({ ...apiKeyBodyOf(changed, deps.nowMs), secret });
    return { kind: "ready", status: 200, body, statements };
  };
}

/** Without an overlap the old hash is not even kept. */
function previousColumns(hash: string, nowMs: number, overlapHours: number) {
  if (overlapHours === 0) return { previousHash: null, previousExpiresAtMs: null };
  return { previousHash: hash, previousExpiresAtMs: nowMs + overlapHours * HOUR_MS };
}
