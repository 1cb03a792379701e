// The HMAC on every wallet and payment method: an attacker who can write to the database but not read the Worker's secret
// cannot swap a payout address unseen. It is made when a row is made, and verified before an address is shown or used. Synchronous on purpose.
import { lengthPrefixed } from "../../lib/bytes.ts";
import { isMacOf, type KeyedMac, type Keyring, macText, parseKeyring } from "../../lib/keyring.ts";
import type { Result } from "../../lib/result.ts";

/** Newest first: the first signs, all verify, so that a key can be rotated while old rows remain. */
export type MacKeys = Keyring;

/** What the HMAC binds together; `target` is the address or the extended key, `row` the id the row belongs to. */
export interface MacSubject {
  readonly kind: "wallet" | "method";
  readonly row: string;
  readonly merchantId: string;
  readonly network: string;
  readonly cryptocurrency: string;
  readonly target: string;
}

export type RowMac = KeyedMac;

/** Parses `ROW_MAC_KEY`. */
export function parseMacKeys(text: string | undefined): Result<MacKeys, string> {
  return parseKeyring("ROW_MAC_KEY", text);
}

export function signRow(keys: MacKeys, subject: MacSubject): RowMac {
  return macText(keys, textOf(subject));
}

/** Whether the row is as Edgetill wrote it; a missing HMAC, an unknown key id or another row's HMAC is not. */
export function isRowIntact(
  keys: MacKeys,
  subject: MacSubject,
  row: { mac: string | null; macKeyId: string | null },
): boolean {
  return isMacOf(keys, textOf(subject), row);
}

function textOf(of: MacSubject): string {
  return lengthPrefixed(["v1", of.kind, of.row, of.merchantId, of.network, of.cryptocurrency, of.target]);
}
