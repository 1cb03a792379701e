// Signed returns of the fake: a key of its own, and addresses that `verifyReturn` believes.
import type { Invoice } from "../api-types.ts";
import type { ReturnKeys } from "../return.ts";

export interface Returns {
  /** The invoice's `redirectUrl` with the service's word on it. */
  sign(invoice: Invoice, timestamp: string): Promise<string>;
  /** What `/.well-known/edgetill-keys.json` answers. */
  keys(): Promise<ReturnKeys>;
}

const KEY_ID = "fake";

/** The key is made when it is first needed. */
export function makeReturns(): Returns {
  let made: Promise<CryptoKeyPair> | undefined;
  const pair = () => {
    made ??= newPair();
    return made;
  };
  return {
    sign: async ({ id, status, redirectUrl }, timestamp) => {
      if (redirectUrl === null || (status !== "PAID" && status !== "OVERPAID"))
        throw new Error(`${id} is ${status} and leads to ${redirectUrl}: only a paid invoice leads back to its shop`);
      const lines = new TextEncoder().encode(["edgetill-return-v1", id, status, timestamp].join("\n"));
      const signature = await crypto.subtle.sign("Ed25519", (await pair()).privateKey, lines);
      const url = new URL(redirectUrl);
      const said = { invoiceId: id, status, timestamp, keyId: KEY_ID, signature: base64url(new Uint8Array(signature)) };
      for (const [name, value] of Object.entries(said)) url.searchParams.set(name, value);
      return url.href;
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

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
