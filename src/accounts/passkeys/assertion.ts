// Judges what an authenticator made of a sign-in's options (WebAuthn level 3, 7.2 "Verifying an Authentication Assertion"): of the steps
// there all but the challenge and the credential, which were looked up, the account's handle and the counter (credential.ts).
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import { parseAuthenticatorData, verifySignature } from "@simplewebauthn/server/helpers";
import { isMadeFor } from "./authenticator-data.ts";
import type { ClientData } from "./client-data.ts";
import type { Assertion, RelyingParty } from "./credential.ts";

/** What the authenticator says of itself, once its signature holds. */
export interface ProvedUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** `publicKey` as it is stored, base64url. Undefined when a step refuses it. */
export async function provedUseOf(
  { id, rawId, response }: Assertion,
  client: ClientData,
  of: { readonly relyingParty: RelyingParty; readonly publicKey: string },
): Promise<ProvedUse | undefined> {
  const { relyingParty, publicKey } = of;
  if (id !== rawId || client.type !== "webauthn.get" || client.origin !== relyingParty.origin) return undefined;
  try {
    const authData = base64urlnopad.decode(response.authenticatorData);
    const data = parseAuthenticatorData(new Uint8Array(authData));
    if (!isMadeFor(relyingParty.id, data)) return undefined;
    const isSigned = await verifySignature({
      signature: new Uint8Array(base64urlnopad.decode(response.signature)),
      data: new Uint8Array(concatBytes(authData, sha256(base64urlnopad.decode(response.clientDataJSON)))),
      credentialPublicKey: new Uint8Array(base64urlnopad.decode(publicKey)),
    });
    return isSigned ? { counter: data.counter, isBackedUp: data.flags.bs } : undefined;
  } catch {
    // The library throws for what it cannot read, and its input comes from a stranger.
    return undefined;
  }
}
