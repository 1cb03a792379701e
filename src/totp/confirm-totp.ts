// Switches an authenticator app on by a first code of it. The session that did it counts as stepped up by it, under a new token: nobody who
// held the old one is carried over a change of factors.
import { commitAudited } from "../audit/commit-audited.ts";
import { insertAudit } from "../audit/store.ts";
import type { PersonPrincipal } from "../auth/principal.ts";
import { readWithRetry } from "../db/retry.ts";
import { readLostRace } from "../factors/read-lost-race.ts";
import { assertSessionHeld } from "../factors/store.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { giveFactor } from "../sessions/open-session.ts";
import { openTotpSecret, type TotpChange, type TotpEffects } from "./enrol-totp.ts";
import { newBackupCodes } from "./replace-backup-codes.ts";
import { enableTotp, replaceBackupCodes, selectTotp } from "./store.ts";
import { acceptedStep } from "./totp.ts";

export interface ConfirmedTotp {
  /** Shown once. */
  readonly backupCodes: readonly string[];
  /** The session's new token. */
  readonly token: string;
}

/** TOTP_NOT_ENABLED where no secret waits, TOTP_ALREADY_ENABLED, INVALID_CODE. */
export async function confirmTotp(
  fx: TotpEffects,
  of: { readonly principal: PersonPrincipal; readonly code: string; readonly trail: TotpChange["trail"] },
): Promise<Result<ConfirmedTotp, Failure>> {
  const { db, nowMs } = fx;
  const { person, session } = of.principal;
  const rows = await readWithRetry(fx.sleep, async () => selectTotp(db, person.id));
  if (!rows.ok) return rows;
  const [kept] = rows.value;
  if (kept === undefined || kept.secret === null) return err({ code: "TOTP_NOT_ENABLED" });
  if (kept.enabledAtMs !== null) return err({ code: "TOTP_ALREADY_ENABLED" });
  const secret = await openTotpSecret(fx.sealKeys, person.id, kept.secret);
  const step = acceptedStep({ secret, code: of.code, nowMs, lastStep: null });
  if (step === undefined) return err({ code: "INVALID_CODE" });
  const { backupCodes, macs } = newBackupCodes(fx.pepper, person.id);
  const given = giveFactor(fx, session, "TOTP");
  const operationId = fx.newOperationId();
  const id = derivedId("aud", operationId);
  const enabled = { id, merchantId: null, action: "totp.enabled", target: person.id } as const;
  const steppedUp = {
    id: derivedId("aud", operationId, 1),
    merchantId: null,
    action: "session.stepped_up",
    target: session.id,
    after: { factor: "TOTP" },
  } as const;
  const committed = await commitAudited(fx, id, [
    assertSessionHeld(db, session),
    ...enableTotp(db, { userId: person.id, sealed: kept.secret, step, nowMs }),
    ...replaceBackupCodes(db, person.id, macs),
    given.statement,
    insertAudit(db, of.trail, enabled, nowMs),
    insertAudit(db, of.trail, steppedUp, nowMs),
  ]);
  if (committed.kind === "conflict") return err(await readLostRace(fx, session, { code: "INVALID_CODE" }));
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  return ok({ backupCodes, token: given.token });
}
