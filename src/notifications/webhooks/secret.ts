// The secret that signs an endpoint's deliveries, in the form of Standard Webhooks 1.0: `whsec_` and the base64 of its key.
import { base64 } from "@scure/base";

const PREFIX = "whsec_";
const KEY_BYTES = 32;
/** Bounds of Standard Webhooks 1.0 ("between 24 bytes and 64 bytes"); ours have 32. */
const SHORTEST_KEY = 24;
const LONGEST_KEY = 64;

/** The text of a secret made from 32 random bytes. */
export function webhookSecret(randomBytes: Uint8Array): string {
  if (randomBytes.length !== KEY_BYTES)
    throw new Error(`a webhook secret has ${KEY_BYTES} bytes, not ${randomBytes.length}`);
  return PREFIX + base64.encode(randomBytes);
}

/** The key that a secret's text encodes; undefined if the text is not a secret. */
export function webhookKey(secret: string): Uint8Array<ArrayBuffer> | undefined {
  if (!secret.startsWith(PREFIX)) return undefined;
  const key = decoded(secret.slice(PREFIX.length));
  return key !== undefined && key.length >= SHORTEST_KEY && key.length <= LONGEST_KEY ? key : undefined;
}

/** The preview for lists, `whsec_abcd...9Zq=`: 40 of its 256 bits, just enough to distinguish two secrets. */
export function secretKeyPreview(secret: string): string {
  // A secret that a receiver has chosen may be short, so only its end is shown.
  if (webhookKey(secret) === undefined) return `...${secret.slice(-4)}`;
  return `${secret.slice(0, PREFIX.length + 4)}...${secret.slice(-4)}`;
}

function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(base64.decode(text));
  } catch {
    return undefined;
  }
}
