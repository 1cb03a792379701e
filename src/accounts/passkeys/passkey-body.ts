import type { PasskeyId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";

/** The fields of a passkey in the API. The credential id and the public key are left out, because users have no use for them. */
export interface Passkey {
  readonly id: PasskeyId;
  readonly name: string;
  readonly isBackedUp: boolean;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

export function passkeyBodyOf({ id, name, isBackedUp, createdAtMs, lastUsedAtMs }: Passkey) {
  const lastUsedAt = lastUsedAtMs === null ? null : isoTime(lastUsedAtMs);
  return { id, name, createdAt: isoTime(createdAtMs), lastUsedAt, isBackedUp };
}
