// Refuses text that looks like a private key before anything parses, logs or stores it (decisions 3). The fields of a wallet only hold addresses,
// public keys and short names, so in them every form counts, even a damaged one. In free text (an invoice's name, description, metadata) 64
// hexadecimal digits may be a transaction hash and twelve words a sentence, so only unmistakable forms count, anywhere in the text: extended private
// keys and WIF keys with a valid checksum, recovery phrases with a valid checksum, and hexadecimal digits that are named as a key. The bytes of an
// image are not searched.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "../../lib/bytes.ts";
import type { Json } from "../../lib/typed-json.ts";
import { decodeBase58check, trimSpaces } from "../encodings/address-text.ts";
import { decodeSegwit } from "../encodings/segwit.ts";
import { ChecksumBudget } from "./checksum-budget.ts";
import { holdsRecoveryPhrase } from "./recovery-phrase.ts";

/** Which of the ambiguous shapes count as secrets. */
export interface SecretForms {
  /** Twelve or more words, as in a recovery phrase in any language. */
  readonly words: boolean;
  /** A run of 64 or more hexadecimal digits. */
  readonly hex: boolean;
  /** Cut or mistyped keys: `xprv...` of any length, 51 or 52 base58 characters that start like a WIF, mini keys, BIP38. */
  readonly fragments: boolean;
  /** The member of the body that contains an image: base64 data, or a URL, which is searched like any other text. */
  readonly image?: "data" | "image";
}

/** For every field of a wallet, unknown ones included. */
export const WALLET_FIELDS: SecretForms = { words: true, hex: true, fragments: true };
/** For every field of any other request. */
export const FREE_TEXT: SecretForms = { words: false, hex: false, fragments: false };

/** For an uploaded image, whose bytes are in `data`. */
export const IMAGE_UPLOAD: SecretForms = { ...FREE_TEXT, image: "data" };
/** For a product, whose `image` may be a data URL. */
export const PRODUCT_TEXT: SecretForms = { ...FREE_TEXT, image: "image" };

/** SLIP-132 prefixes of extended private keys, unless directly after a letter or digit. */
const EXTENDED_PRIVATE = /(?:^|[^0-9A-Za-z])(?:[xyztuv]prv|[LMt]tpv)/i;
const EXTENDED_PRIVATE_WHOLE = /(?:[xyztuvYZUV]prv|[LMt]tpv)[1-9A-HJ-NP-Za-km-z]{16}/;
/** Addresses and extended public keys, each a whole word. */
const WORD = /[0-9A-Za-z]{25,112}/g;
/** A run of base58 that is long enough for a key. It matches only from the run's first character, so that each character is examined once. */
const BASE58_RUN = /(?<![1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{51,}/g;
/**
 * The first characters of a key, anywhere in a run, even directly after other letters, and the key's length. A WIF key's first two characters follow
 * from the version byte, and show whether the key is uncompressed or compressed.
 */
const KEYS_INSIDE: readonly { readonly begins: RegExp; readonly length: number }[] = [
  { begins: /(?=5[HJK]|6[uvw]|9[123])/g, length: 51 },
  { begins: /(?=K[w-z]|L[1-5]|T[3-9AB]|c[M-NP-W])/g, length: 52 },
  { begins: /(?=[xyztuvYZUV]pub|[LMt]tub)/g, length: 111 },
];
/** The possible lengths of an extended key, in characters, for any version bytes. */
const EXTENDED_LENGTHS = { least: 107, most: 112 } as const;
/** 32 or 64 bytes that the text itself calls a key or a seed. */
const NAMED_HEX =
  /(?:(?:priv(?:ate)?|secret|wallet|spend(?:ing)?|signing)[\s_-]{0,3}key|\bpriv|\bseed)[^\p{L}\p{N}]{0,8}(?:(?:is|was|hex)[^\p{L}\p{N}]{1,8})?(?:0x)?(?:[0-9a-f]{64}){1,2}(?![0-9a-f])/iu;
const WIF_LIKE = /(?:^|[^0-9A-Za-z])(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KLcT69][1-9A-HJ-NP-Za-km-z]{50,51})(?![0-9A-Za-z])/;
/** BIP38: an encrypted key, 58 characters that start with 6P. */
const BIP38 = /(?:^|[^0-9A-Za-z])6P[1-9A-HJ-NP-Za-km-z]{56}(?![0-9A-Za-z])/;
/** Mini keys of printed coins: S and 21, 25 or 29 more characters. */
const MINI_KEY = /^S(?:[1-9A-HJ-NP-Za-km-z]{21}|[1-9A-HJ-NP-Za-km-z]{25}|[1-9A-HJ-NP-Za-km-z]{29})$/;
const HEX_KEY = /[0-9a-fA-F]{64}/;
/** Version bytes of WIF: Bitcoin, Litecoin, and the test networks of both. */
const WIF_VERSIONS: readonly number[] = [0x80, 0xb0, 0xef];
const FEWEST_WORDS = 12;

/**
 * Whether a string is or contains private key material, or needs more checksums than the budget has left. Apart from the checksums, the time is
 * linear in the length of the text.
 */
export function looksLikeSecret(
  text: string,
  forms: SecretForms = WALLET_FIELDS,
  budget = new ChecksumBudget(),
): boolean {
  if (holdsExtendedPrivate(text, budget) || holdsWholeKey(text, budget)) return true;
  if (NAMED_HEX.test(text) || holdsRecoveryPhrase(text, budget)) return true;
  if (forms.fragments && isFragment(text)) return true;
  if (forms.hex && HEX_KEY.test(text)) return true;
  return forms.words && wordCount(text) >= FEWEST_WORDS;
}

/**
 * Searches every text in a parsed body, including member names, and each value together with its name. All texts share one budget. Once it is used up
 * the result is true, because nothing is stored unsearched. Does not recurse: a body may be nested deeper than the stack.
 */
export function containsSecret(
  value: Json,
  forms: SecretForms = WALLET_FIELDS,
  budget = new ChecksumBudget(),
): boolean {
  const isSecretMember = (name: string, of: Json) =>
    looksLikeSecret(name, forms, budget) || (typeof of === "string" && NAMED_HEX.test(`${name}: ${of}`));
  const waiting: Json[] = [forms.image === undefined ? value : withoutImage(value, forms.image)];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string" && looksLikeSecret(next, forms, budget)) return true;
    if (next === null || typeof next !== "object") continue;
    if (!Array.isArray(next) && Object.entries(next).some(([name, of]) => isSecretMember(name, of))) return true;
    for (const member of Object.values(next)) waiting.push(member);
  }
  return false;
}

