import { HOUR_MS } from "../../lib/time.ts";
import type { SealedRows } from "../../platform/keys/keyed-rows.ts";

/** Binds a sealed secret to its user. */
export function totpContext(userId: string): string {
  return `totp:${userId}`;
}

/** An unconfirmed enrolment of the last hour is left as it is: its first code is compared with the secret as it was read. */
export const TOTP_ROWS: SealedRows = {
  kind: "totpSecrets",
  keyring: "SECRETS_AES_KEY",
  table: "users",
  where: (nowMs) => `(totp_enabled_at_ms is not null or updated_at_ms < ${nowMs - HOUR_MS})`,
  column: "totp_secret",
  id: "id",
  contextOf: totpContext,
};
