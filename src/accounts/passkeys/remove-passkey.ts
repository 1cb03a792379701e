import type { Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import type { Failure } from "../../platform/failures.ts";
import type { PasskeyDependencies } from "./begin-passkey.ts";
import { assertThere, deletePasskey, type PasskeyRow } from "./store.ts";

/** Fails with PASSKEY_NOT_FOUND if another request has already removed it. */
export function removePasskey(
  deps: PasskeyDependencies,
  of: { readonly passkey: PasskeyRow; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = deps;
  const { id: target, name } = of.passkey;
  return changeOnce(deps, { name: "removing a passkey", refusal: { code: "PASSKEY_NOT_FOUND" } }, ({ auditId: id }) => {
    const entry = { id, merchantId: null, action: "passkey.removed", target, before: { name } } as const;
    return {
      value: undefined,
      statements: [assertThere(db, target), deletePasskey(db, of.passkey), insertAudit(db, of.trail, entry, nowMs)],
    };
  });
}
