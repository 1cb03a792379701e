// Verifies an authenticator's assertion (WebAuthn level 3, 7.2 "Verifying an Authentication Assertion"). The library verifies it; values that the
// library accepts in several encodings are first parsed strictly. The caller has looked up the challenge and the credential, and checks the user
// handle and the counter itself (credential.ts).
import { base64urlnopad } from "@scure/base";
import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import type { ClientData } from "./client-data.ts";
import { type Assertion, ES256, type RelyingParty } from "./credential.ts";
import { ecdsaSignatureOf } from "./ecdsa-signature.ts";
import { webAuthn } from "./use-web-authn.ts";

/** The values that the authenticator reported, once its signature has been verified. */
interface ProvedUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** `publicKey` is base64url, as stored. Undefined if any check fails. */
export async function provedUseOf(
  { id, rawId, type, response }: Assertion,
  client: ClientData,
  of: { readonly relyingParty: RelyingParty; readonly publicKey: string },
): Promise<ProvedUse | undefined> {
  const { cose, decodeCredentialPublicKey, verifyAuthenticationResponse } = await webAuthn();
  const { clientDataJSON, authenticatorData, signature } = response;
  const json: AuthenticationResponseJSON = {
    id,
    rawId,
    type,
    clientExtensionResults: {},
    response: { clientDataJSON, authenticatorData, signature },
  };
  try {
    const publicKey = new Uint8Array(base64urlnopad.decode(of.publicKey));
    // The library accepts several spellings of base64.
    base64urlnopad.decode(authenticatorData);
    const signed = base64urlnopad.decode(signature);
    const isEcdsa = decodeCredentialPublicKey(publicKey).get(cose.COSEKEYS.alg) === ES256;
    if (isEcdsa && ecdsaSignatureOf(signed) === undefined) return undefined;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: json,
      expectedChallenge: client.challenge,
      expectedOrigin: of.relyingParty.origin,
      expectedRPID: of.relyingParty.id,
      // Zero, so that the library does not compare counters. The caller does that, because it records a counter that did not increase.
      credential: { id, publicKey, counter: 0 },
      requireUserVerification: true,
    });
    const { newCounter, credentialBackedUp } = authenticationInfo;
    return verified ? { counter: newCounter, isBackedUp: credentialBackedUp } : undefined;
  } catch {
    // The library throws if verification fails.
    return undefined;
  }
}
