import { createHmac } from "node:crypto";
import type { Signer } from "./bare-post.ts";

/** Node's own HMAC: WebCrypto's goes through a thread pool there. */
export function nodeSigner(secret: string): Signer {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return {
    standard: (text) => createHmac("sha256", key).update(text).digest("base64"),
    plain: (text) => createHmac("sha256", secret).update(text).digest("hex"),
  };
}
