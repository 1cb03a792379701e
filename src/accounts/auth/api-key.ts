// API keys: `sk_`, `pk_` or `ak_`, 32 random base62 characters, and 6 characters of a MAC over kind, random part and merchant. With the MAC the
// Worker can distinguish a key that it made from an invented one without a storage read. The MAC grants nothing: every key is authenticated from
// storage, where only its SHA-256 is kept.
import { equalDigests, lengthPrefixed, sha256Hex } from "../../lib/bytes.ts";
import { type Keyring, macsOfText, macText, type SecretKey } from "../../lib/keyring.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 32;
const MAC_LENGTH = 6;
const SHAPE = /^(sk|pk|ak)_[0-9A-Za-z]{38}$/;
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

/** The kind and merchant of a new key, and the inputs for making it. */
export interface KeyMaking {
  readonly kind: KeyKind;
  /** Whether a secret key works only through the routes of BTCPay Server's API (`isOfApplication`). */
  readonly isForApplication?: boolean | undefined;
  readonly merchantId: string;
  /** API_KEY_MAC_KEY, newest first. */
  readonly macKeys: Keyring;
  /** A source of random bytes (`crypto.getRandomValues` on a new array). */
  readonly randomBytes: (count: number) => Uint8Array;
}

export function newApiKey({ kind, isForApplication = false, merchantId, macKeys, randomBytes }: KeyMaking): NewApiKey {
  const prefix = prefixOf(kind, isForApplication);
  let random = "";
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      if (byte < FAIR_BYTES && random.length < RANDOM_LENGTH) random += ALPHABET.charAt(byte % 62);
    }
  }
  const body = `${prefix}${random}`;
  const secret = body + macPart(macText(macKeys, macSubject(body, merchantId)).mac);
  return { secret, hash: hashApiKey(secret), display: `${secret.slice(0, 7)}...${secret.slice(-4)}` };
}

function prefixOf(kind: KeyKind, isForApplication: boolean): string {
  if (kind === "PUBLIC") return "pk_";
  return isForApplication ? "ak_" : "sk_";
}

/** The kind of a key by its form; undefined if the form is wrong. */
export function apiKeyKind(text: string): KeyKind | undefined {
  if (!SHAPE.test(text)) return undefined;
  return text.startsWith("pk_") ? "PUBLIC" : "SECRET";
}

/**
 * Whether a user gave the key to an application (accounts/applications/). Such a key works only through the routes of BTCPay Server's API. Our own
 * routes refuse it, because they show more for the same permission (an extended key, every event).
 */
export function isOfApplication(text: string): boolean {
  return text.startsWith("ak_");
}

/**
 * What can be known from a key alone, before any storage read. MALFORMED: not a key of ours. GENUINE: made for this merchant by a holder of one of
 * `macKeys`. UNPROVED: well-formed, but invented, for another merchant, or made under a secret that is no longer configured. Even a GENUINE or
 * UNPROVED key may have been revoked since.
 */
type ApiKeyStanding = "MALFORMED" | "GENUINE" | "UNPROVED";

/** Compares in constant time. Without `macKeys` every well-formed key is UNPROVED. */
export function apiKeyStanding(of: {
  readonly macKeys: readonly SecretKey[];
  readonly apiKey: string;
  /** The merchant named in the path. */
  readonly merchantId: string;
}): ApiKeyStanding {
  const { apiKey } = of;
  if (apiKeyKind(apiKey) === undefined) return "MALFORMED";
  const macs = macsOfText(of.macKeys, macSubject(apiKey.slice(0, -MAC_LENGTH), of.merchantId));
  const isGenuine = macs.some((mac) => equalDigests(macPart(mac), apiKey.slice(-MAC_LENGTH)));
  return isGenuine ? "GENUINE" : "UNPROVED";
}

export function hashApiKey(secret: string): string {
  return sha256Hex(secret);
}

/** When an unused key stops working; null if it has been used, or if it may stay unused. */
export function unusedEnd(key: {
  readonly lastUsedAtMs: number | null;
  readonly unusedUntilMs: number | null;
}): number | null {
  return key.lastUsedAtMs === null ? key.unusedUntilMs : null;
}

/** `body`: the key without its MAC; its prefix is the kind. */
function macSubject(body: string, merchantId: string): string {
  return lengthPrefixed(["api-key", body, merchantId]);
}

/** The first 35 bits of a MAC in hex as six base62 characters, most significant first: 62^6 is between 2^35 and 2^36. */
function macPart(mac: string): string {
  let rest = Math.floor(Number.parseInt(mac.slice(0, 9), 16) / 2);
  let characters = "";
  for (let i = 0; i < MAC_LENGTH; i++) {
    characters = ALPHABET.charAt(rest % 62) + characters;
    rest = Math.floor(rest / 62);
  }
  return characters;
}
