// Judges what an authenticator made of a sign-in's options (WebAuthn level 3, 7.2 "Verifying an Authentication Assertion"). The library decides;
// what it takes in more than one form is read strictly before. The challenge and the credential were looked up, and the account's handle and
// the counter are judged where they are known (credential.ts).
import { base64urlnopad } from "@scure/base";
import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import type { ClientData } from "./client-data.ts";
import { type Assertion, ES256, type RelyingParty } from "./credential.ts";
import { ecdsaSignatureOf } from "./ecdsa-signature.ts";

/** What the authenticator says of itself, once its signature holds. */
export interface ProvedUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** `publicKey` as it is stored, base64url. Undefined when a step refuses it. The library is loaded when the first passkey is used. */
export async function provedUseOf(
  { id, rawId, type, response }: Assertion,
  client: ClientData,
  of: { readonly relyingParty: RelyingParty; readonly publicKey: string },
): Promise<ProvedUse | undefined> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const { cose, decodeCredentialPublicKey } = await import("@simplewebauthn/server/helpers");
  const { clientDataJSON, authenticatorData, signature } = response;
  const json: AuthenticationResponseJSON = {
    ...{ id, rawId, type, clientExtensionResults: {} },
    response: { clientDataJSON, authenticatorData, signature },
  };
  try {
    const publicKey = new Uint8Array(base64urlnopad.decode(of.publicKey));
    // The library takes more spellings of base64 than one.
    base64urlnopad.decode(authenticatorData);
    const signed = base64urlnopad.decode(signature);
    const isEcdsa = decodeCredentialPublicKey(publicKey).get(cose.COSEKEYS.alg) === ES256;
    if (isEcdsa && ecdsaSignatureOf(signed) === undefined) return undefined;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: json,
      expectedChallenge: client.challenge,
      expectedOrigin: of.relyingParty.origin,
      expectedRPID: of.relyingParty.id,
      // Whoever calls compares the counter, for one that went back is noted.
      credential: { id, publicKey, counter: 0 },
      requireUserVerification: true,
    });
    const { newCounter, credentialBackedUp } = authenticationInfo;
    return verified ? { counter: newCounter, isBackedUp: credentialBackedUp } : undefined;
  } catch {
    // The library throws for what it refuses.
    return undefined;
  }
}
