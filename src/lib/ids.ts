// Every id is a prefix and a ULID in Crockford base32: 10 characters of time, so that ids sort by creation, 2 for the number of the database that
// holds the row (architecture.md "Room to grow"), and 14 of randomness. Ids of one operation share time and database and derive the rest from the
// operation id, so that a retry makes the same rows.
// Only this file turns text into branded ids, so it is the only one in src with `as`, apart from `as const`.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "./bytes.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_LENGTH = 10;
/** Time and database. */
const HEAD_LENGTH = 12;
const RANDOM_LENGTH = 14;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const HEAD = /^[0-7][0-9A-HJKMNP-TV-Z]{11}/;
/** The number of the only database, as it appears in ids. */
const DATABASE = "00";

/** The prefixes of ids; in the API the prefix shows the type of an id. */
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
  | "rfd"
  | "req";

type Id<P extends IdPrefix> = `${P}_${string}`;
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
export type RestoreFindingId = Id<"rfd">;
export type RequestId = Id<"req">;

/** A plain ULID, not the monotonic variant: two ULIDs from the same millisecond are independent. */
export function newUlid(nowMs: number, randomBytes: Uint8Array): string {
  if (randomBytes.length < RANDOM_LENGTH)
    throw new Error(`a ULID needs ${RANDOM_LENGTH} random bytes, got ${randomBytes.length}`);
  return ulidTime(nowMs) + DATABASE + base32(randomBytes);
}

export function newOperationId(): string {
  return newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH)));
}

/** The time part of every ULID made at `nowMs`. As a bound, it sorts before all of them. */
export function ulidTime(nowMs: number): string {
  let rest = nowMs;
  let text = "";
  for (let i = 0; i < TIME_LENGTH; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Time and database of ids that are created at `nowMs` in the same database as the row of `id`. */
export function ulidHead(nowMs: number, id: Id<IdPrefix>): string {
  return ulidTime(nowMs) + id.slice(-(RANDOM_LENGTH + DATABASE.length), -RANDOM_LENGTH);
}

export function makeId<P extends IdPrefix>(prefix: P, ulid: string): Id<P> {
  return `${prefix}_${ulid}` as Id<P>;
}

/**
 * The `n`-th id of this prefix in an operation. Deterministic; reveals no other id of the operation. `operationId` begins with the time and the
 * database of the ids; what follows may be any text.
 */
export function derivedId<P extends IdPrefix>(prefix: P, operationId: string, n = 0): Id<P> {
  if (!HEAD.test(operationId)) throw new Error(`no time and database at the start of ${operationId}`);
  const digest = sha256(utf8ToBytes(`${operationId}|${prefix}|${n}`));
  return makeId(prefix, operationId.slice(0, HEAD_LENGTH) + base32(digest));
}

/** Parses an id from a request; undefined if it is malformed (which gives 404, as for an unknown id). */
export function parseId<P extends IdPrefix>(prefix: P, text: string): Id<P> | undefined {
  return text.startsWith(`${prefix}_`) && ULID.test(text.slice(prefix.length + 1)) ? (text as Id<P>) : undefined;
}

/** One character per byte, from its lowest 5 bits. */
function base32(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes.subarray(0, RANDOM_LENGTH)) text += ALPHABET.charAt(byte & 31);
  return text;
}
