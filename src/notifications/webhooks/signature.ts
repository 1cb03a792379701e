// The headers of one attempt: Standard Webhooks 1.0, and the older form `t=,v1=` for receivers that still use it. Both sign the exact body and the
// time of the attempt, so each attempt has a new signature but the same `webhook-id`.
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
  const plainText = utf8ToBytes(`${t}.${body}`);
  // The older form's key is the text of the secret, including its prefix.
  const plain = secrets.map(async (each) => `v1=${bytesToHex(await hmacSha256(utf8ToBytes(each), plainText))}`);
  return {
    ...(await standardHeaders(of)),
    "x-signature": [`t=${t}`, ...(await Promise.all(plain))].join(","),
    "x-webhook-id": of.webhookId,
    "x-event-id": eventId,
    "x-delivery-id": of.deliveryId,
  };
}

/** The headers of Standard Webhooks alone; without secrets the message is not signed. */
export async function standardHeaders(
  of: Omit<Signable, "deliveryId" | "webhookId">,
): Promise<Readonly<Record<string, string>>> {
  const { eventId, timestampSeconds: t, body, secrets } = of;
  const text = utf8ToBytes(`${eventId}.${t}.${body}`);
  const signatures = secrets.map(async (secret) => `v1,${base64.encode(await hmacSha256(keyOf(secret), text))}`);
  return {
    "content-type": "application/json",
    "user-agent": "Edgetill-Webhooks/1",
    "webhook-id": eventId,
    "webhook-timestamp": String(t),
    ...(secrets.length === 0 ? {} : { "webhook-signature": (await Promise.all(signatures)).join(" ") }),
  };
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = webhookKey(secret);
  if (key === undefined) throw new Error("a webhook secret must be whsec_ and base64");
  return key;
}
