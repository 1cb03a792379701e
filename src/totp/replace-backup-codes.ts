// Ten fresh backup codes; the old ones are dead from then on. They are shown once: what stays are HMACs.
import { commitAudited } from "../audit/commit-audited.ts";
import { insertAudit } from "../audit/store.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type UserId } from "../lib/ids.ts";
import { type KeyedMac, type Keyring, macText } from "../lib/keyring.ts";
import { err, ok, type Result } from "../lib/result.ts";
import {
  BACKUP_CODE_LENGTH,
  BACKUP_CODES,
  backupCodeMacText,
  backupCodeOf,
  canonicalBackupCode,
} from "./backup-code.ts";
import type { TotpChange, TotpEffects } from "./enrol-totp.ts";
import { assertTotpEnabled, replaceBackupCodes as replaceRows } from "./store.ts";

/** TOTP_NOT_ENABLED where there is no app that they could stand in for. */
export async function replaceBackupCodes(
  fx: TotpEffects,
  { person, trail }: TotpChange,
): Promise<Result<{ readonly backupCodes: readonly string[] }, Failure>> {
  const { db, nowMs } = fx;
  const id = derivedId("aud", fx.newOperationId());
  const { backupCodes, macs } = newBackupCodes(fx.pepper, person.id);
  const entry = { id, merchantId: null, action: "totp.backup_codes_replaced", target: person.id } as const;
  const committed = await commitAudited(fx, id, [
    assertTotpEnabled(db, person.id, true),
    ...replaceRows(db, person.id, macs),
    insertAudit(db, trail, entry, nowMs),
  ]);
  if (committed.kind === "conflict") return err({ code: "TOTP_NOT_ENABLED" });
  return committed.kind === "stands" ? ok({ backupCodes }) : err({ code: "STORAGE_UNAVAILABLE" });
}

/** Ten different codes as they are shown, and what is stored of each. */
export function newBackupCodes(
  pepper: Keyring,
  userId: UserId,
): { readonly backupCodes: readonly string[]; readonly macs: readonly KeyedMac[] } {
  const codes = new Set<string>();
  while (codes.size < BACKUP_CODES) codes.add(backupCodeOf(crypto.getRandomValues(new Uint8Array(BACKUP_CODE_LENGTH))));
  const backupCodes = [...codes];
  return { backupCodes, macs: backupCodes.map((code) => macText(pepper, macTextOf(userId, code))) };
}

function macTextOf(userId: UserId, code: string): string {
  const canonical = canonicalBackupCode(code);
  if (canonical === undefined) throw new Error("a backup code that was just made is none");
  return backupCodeMacText(userId, canonical);
}
