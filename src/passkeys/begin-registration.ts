import { generateRegistrationOptions, type PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { ok, type Result } from "../lib/result.ts";
import type { ProvedSession } from "../sessions/session.ts";
import type { Person } from "../users/person.ts";
import { keepChallenge, newChallenge, type PasskeyEffects } from "./begin-passkey.ts";
import { ALGORITHMS, CHALLENGE_LIFETIME_MS, RP_NAME, relyingPartyOf, userHandleOf } from "./credential.ts";
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
  const options = await generateRegistrationOptions({
    rpName: RP_NAME,
    rpID: relyingPartyOf(fx.publicUrl).id,
    userID: userHandleOf(person.id),
    // Shown by the authenticator where a person has several accounts; it stays there.
    userName: person.email,
    userDisplayName: person.name ?? person.email,
    challenge: newChallenge(),
    timeout: CHALLENGE_LIFETIME_MS,
    attestationType: "none",
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: [...ALGORITHMS],
    excludeCredentials: own.value.map(({ credentialId }) => ({ id: credentialId })),
  });
  const given = { kind: "PASSKEY_REGISTRATION", userId: person.id, sessionId: session.id, data: null } as const;
  const kept = await keepChallenge(fx, options.challenge, given);
  return kept.ok ? ok(options) : kept;
}
