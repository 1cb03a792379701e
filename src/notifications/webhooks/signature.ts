// The headers of one attempt: Standard Webhooks 1.0, and the t=,v1= form for consumers of the older form. Both sign the exact body and the time
// of the attempt, so each attempt has a new signature and the same `webhook-id`.
import { base64 } from "@scure/base";
import { bytesToHex, utf8ToBytes } from "../../lib/bytes.ts";
import { hmacSha256 } from "../../lib/hmac.ts";
import { webhookKey } from "./secret.ts";

export interface Signable {
  readonly eventId: string;
  readonly deliveryId: string;
  readonly webhookId: string;
  /** Exactly as sent. */
  readonly body: string;
  /** Unix seconds of this attempt. */
  readonly timestampSeconds: number;
  /** Active secrets, newest first; during a rotation each of them signs. */
  readonly secrets: readonly string[];
}

/** All headers that we set, with lower-case names. A malformed secret is a bug: throws without repeating it. */
export async function signedHeaders(of: Signable): Promise<Readonly<Record<string, string>>> {
  const { eventId, timestampSeconds: t, body, secrets } = of;
  if (secrets.length === 0 || !Number.isSafeInteger(t)) throw new Error(`${secrets.length} secrets sign at ${t}`);
  const standardText = utf8ToBytes(`${eventId}.${t}.${body}`);
  const plainText = utf8ToBytes(`${t}.${body}`);
  const standard = secrets.map(async (secret) => `v1,${base64.encode(await hmacSha256(keyOf(secret), standardText))}`);
  // The older form's key is the text of the secret, including its prefix.
  const plain = secrets.map(async (each) => `v1=${bytesToHex(await hmacSha256(utf8ToBytes(each), plainText))}`);
  return {
    "content-type": "application/json",
    "user-agent": "Edgetill-Webhooks/1",
    "webhook-id": eventId,
    "webhook-timestamp": String(t),
    "webhook-signature": (await Promise.all(standard)).join(" "),
    "x-signature": [`t=${t}`, ...(await Promise.all(plain))].join(","),
    "x-webhook-id": of.webhookId,
    "x-event-id": eventId,
    "x-delivery-id": of.deliveryId,
  };
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = webhookKey(secret);
  if (key === undefined) throw new Error("a webhook secret must be whsec_ and base64");
  return key;
}
