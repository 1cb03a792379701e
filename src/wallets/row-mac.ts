// The HMAC on every wallet and payment method (security.md 4): whoever can write to the database but not read the Worker's secret cannot
// swap a payout address unseen. It is made when a row is made, and verified before an address is shown or used. Synchronous on purpose.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { base64 } from "@scure/base";
import { bytesToHex, equalDigests, lengthPrefixed, utf8ToBytes } from "../lib/bytes.ts";
import { err, ok, type Result } from "../lib/result.ts";

export interface MacKey {
  readonly id: string;
  readonly secret: Uint8Array;
}

/** Newest first: the first signs, all verify, so that a key can be rotated while old rows still stand. */
export type MacKeys = readonly [MacKey, ...MacKey[]];

/** What the HMAC binds together; `target` is the address or the extended key, `row` the id the row belongs to. */
export interface MacSubject {
  readonly kind: "wallet" | "method";
  readonly row: string;
  readonly merchantId: string;
  readonly network: string;
  readonly cryptocurrency: string;
  readonly target: string;
}

export interface RowMac {
  readonly mac: string;
  readonly macKeyId: string;
}

const MIN_SECRET_BYTES = 32;

/** Parses `ROW_MAC_KEY`: `<id>:<base64 of at least 32 bytes>`, comma-separated while rotating, newest first. */
export function parseMacKeys(text: string | undefined): Result<MacKeys, string> {
  const keys: MacKey[] = [];
  for (const part of (text ?? "").split(",")) {
    const [, id, encoded] = /^\s*([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/=]+)\s*$/.exec(part) ?? [];
    const secret = encoded === undefined ? undefined : decode(encoded);
    if (id === undefined || secret === undefined || secret.length < MIN_SECRET_BYTES) {
      return err(`ROW_MAC_KEY must be <key id>:<base64 of at least ${MIN_SECRET_BYTES} bytes>`);
    }
    keys.push({ id, secret });
  }
  const [first, ...rest] = keys;
  return first === undefined ? err("ROW_MAC_KEY is empty") : ok([first, ...rest]);
}

export function signRow(keys: MacKeys, subject: MacSubject): RowMac {
  const [key] = keys;
  return { mac: macOf(key, subject), macKeyId: key.id };
}

/** Whether the row is as Edgetill wrote it; a missing HMAC, an unknown key id or another row's HMAC is not. */
export function isRowIntact(
  keys: MacKeys,
  subject: MacSubject,
  row: { mac: string | null; macKeyId: string | null },
): boolean {
  const key = keys.find((each) => each.id === row.macKeyId);
  return key !== undefined && row.mac !== null && equalDigests(macOf(key, subject), row.mac);
}

function macOf(key: MacKey, of: MacSubject): string {
  const text = lengthPrefixed(["v1", of.kind, of.row, of.merchantId, of.network, of.cryptocurrency, of.target]);
  return bytesToHex(hmac(sha256, key.secret, utf8ToBytes(text)));
}

function decode(encoded: string): Uint8Array | undefined {
  try {
    return base64.decode(encoded);
  } catch {
    return undefined;
  }
}
