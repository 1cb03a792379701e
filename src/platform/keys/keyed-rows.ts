// Which rows carry the id of a key: what the job needs to know of a table to renew its rows under the newest key. The features that own the tables
// declare them. What lives for less than a day is not among them: mailed codes, attempts at a provider and stored answers are waited for.
import type { KeyringName } from "./keyrings.ts";

export const KEYED_KINDS = ["wallets", "methods", "signingKeys", "webhookSecrets", "totpSecrets", "peppers"] as const;
export type KeyedKind = (typeof KEYED_KINDS)[number];

/** Columns of a row by their names. */
export type Cells = Readonly<Record<string, string | number | null>>;

interface Keyed {
  readonly kind: KeyedKind;
  /** Its name in SQL; so are the columns below. */
  readonly table: string;
  /** SQL of which rows count; undefined for all. */
  readonly where?: (nowMs: number) => string;
}

/** Rows with an HMAC in `mac` and `mac_key_id`. */
export interface MacRows extends Keyed {
  readonly keyring: "ROW_MAC_KEY";
  /** What `textOf` needs; the first one names the row in the log. */
  readonly columns: readonly string[];
  /** The text under the HMAC. */
  readonly textOf: (cells: Cells) => string;
  /** Whether the feature has a way of its own to freeze what is altered. */
  readonly freezes?: true;
}

/** Rows with a sealed text (lib/seal.ts). */
export interface SealedRows extends Keyed {
  readonly keyring: "SECRETS_AES_KEY";
  readonly column: string;
  /** The column that `contextOf` takes. */
  readonly id: string;
  readonly contextOf: (id: string) => string;
}

export type KeyedRows = MacRows | SealedRows;

/**
 * Put before the key id of a row that does not verify under a key that is there. No keyring can have such an id, so the row stays hidden whatever
 * becomes of the key, as it was, for whoever looks into the matter.
 */
export const DAMAGED = "!";

export function meetingName(keyring: KeyringName, keyId: string): string {
  return `${keyring} ${keyId}`;
}
