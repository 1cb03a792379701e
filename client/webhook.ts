// Verifies that a request to your webhook endpoint is from Edgetill, by Standard Webhooks 1.0 and with only Web Crypto.
import type { WebhookEvent } from "./events.ts";

/** Why a request is refused; the values are stable. */
export type WebhookRefusal =
  | "HEADERS_MISSING"
  | "TIMESTAMP_MALFORMED"
  | "TIMESTAMP_TOO_OLD"
  | "TIMESTAMP_TOO_NEW"
  | "SIGNATURE_MISMATCH"
  | "PAYLOAD_MALFORMED";

/** The request is refused; `reason` says why. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  /** A stable code. */
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal) {
    super(`the webhook is refused: ${reason}`);
    this.reason = reason;
  }
}

/** `Headers`, a Map, pairs, or an object such as node's `request.headers`; names are not case-sensitive. */
export type WebhookHeaders =
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request to verify, as received. */
export interface WebhookRequest {
  /** The body exactly as received; never parsed and serialised again. */
  readonly payload: string | Uint8Array;
  readonly headers: WebhookHeaders;
  /** `whsec_` and base64. During a rotation, pass both secrets or either of them. */
  readonly secret?: string | undefined;
  readonly secrets?: readonly string[] | undefined;
  /** How far the sender's clock may be from yours, in either direction; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** The current time, for tests. */
  readonly nowMs?: number | undefined;
}

/**
 * Verifies a request, and returns its event. An event may arrive late or more than once: act once for each `event.id`. Throws a
 * WebhookVerificationError for a request that fails verification, and a TypeError for an invalid secret.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const { payload, toleranceSeconds = 300, nowMs = Date.now() } = request;
  const secrets = [...(request.secret === undefined ? [] : [request.secret]), ...(request.secrets ?? [])];
  if (secrets.length === 0) throw new TypeError("verifyWebhook needs a secret");
  const keys = secrets.map(secretBytes);
  const headers = namedInLowerCase(request.headers);
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const signatures = headers.get("webhook-signature");
  if (!id || !timestamp || !signatures) throw new WebhookVerificationError("HEADERS_MISSING");
  if (!/^(0|[1-9]\d{0,11})$/.test(timestamp)) throw new WebhookVerificationError("TIMESTAMP_MALFORMED");
  const age = Math.floor(nowMs / 1_000) - Number(timestamp);
  if (age > toleranceSeconds) throw new WebhookVerificationError("TIMESTAMP_TOO_OLD");
  if (age < -toleranceSeconds) throw new WebhookVerificationError("TIMESTAMP_TOO_NEW");
  const body = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  if (!(await isSigned(signed, keys, signatures))) throw new WebhookVerificationError("SIGNATURE_MISMATCH");
  return parseEvent(body);
}

/** Whether any of the signatures was made with any of the keys; each is compared in constant time. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  keys: readonly Uint8Array<ArrayBuffer>[],
  header: string,
): Promise<boolean> {
  const signatures = header.split(" ").flatMap((each) => {
    const [version, text = "", ...rest] = each.split(",");
    const bytes = version === "v1" && rest.length === 0 ? base64Bytes(text) : undefined;
    return bytes === undefined ? [] : [bytes];
  });
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
    for (const signature of signatures) {
      if (await crypto.subtle.verify(algorithm, key, signature, signed)) return true;
    }
  }
  return false;
}

function parseEvent(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw new WebhookVerificationError("PAYLOAD_MALFORMED");
  }
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = base64Bytes(secret.replace(/^whsec_/, ""));
  if (bytes === undefined || bytes.length === 0) throw new TypeError("a webhook secret is whsec_ and base64");
  return bytes;
}

/** The decoded bytes; undefined unless the text is canonical base64. */
function base64Bytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text);
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}

/** A repeated header is joined, as in HTTP, and then equals no value that we sent. */
function namedInLowerCase(headers: WebhookHeaders): ReadonlyMap<string, string> {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const named = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (value === undefined) continue;
    const text = typeof value === "string" ? value : value.join(", ");
    const before = named.get(name.toLowerCase());
    named.set(name.toLowerCase(), before === undefined ? text : `${before}, ${text}`);
  }
  return named;
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
