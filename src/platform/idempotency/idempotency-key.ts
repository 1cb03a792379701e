import { lengthPrefixed, sha256Hex } from "../../lib/bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { canonicalJson, type Json } from "../../lib/typed-json.ts";
import type { Failure } from "../failures.ts";

/** Interface 8: "any string up to 255 chars". */
const MAX_CODE_POINTS = 255;
/** The Workers runtime reads header bytes as UTF-8 and replaces invalid bytes with this character. */
const REPLACEMENT_CHARACTER = "\ufffd";

/**
 * Parses the `Idempotency-Key` header: 1 to 255 code points of UTF-8, opaque. Undefined if it is absent or empty: the request runs without
 * protection (decisions 6). Refuses bytes that are not UTF-8: as replacement characters, two different keys of a client that sends Latin-1
 * would be equal, and its second order would get the invoice of its first.
 */
export function parseIdempotencyKey(header: string | undefined): Result<string | undefined, Failure> {
  if (header === undefined || header === "") return ok(undefined);
  const isTooLong = [...header].length > MAX_CODE_POINTS;
  return isTooLong || header.includes(REPLACEMENT_CHARACTER) ? err({ code: "IDEMPOTENCY_KEY_INVALID" }) : ok(header);
}

/**
 * Identifies the request for which a key was first used: `v1:` and the SHA-256 of method, path and body. The body is canonical JSON before
 * defaults, so that key order, white space and number spelling do not matter; undefined without a body.
 */
export function fingerprint(request: { method: string; path: string; body: Json | undefined }): string {
  const body = request.body === undefined ? "" : canonicalJson(request.body);
  return `v1:${sha256Hex(`${request.method}\n${request.path}\n${body}`)}`;
}

/** The stored form of a key. Public keys and pages have separate key spaces, so that a browser cannot use up a server's key (decisions 6). */
export function keyHash(of: { merchantId: string; keySpace: "secret" | "public" | "page"; key: string }): string {
  return sha256Hex(lengthPrefixed([of.merchantId, of.keySpace, of.key]));
}
