// Signs the return of a customer who has paid, so that the shop can verify it.
import { base64urlnopad } from "@scure/base";
import { utf8ToBytes } from "../../lib/bytes.ts";
import type { Keyring, SecretKey } from "../../lib/keyring.ts";
import type { Report } from "../../lib/log.ts";
import type { Result } from "../../lib/result.ts";
import { type Return, type ReturnSignature, returnText, returnUrl } from "./return-url.ts";
import { pkcs8Of } from "./signing-key.ts";

export interface ReturnDependencies {
  /** The keys, or what is wrong with them. */
  readonly signingKeys: Result<Keyring, string>;
  readonly report: Report;
}

/** A public key in the form of RFC 8037. */
export interface PublicKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly kid: string;
  /** base64url without padding, of 32 bytes. */
  readonly x: string;
  readonly use: "sig";
  readonly alg: "EdDSA";
}

/**
 * The URL to which a customer who has paid returns: `redirectUrl` with the invoice, its status, the time and the signature. A deployment without a
 * valid SIGNING_KEY still returns customers, with only the invoice's id, and logs the problem.
 */
export async function returnUrlFor(
  deps: ReturnDependencies,
  { redirectUrl, ...of }: Return & { readonly redirectUrl: string },
): Promise<string> {
  return returnUrl(redirectUrl, of, await signReturn(deps, of));
}

async function signReturn(deps: ReturnDependencies, of: Return): Promise<ReturnSignature | undefined> {
  const { signingKeys: keys, report } = deps;
  if (!keys.ok) {
    report("a return was not signed", { reason: keys.error });
    return undefined;
  }
  const [newest] = keys.value;
  const signature = await crypto.subtle.sign("Ed25519", await privateKey(newest, false), utf8ToBytes(returnText(of)));
  return { keyId: newest.id, signature: base64urlnopad.encode(new Uint8Array(signature)) };
}

/** The public keys of the keyring, newest first; empty without a valid SIGNING_KEY. */
export async function listPublicKeys(deps: Pick<ReturnDependencies, "signingKeys">): Promise<readonly PublicKey[]> {
  return Promise.all((deps.signingKeys.ok ? deps.signingKeys.value : []).map(publicKey));
}

async function publicKey(key: SecretKey): Promise<PublicKey> {
  return publicKeyBody(key.id, await publicHalf(key));
}

export function publicKeyBody(kid: string, x: string): PublicKey {
  return { kty: "OKP", crv: "Ed25519", kid, x, use: "sig", alg: "EdDSA" };
}

/** The public half of a key, base64url without padding. */
export async function publicHalf(key: SecretKey): Promise<string> {
  const exported = await crypto.subtle.exportKey("jwk", await privateKey(key, true));
  if (!("x" in exported) || exported.x === undefined) throw new Error("an Ed25519 key without its public half");
  return exported.x;
}

function privateKey(key: SecretKey, isExtractable: boolean): Promise<CryptoKey> {
  return crypto.subtle.importKey("pkcs8", pkcs8Of(key.secret), "Ed25519", isExtractable, ["sign"]);
}
