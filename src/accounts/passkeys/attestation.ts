// Judges what an authenticator made of a registration's options (WebAuthn level 3, 7.1 "Registering a New Credential"): of the steps there
// everything but the challenge, which was looked up by what `client` says, and who holds the credential id, which the database knows. The
// library reads the bytes; its own judge would bring every format of attestation and its makers' certificates, and we ask for none.
import { base64urlnopad } from "@scure/base";
import { cose, decodeCredentialPublicKey, isoCBOR, parseAuthenticatorData } from "@simplewebauthn/server/helpers";
import { bytesToHex } from "../../lib/bytes.ts";
import { isMadeFor } from "./authenticator-data.ts";
import type { ClientData } from "./client-data.ts";
import { ALGORITHMS, type Attestation, type RelyingParty } from "./credential.ts";

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

/** Undefined when a step of the check fails, and when an attestation statement is attached. */
export function madeCredentialOf(
  { id, rawId, response }: Attestation,
  client: ClientData,
  relyingParty: RelyingParty,
): MadeCredential | undefined {
  if (client.type !== "webauthn.create" || client.origin !== relyingParty.origin) return undefined;
  try {
    const bytes = new Uint8Array(base64urlnopad.decode(response.attestationObject));
    const object: Parameters<typeof isoCBOR.encode>[0] = isoCBOR.decodeFirst(bytes);
    if (!isSame(isoCBOR.encode(object), bytes)) return undefined;
    if (!(object instanceof Map)) return undefined;
    const [statement, authData] = [object.get("attStmt"), object.get("authData")];
    if (object.get("fmt") !== "none" || !(statement instanceof Map) || statement.size !== 0) return undefined;
    if (!(authData instanceof Uint8Array)) return undefined;
    const data = parseAuthenticatorData(new Uint8Array(authData));
    const { credentialID, credentialPublicKey, counter, flags } = data;
    if (!isMadeFor(relyingParty.id, data)) return undefined;
    if (credentialID === undefined || credentialPublicKey === undefined) return undefined;
    if (credentialID.length > MAX_CREDENTIAL_ID) return undefined;
    const keyAt = KEY_AT + credentialID.length;
    if (!isSame(credentialPublicKey, authData.subarray(keyAt, keyAt + credentialPublicKey.length))) return undefined;
    const algorithm = decodeCredentialPublicKey(credentialPublicKey).get(cose.COSEKEYS.alg);
    if (algorithm === undefined || !ALGORITHMS.includes(algorithm)) return undefined;
    const credentialId = base64urlnopad.encode(credentialID);
    // Every later step uses the id of the envelope.
    if (id !== credentialId || rawId !== credentialId) return undefined;
    return { credentialId, publicKey: base64urlnopad.encode(credentialPublicKey), counter, isBackedUp: flags.bs };
  } catch {
    // The library throws for what it cannot read, and its input comes from a stranger.
    return undefined;
  }
}

/**
 * Whether bytes that the library read are written in their one form (CTAP2 canonical CBOR), whole and with nothing behind them: it stops
 * where an item ends, and takes an item that the end cuts short.
 */
function isSame(written: Uint8Array, sent: Uint8Array): boolean {
  return bytesToHex(written) === bytesToHex(sent);
}
