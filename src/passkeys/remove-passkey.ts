import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { PasskeyEffects } from "./begin-passkey.ts";
import { assertThere, deletePasskey, type PasskeyRow } from "./store.ts";

/** PASSKEY_NOT_FOUND when another removal came first. */
export async function removePasskey(
  fx: PasskeyEffects,
  of: { readonly passkey: PasskeyRow; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = fx;
  const { id: target, name } = of.passkey;
  const id = derivedId("aud", fx.newOperationId());
  const entry = { id, merchantId: null, action: "passkey.removed", target, before: { name } } as const;
  const committed = await commitAudited(fx, id, [
    assertThere(db, target),
    deletePasskey(db, target),
    insertAudit(db, of.trail, entry, nowMs),
  ]);
  if (committed.kind === "stands") return ok(undefined);
  return err({ code: committed.kind === "conflict" ? "PASSKEY_NOT_FOUND" : "STORAGE_UNAVAILABLE" });
}
