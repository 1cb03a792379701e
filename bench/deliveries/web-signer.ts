import { base64 } from "@scure/base";
import { bytesToHex } from "../../src/lib/bytes.ts";
import type { Signer } from "./bare-post.ts";

/** WebCrypto with keys imported once, which is fastest in workerd. */
export async function webSigner(secret: string): Promise<Signer> {
  const encoder = new TextEncoder();
  const importKey = (bytes: Uint8Array) =>
    crypto.subtle.importKey("raw", bytes.slice(), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const standardKey = await importKey(base64.decode(secret.slice("whsec_".length)));
  const plainKey = await importKey(encoder.encode(secret));
  const sign = async (key: CryptoKey, text: string) =>
    new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
  return {
    standard: async (text) => base64.encode(await sign(standardKey, text)),
    plain: async (text) => bytesToHex(await sign(plainKey, text)),
  };
}
