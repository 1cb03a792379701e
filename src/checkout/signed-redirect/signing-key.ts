// The keyring SIGNING_KEY, which signs the return of a customer who has paid. Its format is that of other secrets, `<key id>:<base64 of a 32-byte
// Ed25519 seed>`, newest first: the first key signs, the public keys of all are published.
import type { Keyring } from "../../lib/keyring.ts";
import { err, type Result } from "../../lib/result.ts";
import { type KeySettings, keyringOf } from "../../platform/keys/keyrings.ts";

const SEED_BYTES = 32;

/** The error never repeats the value. */
export function signingKeysOf(settings: KeySettings<"SIGNING_KEY">): Result<Keyring, string> {
  const keys = keyringOf(settings, "SIGNING_KEY");
  if (!keys.ok) return keys;
  if (keys.value.some(({ secret }) => secret.length !== SEED_BYTES))
    return err(`SIGNING_KEY must be <key id>:<base64 of ${SEED_BYTES} bytes>`);
  // Verifiers find a key by its id.
  if (new Set(keys.value.map(({ id }) => id)).size < keys.value.length)
    return err("SIGNING_KEY has the same key id twice; give each key its own id");
  return keys;
}

/** RFC 8410 7: SEQUENCE { version 0, SEQUENCE { OID 1.3.101.112 }, OCTET STRING { OCTET STRING seed } }. */
const PKCS8_HEAD = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/** A seed as a private key for Web Crypto. */
export function pkcs8Of(seed: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...PKCS8_HEAD, ...seed]);
}
