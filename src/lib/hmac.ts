/**
 * HMAC-SHA256 with WebCrypto. In workerd it takes 8 microseconds for 3 KB and 17 for 20 KB; noble's takes 42 and 240. It is asynchronous, so it
 * must not be used between a read and a write in a Durable Object.
 */
export async function hmacSha256(key: Uint8Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, bytes));
}
