// Switches on an authenticator app with its first code. The session then counts as stepped up and gets a new token, because the old token must not
// outlive a change of factors. The user's other sessions end.

import { derivedId } from "../../lib/ids.ts";
import { err, type Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { UserPrincipal } from "../auth/principal.ts";
import { giveFactor } from "../sessions/open-session.ts";
import { readLostRace } from "../sessions/read-lost-race.ts";
import { assertSessionHeld, revokeOtherSessions } from "../sessions/store.ts";
import { openTotpSecret, type TotpChange, type TotpDependencies } from "./enrol-totp.ts";
import { newBackupCodes } from "./replace-backup-codes.ts";
import { enableTotp, replaceBackupCodes, selectTotp } from "./store.ts";
import { acceptedStep } from "./totp.ts";

interface ConfirmedTotp {
  /** Shown only once. */
  readonly backupCodes: readonly string[];
  /** The session's new token. */
  readonly token: string;
}

/** Fails with TOTP_NOT_ENABLED if no enrolment was started, with TOTP_ALREADY_ENABLED, or with INVALID_CODE. */
export async function confirmTotp(
  deps: TotpDependencies,
  of: { readonly principal: UserPrincipal; readonly code: string; readonly trail: TotpChange["trail"] },
): Promise<Result<ConfirmedTotp, Failure>> {
  const { db, nowMs } = deps;
  const { user, session } = of.principal;
  const rows = await readWithRetry(deps.sleep, async () => selectTotp(db, user.id));
  if (!rows.ok) return rows;
  const [kept] = rows.value;
  if (kept === undefined || kept.secret === null) return err({ code: "TOTP_NOT_ENABLED" });
  if (kept.enabledAtMs !== null) return err({ code: "TOTP_ALREADY_ENABLED" });
  const { secret: sealed } = kept;
  const secret = await openTotpSecret(deps.sealKeys, user.id, sealed);
  const step = acceptedStep({ secret, code: of.code, nowMs, lastStep: null });
  if (step === undefined) return err({ code: "INVALID_CODE" });
  const { backupCodes, macs } = newBackupCodes(deps.pepper, user.id);
  const given = giveFactor(deps, session, "TOTP");
  const refusal = () => readLostRace(deps, session, { code: "INVALID_CODE" });
  return changeOnce(deps, { name: "enabling an authenticator app", refusal }, ({ operationId, auditId }) => {
    const enabled = { id: auditId, merchantId: null, action: "totp.enabled", target: user.id } as const;
    const steppedUp = {
      id: derivedId("aud", operationId, 1),
      merchantId: null,
      action: "session.stepped_up",
      target: session.id,
      after: { factor: "TOTP" },
    } as const;
    return {
      value: { backupCodes, token: given.token },
      statements: [
        assertSessionHeld(db, session),
        ...enableTotp(db, { userId: user.id, sealed, step, nowMs }),
        ...replaceBackupCodes(db, user.id, macs),
        given.statement,
        revokeOtherSessions(db, { userId: user.id, kept: session.id, nowMs }),
        insertAudit(db, of.trail, enabled, nowMs),
        insertAudit(db, of.trail, steppedUp, nowMs),
      ],
    };
  });
}
