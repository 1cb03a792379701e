// Which rows carry the id of a key: what the rotation job (rotate-keys.ts) must know about a table to renew its rows under the newest key. The
// features that own the tables declare them. Short-lived rows are not included: the job simply waits for emailed codes, attempts at a provider and
// stored responses to expire.
import type { KeyringName } from "./keyrings.ts";

export const KEYED_KINDS = ["wallets", "methods", "signingKeys", "webhookSecrets", "totpSecrets", "peppers"] as const;
export type KeyedKind = (typeof KEYED_KINDS)[number];

/** Columns of a row by their names. */
export type Cells = Readonly<Record<string, string | number | null>>;

interface Keyed {
  readonly kind: KeyedKind;
  /** The table's name in SQL; the columns below are named as in SQL too. */
  readonly table: string;
  /** SQL condition for the rows to include; undefined for all. */
  readonly where?: (nowMs: number) => string;
}

/** Rows with an HMAC in `mac` and `mac_key_id`. */
export interface MacRows extends Keyed {
  readonly keyring: "ROW_MAC_KEY";
  /** The columns that `textOf` needs; the first one names the row in the log. */
  readonly columns: readonly string[];
  /** The text that the HMAC covers. */
  readonly textOf: (cells: Cells) => string;
  /** Whether the feature has its own way to freeze altered rows. */
  readonly freezes?: true;
}

/** Rows with a sealed text (lib/seal.ts). */
export interface SealedRows extends Keyed {
  readonly keyring: "SECRETS_AES_KEY";
  readonly column: string;
  /** The column passed to `contextOf`. */
  readonly id: string;
  readonly contextOf: (id: string) => string;
}

export type KeyedRows = MacRows | SealedRows;

/**
 * Prefix of the key id of a row that does not verify under an existing key. No keyring can have such an id, so the row stays hidden and unchanged,
 * whatever happens to the key, and can be investigated.
 */
export const DAMAGED = "!";

export function meetingName(keyring: KeyringName, keyId: string): string {
  return `${keyring} ${keyId}`;
}
