import type { Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import type { Failure } from "../../platform/failures.ts";
import type { TotpChange, TotpDependencies } from "./enrol-totp.ts";
import { assertTotpEnabled, forgetBackupCodes, forgetTotp } from "./store.ts";

/** Removes the authenticator app and its backup codes. Fails with TOTP_NOT_ENABLED if there is no app. */
export function disableTotp(deps: TotpDependencies, { user, trail }: TotpChange): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = deps;
  return changeOnce(
    deps,
    { name: "disabling an authenticator app", refusal: { code: "TOTP_NOT_ENABLED" } },
    ({ auditId: id }) => ({
      value: undefined,
      statements: [
        assertTotpEnabled(db, user.id, true),
        forgetTotp(db, user.id, nowMs),
        forgetBackupCodes(db, user.id),
        insertAudit(db, trail, { id, merchantId: null, action: "totp.disabled", target: user.id }, nowMs),
      ],
    }),
  );
}
