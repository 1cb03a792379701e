// Begins to set up an authenticator app. The secret is sealed, bound to its user, and not a factor until a code of it has been given.

import type { UserId } from "../../lib/ids.ts";
import type { Keyring } from "../../lib/keyring.ts";
import type { Result } from "../../lib/result.ts";
import { seal, unseal } from "../../lib/seal.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { type CommitDependencies, changeOnce } from "../../platform/changes/change.ts";
import type { Failure } from "../../platform/failures.ts";
import type { User } from "../users/user.ts";
import { assertTotpEnabled, keepTotpSecret, selectTotp } from "./store.ts";
import { otpauthUri, TOTP_SECRET_BYTES, totpSecretOf } from "./totp.ts";

export interface TotpDependencies extends CommitDependencies {
  readonly pepper: Keyring;
  /** Of SECRETS_AES_KEY. */
  readonly sealKeys: Keyring;
}

/** Who changes their own factors, by which request. */
export interface TotpChange {
  readonly user: User;
  readonly trail: Trail;
}

/** A new secret, in base32 and as the URI of a QR code, in place of one that was not confirmed. Refuses TOTP_ALREADY_ENABLED once one is. */
export async function enrolTotp(
  deps: TotpDependencies,
  { user }: { readonly user: User },
): Promise<Result<{ readonly secret: string; readonly otpauthUri: string }, Failure>> {
  const { db, nowMs } = deps;
  const secret = totpSecretOf(crypto.getRandomValues(new Uint8Array(TOTP_SECRET_BYTES)));
  const sealed = await seal(deps.sealKeys, sealContext(user.id), secret);
  return changeOnce(
    deps,
    { name: "enrolling an authenticator app", refusal: { code: "TOTP_ALREADY_ENABLED" } },
    () => ({
      value: { secret, otpauthUri: otpauthUri({ secret, email: user.email }) },
      statements: [assertTotpEnabled(db, user.id, false), keepTotpSecret(db, user.id, sealed, nowMs)],
      marker: async () => (await selectTotp(db, user.id)).filter((kept) => kept.secret === sealed),
    }),
  );
}

/** The secret in the clear; throws when it does not open: its key is gone, or the row was altered or is another user's. */
export async function openTotpSecret(sealKeys: Keyring, userId: UserId, sealed: string): Promise<string> {
  const secret = await unseal(sealKeys, sealContext(userId), sealed);
  if (secret === undefined) throw new Error(`the TOTP secret of ${userId} does not open`);
  return secret;
}

function sealContext(userId: UserId): string {
  return `totp:${userId}`;
}
