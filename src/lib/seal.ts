// Encrypts stored secrets with AES-256-GCM, with a key of the deployment, bound to their context. A sealed text is `v1.<key id>.<base64 of iv and
// ciphertext>`. It cannot be decrypted in another row.
import { base64 } from "@scure/base";
import { utf8ToBytes } from "./bytes.ts";
import type { Keyring, SecretKey } from "./keyring.ts";

const IV_BYTES = 12;
const KEY_BYTES = 32;

/** `context` identifies the row, such as `totp:usr_01...`; decryption needs the same context. */
export async function seal(keys: Keyring, context: string, text: string): Promise<string> {
  const [key] = keys;
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const aes = await aesKey(key, "encrypt");
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv, additionalData: utf8ToBytes(context).slice() },
    aes,
    utf8ToBytes(text).slice(),
  );
  const bytes = new Uint8Array(IV_BYTES + sealed.byteLength);
  bytes.set(iv);
  bytes.set(new Uint8Array(sealed), IV_BYTES);
  return `v1.${key.id}.${base64.encode(bytes)}`;
}

/** Undefined if the text was not sealed with one of the keys for this context, or was altered. */
export async function unseal(keys: Keyring, context: string, sealed: string): Promise<string | undefined> {
  const [, id, encoded] = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9+/=]+)$/.exec(sealed) ?? [];
  const key = keys.find((each) => each.id === id);
  if (key === undefined || encoded === undefined) return undefined;
  try {
    const bytes = base64.decode(encoded);
    const aes = await aesKey(key, "decrypt");
    const opened = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv: bytes.slice(0, IV_BYTES), additionalData: utf8ToBytes(context).slice() },
      aes,
      bytes.slice(IV_BYTES),
    );
    return new TextDecoder().decode(opened);
  } catch {
    return undefined;
  }
}

async function aesKey(key: SecretKey, use: "encrypt" | "decrypt"): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", key.secret.slice(0, KEY_BYTES), "AES-GCM", false, [use]);
}
