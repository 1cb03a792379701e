// The HMAC on every wallet and active payment method: an attacker who can write to the database, but cannot read the Worker's secret, cannot swap a
// payout address unnoticed. It is computed when a row is written, and verified before an address is shown or used.
import { lengthPrefixed } from "../../lib/bytes.ts";
import { isMacOf, type KeyedMac, type Keyring, macText } from "../../lib/keyring.ts";

/** The keyring ROW_MAC_KEY, newest first. The first key signs and all keys verify, so that a key can be rotated while old rows remain. */
export type MacKeys = Keyring;

/** What the HMAC covers. `target`: the address or the extended key. `row`: the id of the wallet or of the method's invoice. */
export interface MacSubject {
  readonly kind: "wallet" | "method";
  readonly row: string;
  readonly merchantId: string;
  readonly network: string;
  readonly cryptocurrency: string;
  readonly target: string;
}

type RowMac = KeyedMac;

export function signRow(keys: MacKeys, subject: MacSubject): RowMac {
  return macText(keys, macTextOf(subject));
}

/** Whether the columns that the HMAC covers are unchanged. False for a missing HMAC, an unknown key id and another row's HMAC. */
export function isRowIntact(
  keys: MacKeys,
  subject: MacSubject,
  row: { mac: string | null; macKeyId: string | null },
): boolean {
  return isMacOf(keys, macTextOf(subject), row);
}

export function macTextOf(of: MacSubject): string {
  return lengthPrefixed(["v1", of.kind, of.row, of.merchantId, of.network, of.cryptocurrency, of.target]);
}
