// The WebAuthn options for a browser, for `PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON`. They are built
// without the library, because its functions would add nothing here. So the library is only loaded to verify.
import { base64urlnopad } from "@scure/base";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import type { User } from "../users/user.ts";
import { ALGORITHMS, CHALLENGE_LIFETIME_MS, RP_NAME, userHandleOf } from "./credential.ts";

/** The user's registered passkeys; `credentialId` is base64url. */
type Registered = readonly { readonly credentialId: string }[];

/** Asks for a discoverable passkey that verifies its user, without attestation. `challenge` is base64url. */
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
      // The authenticator stores the name and shows it if it has several accounts.
      name: user.email,
      displayName: user.name ?? user.email,
    },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: "public-key" })),
    timeout: CHALLENGE_LIFETIME_MS,
    attestation: "none",
    excludeCredentials: descriptors(of.registered),
    // For browsers with WebAuthn level 1, `requireResidentKey` means the same as `residentKey: "required"`.
    authenticatorSelection: { residentKey: "required", userVerification: "required", requireResidentKey: true },
    extensions: { credProps: true },
    hints: [],
  };
}

/** Asks for one of the `registered` passkeys; without `registered`, for any passkey that the user selects. `challenge` is base64url. */
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
