// Starts the enrolment of an authenticator app. The secret is stored encrypted, bound to its user. The app is not a
// factor until one of its codes has been entered.

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
import { totpContext } from "./totp-rows.ts";

export interface TotpDependencies extends CommitDependencies {
  readonly pepper: Keyring;
  /** The keys of SECRETS_AES_KEY. */
  readonly sealKeys: Keyring;
}

/** The user who changes their factors, and the request. */
export interface TotpChange {
  readonly user: User;
  readonly trail: Trail;
}

/** A new secret, in base32 and as a URI for a QR code. Replaces an unconfirmed one; fails with TOTP_ALREADY_ENABLED if one is confirmed. */
export async function enrolTotp(
  deps: TotpDependencies,
  { user }: { readonly user: User },
): Promise<Result<{ readonly secret: string; readonly otpauthUri: string }, Failure>> {
  const { db, nowMs } = deps;
  const secret = totpSecretOf(crypto.getRandomValues(new Uint8Array(TOTP_SECRET_BYTES)));
  const sealed = await seal(deps.sealKeys, totpContext(user.id), secret);
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

/** Decrypts the secret. Throws if its key is missing, or if the row was altered or belongs to another user. */
export async function openTotpSecret(sealKeys: Keyring, userId: UserId, sealed: string): Promise<string> {
  const secret = await unseal(sealKeys, totpContext(userId), sealed);
  if (secret === undefined) throw new Error(`the TOTP secret of ${userId} cannot be decrypted`);
  return secret;
}
