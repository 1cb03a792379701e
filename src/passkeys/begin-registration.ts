import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { ok, type Result } from "../lib/result.ts";
import type { ProvedSession } from "../sessions/session.ts";
import type { Person } from "../users/person.ts";
import { keepChallenge, newChallenge, type PasskeyEffects } from "./begin-passkey.ts";
import { relyingPartyOf } from "./credential.ts";
import { creationOptions } from "./options.ts";
import { selectCredentials } from "./store.ts";

/**
 * Options for `navigator.credentials.create`: a passkey that is found without a name typed, that verifies its user, and that nobody vouches
 * for. The challenge works for 5 minutes, once, in this session.
 */
export async function beginRegistration(
  fx: PasskeyEffects,
  of: { readonly person: Pick<Person, "id" | "email" | "name">; readonly session: Pick<ProvedSession, "id"> },
): Promise<Result<PublicKeyCredentialCreationOptionsJSON, Failure>> {
  const { person, session } = of;
  const own = await readWithRetry(fx.sleep, async () => selectCredentials(fx.db, person.id));
  if (!own.ok) return own;
  const rpId = relyingPartyOf(fx.publicUrl).id;
  const options = creationOptions({ rpId, challenge: newChallenge(), person, registered: own.value });
  const given = { kind: "PASSKEY_REGISTRATION", userId: person.id, sessionId: session.id, data: null } as const;
  const kept = await keepChallenge(fx, options.challenge, given);
  return kept.ok ? ok(options) : kept;
}
