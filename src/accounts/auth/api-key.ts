// API keys: `sk_` or `pk_`, 32 random base62 characters, and 6 characters of CRC32 over all before them. With the checksum a mistyped or truncated
// key is refused without a storage read. Only the SHA-256 of a key is stored.
import { sha256Hex } from "../../lib/bytes.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 32;
const CHECK_LENGTH = 6;
const SHAPE = /^(sk|pk)_[0-9A-Za-z]{38}$/;
/** The largest multiple of 62 in a byte. Random bytes from here on are discarded, so that every character is equally likely. */
const FAIR_BYTES = 248;

export type KeyKind = "SECRET" | "PUBLIC";

export interface NewApiKey {
  /** Shown once, never stored. */
  readonly secret: string;
  readonly hash: string;
  /** The short form for display: `sk_jtkJ...9Zq2`. */
  readonly display: string;
}

/** Makes a key from a source of random bytes (`crypto.getRandomValues` of a fresh array). */
export function newApiKey(kind: KeyKind, randomBytes: (count: number) => Uint8Array): NewApiKey {
  const prefix = kind === "SECRET" ? "sk_" : "pk_";
  let random = "";
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      if (byte < FAIR_BYTES && random.length < RANDOM_LENGTH) random += ALPHABET.charAt(byte % 62);
    }
  }
  const body = `${prefix}${random}`;
  const secret = `${body}${checksum(body)}`;
  return { secret, hash: hashApiKey(secret), display: `${secret.slice(0, 7)}...${secret.slice(-4)}` };
}

/** The kind of a well-formed key; undefined if its form or checksum is wrong. */
export function apiKeyKind(text: string): KeyKind | undefined {
  if (!SHAPE.test(text)) return undefined;
  const body = text.slice(0, -CHECK_LENGTH);
  if (checksum(body) !== text.slice(-CHECK_LENGTH)) return undefined;
  return text.startsWith("sk_") ? "SECRET" : "PUBLIC";
}

export function hashApiKey(secret: string): string {
  return sha256Hex(secret);
}

/** CRC32 (IEEE 802.3, reflected) of ASCII text as six base62 characters, most significant first. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  let rest = ~crc >>> 0;
  let digits = "";
  for (let i = 0; i < CHECK_LENGTH; i++) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
