// The keys of a deployment. MASTER_KEY is all that an operator must set: each keyring is derived from it, under the same key ids. A keyring that is
// set explicitly replaces the derived one.
import { deriveKeyring, type Keyring, parseKeyring } from "../../lib/keyring.ts";
import { remembering } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";

/** The label of each keyring's keys in HKDF's info, `edgetill/<label>`. A label never changes, because stored rows depend on it. */
export const KEYRING_LABELS = {
  ROW_MAC_KEY: "row-mac",
  CODE_PEPPER: "code-pepper",
  SECRETS_AES_KEY: "secrets-aes",
  SIGNING_KEY: "return-signing",
  API_KEY_MAC_KEY: "api-key-mac",
} as const;

export type KeyringName = keyof typeof KEYRING_LABELS;

export const KEYRING_NAMES = [
  "ROW_MAC_KEY",
  "CODE_PEPPER",
  "SECRETS_AES_KEY",
  "SIGNING_KEY",
  "API_KEY_MAC_KEY",
] as const satisfies readonly KeyringName[];

/** The part of the environment from which these keyrings are read. */
export type KeySettings<Name extends KeyringName = KeyringName> = {
  readonly [setting in Name | "MASTER_KEY"]?: string | undefined;
};

/** The keyring `name`. The error is a sentence for the operator, and never repeats a value. */
export function keyringOf<Name extends KeyringName>(settings: KeySettings<Name>, name: Name): Result<Keyring, string> {
  const own: string | undefined = settings[name];
  if (isSet(own)) return parseKeyring(name, own);
  const { MASTER_KEY } = settings;
  if (!isSet(MASTER_KEY)) {
    const parsed = parseKeyring(name, "");
    return parsed.ok ? parsed : err(`${parsed.error}, or MASTER_KEY be set`);
  }
  const derived = derivedFrom(MASTER_KEY);
  return derived.ok ? ok(derived.value[name]) : derived;
}

/** Parses MASTER_KEY. No two of its keys have the same id, because rows and verifiers find a key by its id. */
export function parseMasterKey(text: string | undefined): Result<Keyring, string> {
  const keys = parseKeyring("MASTER_KEY", text);
  if (!keys.ok) return keys;
  const isUnique = new Set(keys.value.map(({ id }) => id)).size === keys.value.length;
  return isUnique ? keys : err("MASTER_KEY has the same key id twice; give each key its own id");
}

/** Whether a setting has a value: an empty one counts as not set. */
export function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}

// Derived once per isolate: ten HMACs per key are too many for each request.
const derivedFrom = remembering((text: string): Result<Readonly<Record<KeyringName, Keyring>>, string> => {
  const master = parseMasterKey(text);
  if (!master.ok) return master;
  const ring = (name: KeyringName) => deriveKeyring(master.value, `edgetill/${KEYRING_LABELS[name]}`);
  return ok({
    ROW_MAC_KEY: ring("ROW_MAC_KEY"),
    CODE_PEPPER: ring("CODE_PEPPER"),
    SECRETS_AES_KEY: ring("SECRETS_AES_KEY"),
    SIGNING_KEY: ring("SIGNING_KEY"),
    API_KEY_MAC_KEY: ring("API_KEY_MAC_KEY"),
  });
});
