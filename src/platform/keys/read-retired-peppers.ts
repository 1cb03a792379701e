import { base64 } from "@scure/base";
import type { Keyring, SecretKey } from "../../lib/keyring.ts";
import { logAlert } from "../../lib/log.ts";
import type { Result } from "../../lib/result.ts";
import { unseal } from "../../lib/seal.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { pepperContext } from "./deployment-key.ts";
import { selectKeysOf } from "./store.ts";

/**
 * Peppers that have left CODE_PEPPER, for backup codes that were stored under them: only HMACs of the codes are known, so no job can renew them, and
 * a user may need one years later.
 */
export async function readRetiredPeppers(deps: {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly pepper: Keyring;
  readonly sealKeys: Keyring;
}): Promise<Result<readonly SecretKey[], Failure>> {
  const rows = await readWithRetry(deps.sleep, async () => selectKeysOf(deps.db, "CODE_PEPPER"));
  if (!rows.ok) return rows;
  const retired = rows.value.filter(({ keyId }) => !deps.pepper.some(({ id }) => id === keyId));
  const peppers = retired.map(async ({ keyId: id, kept }) => {
    const opened = kept === null ? undefined : await unseal(deps.sealKeys, pepperContext(id), kept);
    if (opened === undefined) logAlert("a retired pepper cannot be decrypted", { keyId: id });
    return opened === undefined ? [] : { id, secret: base64.decode(opened) };
  });
  return { ok: true, value: (await Promise.all(peppers)).flat() };
}
