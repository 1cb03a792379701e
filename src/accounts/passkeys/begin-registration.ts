import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import { ok, type Result } from "../../lib/result.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ProvedSession } from "../sessions/session.ts";
import type { User } from "../users/user.ts";
import { keepChallenge, newChallenge, type PasskeyDependencies } from "./begin-passkey.ts";
import { relyingPartyOf } from "./credential.ts";
import { creationOptions } from "./options.ts";
import { selectCredentials } from "./store.ts";

/**
 * Options for `navigator.credentials.create`: a discoverable passkey that verifies its user, without attestation. The challenge works once, for
 * 5 minutes, in this session.
 */
export async function beginRegistration(
  deps: PasskeyDependencies,
  of: { readonly user: Pick<User, "id" | "email" | "name">; readonly session: Pick<ProvedSession, "id"> },
): Promise<Result<PublicKeyCredentialCreationOptionsJSON, Failure>> {
  const { user, session } = of;
  const own = await readWithRetry(deps.sleep, async () => selectCredentials(deps.db, user.id));
  if (!own.ok) return own;
  const rpId = relyingPartyOf(deps.publicUrl).id;
  const options = creationOptions({ rpId, challenge: newChallenge(), user, registered: own.value });
  const given = { kind: "PASSKEY_REGISTRATION", userId: user.id, sessionId: session.id, data: null } as const;
  const kept = await keepChallenge(deps, options.challenge, given);
  return kept.ok ? ok(options) : kept;
}
