// Replaces src/lib/hmac.ts: the runtime's hashing answers from another thread, which the simulated world cannot schedule.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";

export async function hmacSha256(key: Uint8Array, bytes: Uint8Array): Promise<Uint8Array> {
  return hmac(sha256, key, bytes);
}
