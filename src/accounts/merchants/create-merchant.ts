import { derivedId, makeId, type UserId } from "../../lib/ids.ts";
import { LIMITS, limitReached } from "../../lib/limits.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { assertMayMakeMore, countMade, insertMerchant } from "../merchant-records/store.ts";
import { ROLE_PERMISSIONS } from "../roles/roles.ts";
import type { MerchantDependencies } from "./change-merchant.ts";
import { merchantBodyOf } from "./merchant-body.ts";

/** Creates a merchant, as work for `runOnce`: one batch inserts the merchant, its team and its owner. Fails with LIMIT_REACHED. */
export function createMerchant(
  deps: Pick<MerchantDependencies, "db" | "nowMs" | "sleep">,
  request: { readonly name: string; readonly ownerId: UserId; readonly trail: Trail },
): Work {
  return async (operationId, conflict): Promise<Prepared> => {
    const { name, ownerId, trail } = request;
    if (conflict !== undefined) {
      throwUnlessContention("a new merchant", conflict);
      const made = await readWithRetry(deps.sleep, async () => countMade(deps.db, ownerId, deps.nowMs));
      if (!made.ok) return { kind: "refused", failure: made.error };
      const isFull = (made.value[0]?.total ?? 0) >= LIMITS.merchantsMadePerUserAndDay;
      if (isFull) return { kind: "refused", failure: limitReached("merchantsMadePerUserAndDay") };
    }
    const { nowMs } = deps;
    const id = makeId("mer", operationId);
    const memberId = derivedId("mem", operationId);
    const entry = {
      id: derivedId("aud", operationId),
      merchantId: id,
      action: "merchant.created",
      target: id,
      after: { name, ownerId, memberId },
    } as const;
    const merchant = { id, name, createdAtMs: nowMs, updatedAtMs: nowMs };
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify(
        merchantBodyOf(merchant, { role: "OWNER", permissions: ROLE_PERMISSIONS.OWNER, missing: [] }),
      ),
      statements: [
        assertMayMakeMore(deps.db, ownerId, nowMs),
        ...insertMerchant(deps.db, { id, name, ownerId, memberId, nowMs }),
        insertAudit(deps.db, trail, entry, nowMs),
      ],
    };
  };
}
