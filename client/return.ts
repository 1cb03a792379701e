// Verifies that the address a customer came back to was signed by Edgetill after payment: Ed25519, with only Web Crypto.
import { EdgetillConnectionError } from "./errors.ts";

/** Why a return is refused; the values are stable. */
export type ReturnRefusal =
  | "PARAMETERS_MISSING"
  | "PARAMETERS_MALFORMED"
  | "TIMESTAMP_TOO_OLD"
  | "TIMESTAMP_TOO_NEW"
  | "KEY_UNKNOWN"
  | "SIGNATURE_MISMATCH";

/** The return is refused; `reason` says why. */
export class ReturnVerificationError extends Error {
  override readonly name = "ReturnVerificationError";
  /** A stable code. */
  readonly reason: ReturnRefusal;

  constructor(reason: ReturnRefusal) {
    super(`the return is refused: ${reason}`);
    this.reason = reason;
  }
}

/** The part of `/.well-known/edgetill-keys.json` that is needed here. */
export interface ReturnKeys {
  readonly keys: readonly { readonly kid: string; readonly x: string }[];
}

/** A return to verify, with `keys` or `baseUrl`. */
export interface ReturnRequest {
  /** The URL at which the customer arrived; a path with its query is enough, such as node's `request.url`. */
  readonly url: string | URL;
  /** The service's public keys; if absent they are fetched from `baseUrl` each time they are needed. */
  readonly keys?: ReturnKeys | undefined;
  /** The service's URL: `https://pay.example.com`. */
  readonly baseUrl?: string | undefined;
  /** How old a return may be, and how far the service's clock may be ahead of yours; 300 by default. */
  readonly maxAgeSeconds?: number | undefined;
  /** The current time, for tests. */
  readonly nowMs?: number | undefined;
  /** A `fetch` to use instead of the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
}

/** The verified statement about the invoice. */
export interface VerifiedReturn {
  /** Compare it with the invoice of the order that you show: a genuine return may belong to another order. */
  readonly invoiceId: string;
  readonly status: "PAID" | "OVERPAID";
  /** When it was signed. */
  readonly timestamp: Date;
}

const FETCH_LIMIT_MS = 10_000;

/**
 * Verifies a return, and returns what the service signed about the customer's invoice. Anyone who has the URL can use it for `maxAgeSeconds`, so use
 * it only to thank the customer, and deliver when the webhook arrives. Throws a ReturnVerificationError for a return that fails verification, an
 * EdgetillConnectionError if the keys cannot be fetched, and a TypeError if neither keys nor `baseUrl` are given.
 */
export async function verifyReturn(request: ReturnRequest): Promise<VerifiedReturn> {
  const { keys, baseUrl, maxAgeSeconds = 300, nowMs = Date.now() } = request;
  if (keys === undefined && baseUrl === undefined) throw new TypeError("verifyReturn needs keys or a baseUrl");
  const said = membersOf(request.url);
  const { invoiceId, status, timestamp } = said;
  const age = nowMs - timestamp.getTime();
  if (age > maxAgeSeconds * 1_000) throw new ReturnVerificationError("TIMESTAMP_TOO_OLD");
  if (age < -maxAgeSeconds * 1_000) throw new ReturnVerificationError("TIMESTAMP_TOO_NEW");
  const known = keys ?? (await fetchKeys(baseUrl ?? "", request.fetch));
  const key = known.keys.find(({ kid }) => kid === said.keyId);
  if (key === undefined) throw new ReturnVerificationError("KEY_UNKNOWN");
  if (!(await isSigned(said, key.x))) throw new ReturnVerificationError("SIGNATURE_MISMATCH");
  return { invoiceId, status, timestamp };
}

interface SignedReturn extends VerifiedReturn {
  readonly keyId: string;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** A repeated parameter is refused: this code would read one of them, and the page might read the other. */
function membersOf(given: string | URL): SignedReturn {
  const url = String(given);
  if (!URL.canParse(url, "http://localhost")) throw new ReturnVerificationError("PARAMETERS_MALFORMED");
  const { searchParams } = new URL(url, "http://localhost");
  const [invoiceId, status, time, keyId, signed] = ["invoiceId", "status", "timestamp", "keyId", "signature"].map(
    (name) => {
      const [value = "", ...more] = searchParams.getAll(name);
      if (more.length > 0) throw new ReturnVerificationError("PARAMETERS_MALFORMED");
      return value;
    },
  );
  if (!invoiceId || !status || !time || !keyId || !signed) throw new ReturnVerificationError("PARAMETERS_MISSING");
  const timestamp = new Date(time);
  const signature = base64urlBytes(signed, 64);
  const isTime = !Number.isNaN(timestamp.getTime()) && timestamp.toISOString() === time;
  const isStatus = status === "PAID" || status === "OVERPAID";
  if (!/^\w+$/.test(invoiceId) || !isStatus || !isTime || signature === undefined)
    throw new ReturnVerificationError("PARAMETERS_MALFORMED");
  return { invoiceId, status, timestamp, keyId, signature };
}

async function isSigned(said: SignedReturn, x: string): Promise<boolean> {
  const bytes = base64urlBytes(x, 32);
  if (bytes === undefined) throw new TypeError("a key of returns is 32 bytes in base64url");
  const lines = ["edgetill-return-v1", said.invoiceId, said.status, said.timestamp.toISOString()];
  const key = await crypto.subtle.importKey("raw", bytes, "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", key, said.signature, new TextEncoder().encode(lines.join("\n")));
}

async function fetchKeys(baseUrl: string, fetcher: typeof fetch | undefined): Promise<ReturnKeys> {
  const path = "/.well-known/edgetill-keys.json";
  const url = `${new URL(baseUrl).href.replace(/\/+$/, "")}${path}`;
  const call = { route: `GET ${path}`, attempts: 1, idempotencyKey: undefined };
  let answer: unknown;
  try {
    // Wrapped, because Workers refuse to call `fetch` as a method of another object.
    const response = await (fetcher ?? ((input, init) => fetch(input, init)))(url, {
      signal: AbortSignal.timeout(FETCH_LIMIT_MS),
    });
    answer = await response.json();
  } catch (error) {
    throw new EdgetillConnectionError(call, "the public keys could not be fetched", error);
  }
  // A refused request returns no keys, so it fails here too.
  if (!isKeys(answer)) throw new EdgetillConnectionError(call, "the answer holds no public keys", undefined);
  return answer;
}

function isKeys(value: unknown): value is ReturnKeys {
  const isKey = (each: unknown) =>
    typeof each === "object" && each !== null && "kid" in each && "x" in each && typeof each.x === "string";
  if (typeof value !== "object" || value === null || !("keys" in value) || !Array.isArray(value.keys)) return false;
  return value.keys.every(isKey);
}

/** The decoded bytes; undefined unless the text is the canonical encoding of exactly this many bytes. */
function base64urlBytes(text: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const again = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    if (again !== text || binary.length !== length) return undefined;
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
