import { commitAudited } from "../audit/commit-audited.ts";
import { insertAudit } from "../audit/store.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { TotpChange, TotpEffects } from "./enrol-totp.ts";
import { assertTotpEnabled, forgetBackupCodes, forgetTotp } from "./store.ts";

/** Takes the authenticator app and its backup codes away. TOTP_NOT_ENABLED where there is none. */
export async function disableTotp(fx: TotpEffects, { person, trail }: TotpChange): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = fx;
  const id = derivedId("aud", fx.newOperationId());
  const committed = await commitAudited(fx, id, [
    assertTotpEnabled(db, person.id, true),
    forgetTotp(db, person.id, nowMs),
    forgetBackupCodes(db, person.id),
    insertAudit(db, trail, { id, merchantId: null, action: "totp.disabled", target: person.id }, nowMs),
  ]);
  if (committed.kind === "conflict") return err({ code: "TOTP_NOT_ENABLED" });
  return committed.kind === "stands" ? ok(undefined) : err({ code: "STORAGE_UNAVAILABLE" });
}
