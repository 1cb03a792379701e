import { ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import type { PasskeyDependencies } from "./begin-passkey.ts";
import { assertName, type PasskeyRow, renamePasskey, selectOwnPasskey } from "./store.ts";

/** Reads the passkey named in the path, if it belongs to the caller, in the storage call that authenticates the caller. */
export function ownPasskeyReads(db: Db, of: Parameters<typeof selectOwnPasskey>[1]) {
  return [selectOwnPasskey(db, of)] as const;
}

/** Fails with CONTENTION if the passkey was renamed or removed since it was read. */
export async function updatePasskey(
  deps: PasskeyDependencies,
  of: { readonly passkey: PasskeyRow; readonly name: string; readonly trail: Trail },
): Promise<Result<PasskeyRow, Failure>> {
  const { db, nowMs } = deps;
  const { passkey, name, trail } = of;
  if (name === passkey.name) return ok(passkey);
  return changeOnce(deps, { name: "renaming a passkey", refusal: { code: "CONTENTION" } }, ({ auditId: id }) => {
    const facts = { before: { name: passkey.name }, after: { name } };
    const entry = { id, merchantId: null, action: "passkey.renamed", target: passkey.id, ...facts } as const;
    return {
      value: { ...passkey, name },
      statements: [assertName(db, passkey), renamePasskey(db, passkey.id, name), insertAudit(db, trail, entry, nowMs)],
    };
  });
}
