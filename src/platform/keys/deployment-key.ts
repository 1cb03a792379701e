// The record of the deployment's keys: a fingerprint, which reveals a different key under the same id, and whatever is still needed of a key after it
// is removed.
import { lengthPrefixed } from "../../lib/bytes.ts";
import { isMacOf, type KeyedMac, type Keyring, macText, type SecretKey } from "../../lib/keyring.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { MacRows, SealedRows } from "./keyed-rows.ts";
import type { KeyringName } from "./keyrings.ts";

/** How long a public key stays published after it leaves SIGNING_KEY. */
const PUBLISHED_MS = 90 * DAY_MS;

/** A recorded public key. */
interface RecordedPublicKey {
  readonly keyId: string;
  readonly kept: string | null;
  readonly leftAtMs: number | null;
  readonly mac: string | null;
  readonly macKeyId: string | null;
}

/** A fingerprint of 64 bits, which reveals nothing about the key. */
export function fingerprintOf(key: SecretKey): string {
  return macText([key], "edgetill key fingerprint v1").mac.slice(0, 16);
}

/** The HMAC with which a public key is recorded: an attacker who can only write to the database cannot have their own key published. */
export function macOfPublicKey(macKeys: Keyring, of: Pick<RecordedPublicKey, "keyId" | "kept" | "leftAtMs">): KeyedMac {
  return macText(macKeys, publicKeyText(of));
}

export function isPublicKeyIntact(macKeys: Keyring, of: RecordedPublicKey): boolean {
  return isMacOf(macKeys, publicKeyText(of), of);
}

/** Whether a recorded public key is published: its HMAC verifies, and its key is in SIGNING_KEY or left it less than PUBLISHED_MS ago. */
export function isPublished(macKeys: Keyring, of: RecordedPublicKey, nowMs: number): boolean {
  return isPublicKeyIntact(macKeys, of) && (of.leftAtMs === null || nowMs < of.leftAtMs + PUBLISHED_MS);
}

function publicKeyText(of: Pick<RecordedPublicKey, "keyId" | "kept" | "leftAtMs">): string {
  return lengthPrefixed(["v1", "signing-key", of.keyId, of.kept ?? "", String(of.leftAtMs ?? "")]);
}

/** Binds a sealed pepper to its id. */
export function pepperContext(keyId: string): string {
  return `pepper:${keyId}`;
}

export const SIGNING_KEY_ROWS: MacRows = {
  kind: "signingKeys",
  keyring: "ROW_MAC_KEY",
  table: "deployment_keys",
  where: () => "keyring = 'SIGNING_KEY'",
  columns: ["key_id", "kept", "left_at_ms"],
  textOf: ({ key_id, kept, left_at_ms }) =>
    publicKeyText({
      keyId: String(key_id),
      kept: kept === null ? null : String(kept),
      leftAtMs: left_at_ms === null ? null : Number(left_at_ms),
    }),
};

export const PEPPER_ROWS: SealedRows = {
  kind: "peppers",
  keyring: "SECRETS_AES_KEY",
  table: "deployment_keys",
  where: () => "keyring = 'CODE_PEPPER'",
  column: "kept",
  id: "key_id",
  contextOf: pepperContext,
};

/** The valid keyrings, by their names. */
export type Keyrings = Readonly<Partial<Record<KeyringName, Keyring>>>;
