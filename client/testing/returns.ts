// Signed returns of the fake: it has its own key, and makes URLs that `verifyReturn` accepts.
import { base64urlnopad } from "@scure/base";
import { returnText, returnUrl } from "../../src/checkout/signed-redirect/return-url.ts";
import type { Invoice } from "../../src/commerce/invoice-records/invoice.ts";
import type { ReturnKeys } from "../return.ts";

interface Returns {
  /** The invoice's `redirectUrl`, signed. */
  sign(invoice: Invoice, nowMs: number): Promise<string>;
  /** The answer of `/.well-known/edgetill-keys.json`. */
  keys(): Promise<ReturnKeys>;
}

const KEY_ID = "fake";

/** The key is created on first use. */
export function makeReturns(): Returns {
  let made: Promise<CryptoKeyPair> | undefined;
  const pair = () => {
    made ??= newPair();
    return made;
  };
  return {
    sign: async ({ id: invoiceId, status, redirectUrl }, nowMs) => {
      if (redirectUrl === null || (status !== "PAID" && status !== "OVERPAID"))
        throw new Error(
          `${invoiceId} is ${status} and leads to ${redirectUrl}: only a paid invoice leads back to its shop`,
        );
      const of = { invoiceId, status, nowMs };
      const signed = await crypto.subtle.sign("Ed25519", (await pair()).privateKey, encoded(returnText(of)));
      const signature = base64urlnopad.encode(new Uint8Array(signed));
      return returnUrl(redirectUrl, of, { keyId: KEY_ID, signature });
    },
    keys: async () => {
      const { x } = await crypto.subtle.exportKey("jwk", (await pair()).publicKey).then(asKey);
      return { keys: [{ kid: KEY_ID, kty: "OKP", crv: "Ed25519", use: "sig", alg: "EdDSA", x }] };
    },
  };
}

async function newPair(): Promise<CryptoKeyPair> {
  const made = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  if (!("privateKey" in made)) throw new Error("this runtime made no pair of keys");
  return made;
}

function asKey(key: object): { readonly x: string } {
  if (!("x" in key) || typeof key.x !== "string") throw new Error("this runtime exported no public key");
  return { x: key.x };
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}
