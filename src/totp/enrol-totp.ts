// Begins to set up an authenticator app. The secret is sealed, bound to its person, and counts for nothing until a code of it is given.
import type { Trail } from "../audit/entry.ts";
import type { Db } from "../db/client.ts";
import { commitBatch } from "../db/commit-batch.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { UserId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { seal, unseal } from "../lib/seal.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Person } from "../users/person.ts";
import { assertTotpEnabled, keepTotpSecret, selectTotp } from "./store.ts";
import { otpauthUri, TOTP_SECRET_BYTES, totpSecretOf } from "./totp.ts";

export interface TotpEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly pepper: Keyring;
  /** Of SECRETS_AES_KEY. */
  readonly sealKeys: Keyring;
  readonly newOperationId: () => string;
}

/** Who changes their own factors, by which request. */
export interface TotpChange {
  readonly person: Person;
  readonly trail: Trail;
}

/** A new secret, in base32 and as the URI of a QR code, in place of one that was not confirmed. TOTP_ALREADY_ENABLED once one is. */
export async function enrolTotp(
  fx: TotpEffects,
  { person }: { readonly person: Person },
): Promise<Result<{ readonly secret: string; readonly otpauthUri: string }, Failure>> {
  const { db, nowMs } = fx;
  const secret = totpSecretOf(crypto.getRandomValues(new Uint8Array(TOTP_SECRET_BYTES)));
  const sealed = await seal(fx.sealKeys, sealContext(person.id), secret);
  const isKept = async () => {
    const rows = await readWithRetry(fx.sleep, async () => selectTotp(db, person.id));
    return rows.ok && rows.value[0]?.secret === sealed;
  };
  const committed = await commitBatch(fx, isKept, [
    assertTotpEnabled(db, person.id, false),
    keepTotpSecret(db, person.id, sealed, nowMs),
  ]);
  if (committed.kind === "conflict") return err({ code: "TOTP_ALREADY_ENABLED" });
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  return ok({ secret, otpauthUri: otpauthUri({ secret, email: person.email }) });
}

/** The secret in the clear; throws when it does not open: its key is gone, or the row was altered or is another person's. */
export async function openTotpSecret(sealKeys: Keyring, userId: UserId, sealed: string): Promise<string> {
  const secret = await unseal(sealKeys, sealContext(userId), sealed);
  if (secret === undefined) throw new Error(`the TOTP secret of ${userId} does not open`);
  return secret;
}

function sealContext(userId: UserId): string {
  return `totp:${userId}`;
}
