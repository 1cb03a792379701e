import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { PasskeyEffects } from "./begin-passkey.ts";
import { assertName, type PasskeyRow, renamePasskey, selectOwnPasskey } from "./store.ts";

/** The passkey of the path, if it is the caller's; read with the caller, who is not proved yet. */
export function ownPasskeyReads(db: Db, of: Parameters<typeof selectOwnPasskey>[1]) {
  return [selectOwnPasskey(db, of)] as const;
}

/** CONTENTION when it was renamed or removed since it was read. */
export async function updatePasskey(
  fx: PasskeyEffects,
  of: { readonly passkey: PasskeyRow; readonly name: string; readonly trail: Trail },
): Promise<Result<PasskeyRow, Failure>> {
  const { db, nowMs } = fx;
  const { passkey, name, trail } = of;
  if (name === passkey.name) return ok(passkey);
  const auditId = derivedId("aud", fx.newOperationId());
  const entry = {
    id: auditId,
    merchantId: null,
    action: "passkey.renamed",
    target: passkey.id,
    before: { name: passkey.name },
    after: { name },
  } as const;
  const committed = await commitAudited(fx, auditId, [
    assertName(db, passkey),
    renamePasskey(db, passkey.id, name),
    insertAudit(db, trail, entry, nowMs),
  ]);
  if (committed.kind === "stands") return ok({ ...passkey, name });
  return err({ code: committed.kind === "conflict" ? "CONTENTION" : "STORAGE_UNAVAILABLE" });
}
