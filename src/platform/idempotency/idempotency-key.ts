import { lengthPrefixed, sha256Hex } from "../../lib/bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { canonicalJson, type Json } from "../../lib/typed-json.ts";
import type { Failure } from "../failures.ts";

/** Interface 8: "any string up to 255 chars". */
const MAX_CODE_POINTS = 255;
/** What the Workers runtime, which reads header bytes as UTF-8, puts in place of bytes that are not. */
const REPLACEMENT_CHARACTER = "\ufffd";

/**
 * The caller's `Idempotency-Key`, opaque: 1 to 255 code points of the header read as UTF-8. Absent or empty is `undefined`: processed without
 * protection (decisions 6). Bytes that are not UTF-8 are refused: read as replacement characters, two keys of a client that sends Latin-1
 * would be one, and the second order would get the first one's invoice.
 */
export function parseIdempotencyKey(header: string | undefined): Result<string | undefined, Failure> {
  if (header === undefined || header === "") return ok(undefined);
  const isTooLong = [...header].length > MAX_CODE_POINTS;
  return isTooLong || header.includes(REPLACEMENT_CHARACTER) ? err({ code: "IDEMPOTENCY_KEY_INVALID" }) : ok(header);
}

/**
 * What a key was first used for: `v1:` and the SHA-256 of method, path and canonical JSON of the body before defaults, so that key order,
 * white space and number spelling do not matter. No body: `undefined`.
 */
export function fingerprint(request: { method: string; path: string; body: Json | undefined }): string {
  const body = request.body === undefined ? "" : canonicalJson(request.body);
  return `v1:${sha256Hex(`${request.method}\n${request.path}\n${body}`)}`;
}

/** How a key is stored. Public keys and pages have name spaces of their own, so that a browser cannot poison a server's key (decisions 6). */
export function keyHash(of: { merchantId: string; keySpace: "secret" | "public" | "page"; key: string }): string {
  return sha256Hex(lengthPrefixed([of.merchantId, of.keySpace, of.key]));
}
