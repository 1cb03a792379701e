// Verifies the result of a registration (WebAuthn level 3, 7.1 "Registering a New Credential"). The library verifies it; values that the library
// accepts in several encodings, and attestation statements, are refused first. The caller has looked up the challenge of `client`, and the database
// checks that the credential id is new.
import { base64urlnopad } from "@scure/base";
import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import { bytesToHex } from "../../lib/bytes.ts";
import type { ClientData } from "./client-data.ts";
import { ALGORITHMS, type Attestation, type RelyingParty } from "./credential.ts";
import { webAuthn } from "./use-web-authn.ts";

export interface MadeCredential {
  /** Both base64url. */
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** 7.1, step "Verify that the credentialId is <= 1023 bytes". */
const MAX_CREDENTIAL_ID = 1_023;
/** Offset of the key after an empty credential id (6.1, 6.5.1): RP id hash, flags, counter, AAGUID, length of the id. */
const KEY_AT = 32 + 1 + 4 + 16 + 2;

/** Undefined if any check fails, or if there is an attestation statement. */
export async function madeCredentialOf(
  { id, rawId, type, response }: Attestation,
  client: ClientData,
  relyingParty: RelyingParty,
): Promise<MadeCredential | undefined> {
  const { verifyRegistrationResponse } = await webAuthn();
  const { clientDataJSON, attestationObject } = response;
  const json: RegistrationResponseJSON = {
    id,
    rawId,
    type,
    clientExtensionResults: {},
    response: { clientDataJSON, attestationObject },
  };
  try {
    const authData = await authDataOf(new Uint8Array(base64urlnopad.decode(attestationObject)));
    if (authData === undefined) return undefined;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: json,
      expectedChallenge: client.challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified) return undefined;
    const { credential, credentialBackedUp } = registrationInfo;
    const { publicKey, counter } = credential;
    const idBytes = base64urlnopad.decode(credential.id).length;
    const keyAt = KEY_AT + idBytes;
    if (idBytes > MAX_CREDENTIAL_ID || !isSame(publicKey, authData.subarray(keyAt, keyAt + publicKey.length)))
      return undefined;
    // Later steps use the id from outside the signed data, so the two must be equal.
    if (id !== credential.id) return undefined;
    return { credentialId: id, publicKey: base64urlnopad.encode(publicKey), counter, isBackedUp: credentialBackedUp };
  } catch {
    // The library throws if verification fails.
    return undefined;
  }
}

/** The authenticator data of an attestation object in canonical CBOR without a statement, else undefined; throws if it is unreadable. */
async function authDataOf(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array | undefined> {
  const { isoCBOR } = await webAuthn();
  const object: Parameters<typeof isoCBOR.encode>[0] = isoCBOR.decodeFirst(bytes);
  if (!isSame(isoCBOR.encode(object), bytes) || !(object instanceof Map)) return undefined;
  const [statement, authData] = [object.get("attStmt"), object.get("authData")];
  if (object.get("fmt") !== "none" || !(statement instanceof Map) || statement.size !== 0) return undefined;
  return authData instanceof Uint8Array ? authData : undefined;
}

/**
 * Compares an item that was decoded and encoded again with the bytes sent. They are equal only if the bytes are exactly one complete item in CTAP2
 * canonical CBOR. The library ignores bytes after an item, and accepts an item that is cut short.
 */
function isSame(written: Uint8Array, sent: Uint8Array): boolean {
  return bytesToHex(written) === bytesToHex(sent);
}
