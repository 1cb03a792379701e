// What a browser is asked for, as `PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` read it. Written out
// here: the library, whose functions for it do no more, is loaded only to verify.
import { base64urlnopad } from "@scure/base";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import type { User } from "../users/user.ts";
import { ALGORITHMS, CHALLENGE_LIFETIME_MS, RP_NAME, userHandleOf } from "./credential.ts";

/** The user's registered passkeys; `credentialId` base64url. */
type Registered = readonly { readonly credentialId: string }[];

/** A discoverable passkey that verifies its user, without attestation. `challenge` base64url. */
export function creationOptions(of: {
  readonly rpId: string;
  readonly challenge: string;
  readonly user: Pick<User, "id" | "email" | "name">;
  readonly registered: Registered;
}): PublicKeyCredentialCreationOptionsJSON {
  const { user } = of;
  return {
    challenge: of.challenge,
    rp: { name: RP_NAME, id: of.rpId },
    user: {
      id: base64urlnopad.encode(userHandleOf(user.id)),
      // The authenticator shows it where it holds several accounts; it stays there.
      name: user.email,
      displayName: user.name ?? user.email,
    },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: "public-key" })),
    timeout: CHALLENGE_LIFETIME_MS,
    attestation: "none",
    excludeCredentials: descriptors(of.registered),
    // `requireResidentKey` says "required" to browsers of level 1.
    authenticatorSelection: { residentKey: "required", userVerification: "required", requireResidentKey: true },
    extensions: { credProps: true },
    hints: [],
  };
}

/** For one of the `registered`, or, without `registered`, for any passkey that the user picks. `challenge` base64url. */
export function requestOptions(of: {
  readonly rpId: string;
  readonly challenge: string;
  readonly registered?: Registered;
}): PublicKeyCredentialRequestOptionsJSON {
  const { rpId, challenge, registered } = of;
  return {
    rpId,
    challenge,
    timeout: CHALLENGE_LIFETIME_MS,
    userVerification: "required",
    ...(registered === undefined ? {} : { allowCredentials: descriptors(registered) }),
  };
}

function descriptors(registered: Registered) {
  return registered.map(({ credentialId }) => ({ id: credentialId, type: "public-key" as const }));
}
