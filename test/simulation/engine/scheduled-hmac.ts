// Replaces src/lib/hmac.ts: the runtime computes hashes in another thread, and the simulator cannot schedule that thread's answers.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";

export async function hmacSha256(key: Uint8Array, bytes: Uint8Array): Promise<Uint8Array> {
  return hmac(sha256, key, bytes);
}
