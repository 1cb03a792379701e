import { createHmac } from "node:crypto";
import type { Signer } from "./bare-post.ts";

/** Uses Node's own HMAC, because Node runs WebCrypto in a thread pool, which is slower. */
export function nodeSigner(secret: string): Signer {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return {
    standard: (text) => createHmac("sha256", key).update(text).digest("base64"),
    plain: (text) => createHmac("sha256", secret).update(text).digest("hex"),
  };
}
