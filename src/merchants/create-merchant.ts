import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Work } from "../idempotency/run-once.ts";
import { derivedId, makeId, type UserId } from "../lib/ids.ts";
import type { MerchantEffects } from "./change-merchant.ts";
import { merchantBodyOf } from "./merchant-body.ts";
import { insertMerchant } from "./store.ts";

/** The work of one creation, for `runOnce`: merchant, its one team and its owner in one batch (Interface 2.3, decisions 10). */
export function createMerchant(
  fx: Pick<MerchantEffects, "db" | "nowMs">,
  request: { readonly name: string; readonly ownerId: UserId; readonly trail: Trail },
): Work {
  return async (operationId) => {
    const { name, ownerId, trail } = request;
    const { nowMs } = fx;
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
      body: JSON.stringify(merchantBodyOf(merchant, { role: "OWNER", missing: [] })),
      statements: [
        ...insertMerchant(fx.db, { id, name, ownerId, memberId, nowMs }),
        insertAudit(fx.db, trail, entry, nowMs),
      ],
    };
  };
}
