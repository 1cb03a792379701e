// Every id is a prefix and a ULID: 10 characters of time, 16 of randomness, Crockford base32, so ids sort by creation. Ids of one
// operation share the time and derive the rest from the operation id, so that a retry makes the very same rows.
// The one place in src where a text becomes a branded id, hence the one place with `as`.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "./bytes.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** What an id may be about; the prefix is the type on the wire. */
export type IdPrefix =
  | "mer"
  | "inv"
  | "cus"
  | "prd"
  | "pay"
  | "itl"
  | "wal"
  | "key"
  | "usr"
  | "mem"
  | "tin"
  | "whk"
  | "whs"
  | "evt"
  | "dlv"
  | "aud"
  | "ses"
  | "pky"
  | "clm"
  | "req";

export type Id<P extends IdPrefix> = `${P}_${string}`;
export type MerchantId = Id<"mer">;
export type InvoiceId = Id<"inv">;
export type CustomerId = Id<"cus">;
export type ProductId = Id<"prd">;
export type PaymentId = Id<"pay">;
export type TimelineItemId = Id<"itl">;
export type WalletId = Id<"wal">;
export type ApiKeyId = Id<"key">;
export type EventId = Id<"evt">;
export type WebhookId = Id<"whk">;
export type WebhookSecretId = Id<"whs">;
export type DeliveryId = Id<"dlv">;
export type UserId = Id<"usr">;
export type SessionId = Id<"ses">;
export type PasskeyId = Id<"pky">;
export type MemberId = Id<"mem">;
export type InvitationId = Id<"tin">;
export type ClaimId = Id<"clm">;
export type AuditId = Id<"aud">;
export type RequestId = Id<"req">;

/** A plain ULID (never the monotonic variant: two in one millisecond are independent). */
export function newUlid(nowMs: number, randomBytes: Uint8Array): string {
  if (randomBytes.length < RANDOM_LENGTH)
    throw new Error(`a ULID needs ${RANDOM_LENGTH} random bytes, got ${randomBytes.length}`);
  return ulidTime(nowMs) + base32(randomBytes);
}

/** The id of a new operation. */
export function newOperationId(): string {
  return newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH)));
}

/** The time part of every ULID made at `nowMs`; as a bound it sorts before all of them. */
export function ulidTime(nowMs: number): string {
  let rest = nowMs;
  let text = "";
  for (let i = 0; i < TIME_LENGTH; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

export function makeId<P extends IdPrefix>(prefix: P, ulid: string): Id<P> {
  return `${prefix}_${ulid}` as Id<P>;
}

/** The `n`-th id of its kind inside one operation; deterministic, and it reveals no other id of the operation. */
export function derivedId<P extends IdPrefix>(prefix: P, operationId: string, n = 0): Id<P> {
  const digest = sha256(utf8ToBytes(`${operationId}|${prefix}|${n}`));
  return makeId(prefix, operationId.slice(0, TIME_LENGTH) + base32(digest));
}

/** Parses an id at the door; undefined when the text is not one (a malformed id answers 404 like an unknown one). */
export function parseId<P extends IdPrefix>(prefix: P, text: string): Id<P> | undefined {
  return text.startsWith(`${prefix}_`) && ULID.test(text.slice(prefix.length + 1)) ? (text as Id<P>) : undefined;
}

/** 16 characters of 5 bits each, one from each byte. */
function base32(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes.subarray(0, RANDOM_LENGTH)) text += ALPHABET.charAt(byte & 31);
  return text;
}
