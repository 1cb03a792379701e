// The audit log, events and emails identify a wallet by a fingerprint, without its address or key.

import { sha256Hex } from "../../lib/bytes.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";
import type { Wallet } from "./wallet.ts";

const FINGERPRINT_DIGITS = 16;

/** The first 16 hex digits of the SHA-256 of the address or of the extended key, as they are stored. */
export function fingerprintOf(wallet: Pick<Wallet, "address" | "xpub">): string {
  return sha256Hex(wallet.address ?? wallet.xpub ?? "").slice(0, FINGERPRINT_DIGITS);
}

/** A wallet in an audit entry. The address stays in the wallet's row forever; the fingerprint shows whether that row was changed. */
export function walletFacts(wallet: Wallet): AuditFacts {
  const { network, cryptocurrency, walletType, isEnabled, requiredConfirmations } = wallet;
  return { network, cryptocurrency, walletType, fingerprint: fingerprintOf(wallet), isEnabled, requiredConfirmations };
}
