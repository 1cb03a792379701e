import type { Keyring } from "../../lib/keyring.ts";
import type { Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { isPublished } from "../../platform/keys/deployment-key.ts";
import { selectKeysOf } from "../../platform/keys/store.ts";
import { listPublicKeys, type PublicKey, publicKeyBody } from "./sign-return.ts";

export interface PublicKeyDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly signingKeys: Result<Keyring, string>;
  /** ROW_MAC_KEY, which protects the records of older public keys. */
  readonly macKeys: Result<Keyring, string>;
}

interface PublicKeys {
  readonly keys: readonly PublicKey[];
  /** False if older keys could not be read, or SIGNING_KEY is not valid: then the response must not be cached. */
  readonly isWhole: boolean;
}

/** The public keys, newest first, followed by those that left SIGNING_KEY less than 90 days ago, because a shop may verify a return later. */
export async function readPublicKeys(deps: PublicKeyDependencies): Promise<PublicKeys> {
  const own = await listPublicKeys(deps);
  const { macKeys } = deps;
  if (!macKeys.ok) return { keys: own, isWhole: false };
  const rows = await readWithRetry(deps.sleep, async () => selectKeysOf(deps.db, "SIGNING_KEY"));
  if (!rows.ok) return { keys: own, isWhole: false };
  const older = rows.value
    .filter((row) => !own.some(({ kid }) => kid === row.keyId) && isPublished(macKeys.value, row, deps.nowMs))
    .sort((a, b) => b.createdAtMs - a.createdAtMs);
  return {
    keys: [...own, ...older.map(({ keyId, kept }) => publicKeyBody(keyId, kept ?? ""))],
    isWhole: own.length > 0,
  };
}
