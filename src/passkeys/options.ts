// What a browser is asked for, as `PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` read it. Written out,
// for the library's own makers of it are to be had only with its formats of attestation.
import { base64urlnopad } from "@scure/base";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import type { Person } from "../users/person.ts";
import { ALGORITHMS, CHALLENGE_LIFETIME_MS, RP_NAME, userHandleOf } from "./credential.ts";

/** What the person has registered; `credentialId` base64url. */
type Registered = readonly { readonly credentialId: string }[];

/** A passkey that is found without a name typed, that verifies its user, and that nobody vouches for. `challenge` base64url. */
export function creationOptions(of: {
  readonly rpId: string;
  readonly challenge: string;
  readonly person: Pick<Person, "id" | "email" | "name">;
  readonly registered: Registered;
}): PublicKeyCredentialCreationOptionsJSON {
  const { person } = of;
  return {
    challenge: of.challenge,
    rp: { name: RP_NAME, id: of.rpId },
    user: {
      id: base64urlnopad.encode(userHandleOf(person.id)),
      // Shown by the authenticator where a person has several accounts; it stays there.
      name: person.email,
      displayName: person.name ?? person.email,
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

/** One of the `registered`, or, where none are named, whichever passkey the person picks. `challenge` base64url. */
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
