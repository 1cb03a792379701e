// What looks like a private key is refused before anything parses, logs or stores it (decisions 3, chains.md 5). Two forms: in the fields of
// a wallet nothing but addresses, public keys and short names belongs, so there every shape counts, damaged ones too; in free text
// (an invoice's name, description, metadata) sixty-four hexadecimal digits may be a transaction's hash and twelve words a sentence, so
// there only what is unmistakable counts: extended private keys, and keys in wallet import format with their checksum intact.
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeBase58check, trimSpaces } from "../chains/address-text.ts";
import { utf8ToBytes } from "../lib/bytes.ts";
import type { Json } from "../lib/canonical-json.ts";

/** Which of the ambiguous shapes count as secrets. */
export interface SecretForms {
  /** Twelve or more words, as of a recovery phrase in any language. */
  readonly words: boolean;
  /** A run of 64 or more hexadecimal digits. */
  readonly hex: boolean;
  /** Cut or mistyped keys: `xprv...` of any length, 51 or 52 base58 characters that start like a WIF, mini keys, BIP38. */
  readonly fragments: boolean;
}

/** For every field of a wallet, unknown ones included. */
export const WALLET_FIELDS: SecretForms = { words: true, hex: true, fragments: true };
/** For every field of anything else. */
export const FREE_TEXT: SecretForms = { words: false, hex: false, fragments: false };

/** SLIP-132 prefixes of extended private keys, not inside a longer base58 text. */
const EXTENDED_PRIVATE = /(?:^|[^0-9A-Za-z])(?:[xyztuv]prv|[LMt]tpv)/i;
const EXTENDED_PRIVATE_WHOLE = /(?:^|[^0-9A-Za-z])(?:[xyztuvYZUV]prv|[LMt]tpv)[1-9A-HJ-NP-Za-km-z]{16}/;
/** WIF is 51 characters (uncompressed) or 52, an extended key 107 to 112. */
const BASE58_RUN = /[1-9A-HJ-NP-Za-km-z]{51,112}/g;
const WIF_LIKE = /(?:^|[^0-9A-Za-z])(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KLcT69][1-9A-HJ-NP-Za-km-z]{50,51})(?![0-9A-Za-z])/;
/** BIP38: an encrypted key, 58 characters that start with 6P. */
const BIP38 = /(?:^|[^0-9A-Za-z])6P[1-9A-HJ-NP-Za-km-z]{56}(?![0-9A-Za-z])/;
/** Mini keys of printed coins: S and 21, 25 or 29 more characters. */
const MINI_KEY = /^S(?:[1-9A-HJ-NP-Za-km-z]{21}|[1-9A-HJ-NP-Za-km-z]{25}|[1-9A-HJ-NP-Za-km-z]{29})$/;
const HEX_KEY = /[0-9a-fA-F]{64}/;
/** Version bytes of WIF: Bitcoin, Litecoin, and the test networks of both. */
const WIF_VERSIONS: readonly number[] = [0x80, 0xb0, 0xef];
const FEWEST_WORDS = 12;

/** Whether a text is, or holds, private key material. Linear in the length of the text. */
export function looksLikeSecret(text: string, forms: SecretForms = WALLET_FIELDS): boolean {
  if (EXTENDED_PRIVATE_WHOLE.test(text)) return true;
  if (text.match(BASE58_RUN)?.some(isPrivatePayload)) return true;
  if (forms.fragments && isFragment(text)) return true;
  if (forms.hex && HEX_KEY.test(text)) return true;
  return forms.words && wordCount(text) >= FEWEST_WORDS;
}

/** Looks through every text of a parsed body, names of members included. Does not recurse: a body may nest deeper than the stack. */
export function containsSecret(value: Json, forms: SecretForms = WALLET_FIELDS): boolean {
  const waiting: Json[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string" && looksLikeSecret(next, forms)) return true;
    if (next === null || typeof next !== "object") continue;
    if (!Array.isArray(next) && Object.keys(next).some((name) => looksLikeSecret(name, forms))) return true;
    for (const member of Object.values(next)) waiting.push(member);
  }
  return false;
}

/**
 * Base58check of 33 or 34 bytes under a WIF version (one byte, the key, 0x01 when compressed), or of 78 bytes whose 45th is 0x00: BIP32
 * puts that before a private key, while a public one starts with 0x02 or 0x03, whatever the version bytes in front claim.
 */
function isPrivatePayload(run: string): boolean {
  const payload = decodeBase58check(run);
  if (payload === undefined) return false;
  if (payload.length === 78) return payload[45] === 0x00;
  const isWifLength = payload.length === 33 || (payload.length === 34 && payload[33] === 0x01);
  return isWifLength && WIF_VERSIONS.includes(payload[0] ?? -1);
}

function isFragment(text: string): boolean {
  if (WIF_LIKE.test(text) || BIP38.test(text) || isMiniKey(trimSpaces(text))) return true;
  // A TRON or Litecoin address may happen to start with these letters; its checksum tells it from a key that was cut short.
  return EXTENDED_PRIVATE.test(text) && decodeBase58check(trimSpaces(text))?.length !== 21;
}

/** A mini key is one whose SHA-256, with a question mark behind it, starts with a zero byte. */
function isMiniKey(text: string): boolean {
  return MINI_KEY.test(text) && sha256(utf8ToBytes(`${text}?`))[0] === 0;
}

/** Words of letters only, by whatever separates them: phrases are copied with commas, numbers, line breaks and ideographic spaces between. */
function wordCount(text: string): number {
  return text.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => /^[\p{L}\p{M}]{2,}$/u.test(word)).length;
}
