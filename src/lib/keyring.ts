// Secret keys of a deployment: `<id>:<base64 of at least 32 bytes>`, comma-separated, newest first; two of them during a rotation. The first key
// signs and encrypts, all of them verify and decrypt.
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { base64 } from "@scure/base";
import { bytesToHex, equalDigests, utf8ToBytes } from "./bytes.ts";
import { err, ok, type Result } from "./result.ts";

export interface SecretKey {
  readonly id: string;
  readonly secret: Uint8Array;
}

export type Keyring = readonly [SecretKey, ...SecretKey[]];

export interface KeyedMac {
  /** Hex of HMAC-SHA256. */
  readonly mac: string;
  readonly macKeyId: string;
}

const MIN_SECRET_BYTES = 32;

/** Parses the variable `name`; the error never repeats its value. */
export function parseKeyring(name: string, text: string | undefined): Result<Keyring, string> {
  const keys: SecretKey[] = [];
  for (const part of (text ?? "").split(",")) {
    const [, id, encoded] = /^\s*([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/=]+)\s*$/.exec(part) ?? [];
    const secret = encoded === undefined ? undefined : decode(encoded);
    if (id === undefined || secret === undefined || secret.length < MIN_SECRET_BYTES) {
      return err(`${name} must be <key id>:<base64 of at least ${MIN_SECRET_BYTES} bytes>`);
    }
    keys.push({ id, secret });
  }
  const [first, ...rest] = keys;
  return first === undefined ? err(`${name} is empty`) : ok([first, ...rest]);
}

/**
 * Derives from each key a key for one purpose, under the same id: HKDF-SHA256 (RFC 5869) without a salt. Keys with different `info` are independent,
 * and none reveals anything about the key that it was derived from.
 */
export function deriveKeyring([first, ...rest]: Keyring, info: string, bytes = MIN_SECRET_BYTES): Keyring {
  const derived = ({ id, secret }: SecretKey) => ({
    id,
    secret: hkdf(sha256, secret, undefined, utf8ToBytes(info), bytes),
  });
  return [derived(first), ...rest.map(derived)];
}

/** HMAC with the newest key. `text` must include its purpose, so that an HMAC for one purpose is not valid for another. */
export function macText(keys: Keyring, text: string): KeyedMac {
  const [key] = keys;
  return { mac: macWith(key, text), macKeyId: key.id };
}

/** HMACs of `text` with every key, newest first, to find what was stored or issued under an older key. */
export function macsOfText(keys: readonly SecretKey[], text: string): readonly string[] {
  return keys.map((key) => macWith(key, text));
}

/** Whether `row` is the HMAC of `text`; false for an unknown key id. Compares in constant time. */
export function isMacOf(
  keys: Keyring,
  text: string,
  row: { readonly mac: string | null; readonly macKeyId: string | null },
): boolean {
  const key = keys.find((each) => each.id === row.macKeyId);
  return key !== undefined && row.mac !== null && equalDigests(macWith(key, text), row.mac);
}

function macWith(key: SecretKey, text: string): string {
  return bytesToHex(hmac(sha256, key.secret, utf8ToBytes(text)));
}

function decode(encoded: string): Uint8Array | undefined {
  try {
    return base64.decode(encoded);
  } catch {
    return undefined;
  }
}
