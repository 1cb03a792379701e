// Backup codes, for users who have lost the authenticator app: 50 random bits as ten characters of Crockford's base32 (no I, L, O, U), shown as
// XXXXX-XXXXX. Only an HMAC with the pepper is stored, bound to the user.
import { lengthPrefixed } from "../../lib/bytes.ts";
import type { UserId } from "../../lib/ids.ts";

export const BACKUP_CODES = 10;
export const BACKUP_CODE_LENGTH = 10;
const HALF = BACKUP_CODE_LENGTH / 2;
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CANONICAL = /^[0-9A-HJKMNP-TV-Z]{10}$/;

/** A code from random bytes; uses five bits of each. */
export function backupCodeOf(random: Uint8Array): string {
  if (random.length !== BACKUP_CODE_LENGTH)
    throw new Error(`a backup code has ${BACKUP_CODE_LENGTH} bytes, got ${random.length}`);
  const text = Array.from(random, (byte) => ALPHABET.charAt(byte & 31)).join("");
  return `${text.slice(0, HALF)}-${text.slice(HALF)}`;
}

/** A typed code in its canonical form, without the dash. Corrects case, dashes, spaces, and the letters O, I and L. Undefined if it is not a code. */
export function canonicalBackupCode(typed: string): string | undefined {
  const text = typed.replaceAll(/[\s-]/g, "").toUpperCase().replaceAll("O", "0").replaceAll(/[IL]/g, "1");
  return CANONICAL.test(text) ? text : undefined;
}

/** The input of a code's HMAC. A row that is copied to another user does not verify. */
export function backupCodeMacText(userId: UserId, canonical: string): string {
  return lengthPrefixed(["backup code", userId, canonical]);
}
