import { HOUR_MS } from "../../lib/time.ts";
import type { SealedRows } from "../../platform/keys/keyed-rows.ts";

/** Binds a sealed secret to its user. */
export function totpContext(userId: string): string {
  return `totp:${userId}`;
}

/** Leaves unconfirmed enrolments of the last hour alone: their confirmation requires that the stored text is still the one that was read. */
export const TOTP_ROWS: SealedRows = {
  kind: "totpSecrets",
  keyring: "SECRETS_AES_KEY",
  table: "users",
  where: (nowMs) => `(totp_enabled_at_ms is not null or updated_at_ms < ${nowMs - HOUR_MS})`,
  column: "totp_secret",
  id: "id",
  contextOf: totpContext,
};