/** The body without the bytes of its image. */
function withoutImage(body: Json, member: "data" | "image"): Json {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const isBytes = (value: Json) => typeof value === "string" && (member === "data" || /^data:/i.test(value));
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => name !== member || !isBytes(value)));
}

/** Whether the text contains a whole key, even directly next to other letters or digits. */
function holdsWholeKey(text: string, budget: ChecksumBudget): boolean {
  for (const [run] of text.matchAll(BASE58_RUN)) {
    for (const candidate of candidatesIn(run)) if (!budget.pays(candidate) || isPrivatePayload(candidate)) return true;
  }
  return false;
}

function* candidatesIn(run: string): Generator<string> {
  if (run.length >= EXTENDED_LENGTHS.least && run.length <= EXTENDED_LENGTHS.most) yield run;
  for (const { begins, length } of KEYS_INSIDE) {
    for (const { index } of run.matchAll(begins)) {
      if (index + length > run.length) break;
      yield run.slice(index, index + length);
    }
  }
}

/**
 * Base58check of 33 or 34 bytes under a WIF version (one byte, the key, 0x01 when compressed), or of 78 bytes whose 46th is 0x00: BIP32 puts that
 * before a private key, while a public one starts with 0x02 or 0x03, whatever the version bytes claim.
 */
function isPrivatePayload(run: string): boolean {
  const payload = decodeBase58check(run);
  if (payload === undefined) return false;
  if (payload.length === 78) return payload[45] === 0x00;
  const isWifLength = payload.length === 33 || (payload.length === 34 && payload[33] === 0x01);
  return isWifLength && WIF_VERSIONS.includes(payload[0] ?? -1);
}

/** About one in 5,000 addresses and extended public keys contains a private key's prefix by chance, so valid ones are removed first. */
function holdsExtendedPrivate(text: string, budget: ChecksumBudget): boolean {
  if (!EXTENDED_PRIVATE_WHOLE.test(text)) return false;
  const isRemoved = (word: string) => EXTENDED_PRIVATE_WHOLE.test(word) && budget.pays(word) && isPublic(word);
  return EXTENDED_PRIVATE_WHOLE.test(text.replaceAll(WORD, (word) => (isRemoved(word) ? "" : word)));
}

/** An address or an extended public key with a valid checksum. */
function isPublic(word: string): boolean {
  const payload = decodeBase58check(word);
  if (payload?.length === 78) return payload[45] === 0x02 || payload[45] === 0x03;
  return payload?.length === 21 || decodeSegwit(word).ok;
}

function isFragment(text: string): boolean {
  if (WIF_LIKE.test(text) || BIP38.test(text) || isMiniKey(trimSpaces(text))) return true;
  // A TRON or Litecoin address may happen to start with these letters; its checksum distinguishes it from a truncated key.
  return EXTENDED_PRIVATE.test(text) && decodeBase58check(trimSpaces(text))?.length !== 21;
}

/** Whether the SHA-256 of the mini key and a question mark starts with a zero byte. */
function isMiniKey(text: string): boolean {
  return MINI_KEY.test(text) && sha256(utf8ToBytes(`${text}?`))[0] === 0;
}

/** Counts words of at least two letters, whatever separates them: phrases are copied with commas, numbers, line breaks and ideographic spaces. */
function wordCount(text: string): number {
  return text.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => /^[\p{L}\p{M}]{2,}$/u.test(word)).length;
}
