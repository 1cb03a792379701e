// Replaces the backup codes with ten new ones. They are shown only once, because only HMACs are stored.

import type { UserId } from "../../lib/ids.ts";
import { type KeyedMac, type Keyring, macText } from "../../lib/keyring.ts";
import type { Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import type { Failure } from "../../platform/failures.ts";
import {
  BACKUP_CODE_LENGTH,
  BACKUP_CODES,
  backupCodeMacText,
  backupCodeOf,
  canonicalBackupCode,
} from "./backup-code.ts";
import type { TotpChange, TotpDependencies } from "./enrol-totp.ts";
import { assertTotpEnabled, replaceBackupCodes as replaceRows } from "./store.ts";

/** Fails with TOTP_NOT_ENABLED if the user has no authenticator app. */
export function replaceBackupCodes(
  deps: TotpDependencies,
  { user, trail }: TotpChange,
): Promise<Result<{ readonly backupCodes: readonly string[] }, Failure>> {
  const { db, nowMs } = deps;
  const { backupCodes, macs } = newBackupCodes(deps.pepper, user.id);
  return changeOnce(
    deps,
    { name: "replacing backup codes", refusal: { code: "TOTP_NOT_ENABLED" } },
    ({ auditId: id }) => {
      const entry = { id, merchantId: null, action: "totp.backup_codes_replaced", target: user.id } as const;
      return {
        value: { backupCodes },
        statements: [
          assertTotpEnabled(db, user.id, true),
          ...replaceRows(db, user.id, macs),
          insertAudit(db, trail, entry, nowMs),
        ],
      };
    },
  );
}

/** Ten different codes for display, and the stored form of each. */
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
  if (canonical === undefined) throw new Error("a new backup code is not a valid code");
  return backupCodeMacText(userId, canonical);
}
