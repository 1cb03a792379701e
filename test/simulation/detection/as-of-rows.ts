// Database rows for a history's facts.
import type { Invoice } from "../../../src/commerce/invoice-records/invoice.ts";
import { type MacKeys, signRow } from "../../../src/commerce/wallet-records/row-mac.ts";
import { type Wallet, walletMacSubject } from "../../../src/commerce/wallet-records/wallet.ts";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { CHAINS, type History, type InvoiceFact, monitorUntilMs, SHARED_ADDRESS, START_MS } from "./as-of-facts.ts";

export const MAC_KEYS: MacKeys = [{ id: "test", secret: new Uint8Array(32).fill(7) }];
export const OLDER_MS = START_MS - 86_400_000;

export function invoiceRow(of: InvoiceFact, merchantId: MerchantId): Invoice {
  return {
    id: of.id,
    merchantId,
    customerId: null,
    productId: null,
    externalId: null,
    name: "Order",
    currency: "USD",
    description: null,
    redirectUrl: null,
    metadata: null,
    amountMicros: of.expectedMicros,
    status: "AWAITING_PAYMENT",
    receivedMicros: 0n,
    confirmedMicros: 0n,
    isLate: false,
    needsReview: false,
    resolution: null,
    warnings: "[]",
    rateLockSeconds: of.lockSeconds,
    monitorSeconds: of.monitorSeconds,
    underpaidToleranceMicros: of.underpaidToleranceMicros,
    overpaidToleranceMicros: of.overpaidToleranceMicros,
    latePaymentPolicy: of.latePaymentPolicy,
    expiresAtMs: of.expiresAtMs,
    origin: "API",
    // The state before any cancellation.
    lateGraceUntilMs: null,
    monitorUntilMs: monitorUntilMs({ ...of, cancelledAtMs: null }),
    cancelledAtMs: null,
    closedAtMs: null,
    eventSequence: 0,
    timelinePosition: 1,
    createdAtMs: of.openedMs,
    updatedAtMs: of.openedMs,
  };
}

export function walletOf(n: number, merchantId: MerchantId, kind: History["kind"]): Wallet {
  const isXpub = kind === "own";
  const unsigned: Omit<Wallet, "mac" | "macKeyId"> = {
    id: makeId("wal", String(n).padStart(26, "0")),
    merchantId,
    ...CHAINS[kind].pair,
    walletType: isXpub ? "XPUB_WALLET" : "DIRECT_WALLET",
    address: isXpub ? null : SHARED_ADDRESS,
    xpub: isXpub ? "zpub" : null,
    derivationPath: isXpub ? "m/84'/0'/0'" : null,
    scheme: isXpub ? "BIP84" : null,
    keyHash: isXpub ? "key" : null,
    requiredConfirmations: 1,
    isEnabled: true,
    frozenAtMs: null,
    usableFromMs: 0,
    deletedAtMs: null,
    lastUsedIndex: isXpub ? 9 : null,
    nextIndex: isXpub ? 10 : null,
    gap: isXpub ? 10 : null,
    createdAtMs: OLDER_MS,
    updatedAtMs: OLDER_MS,
  };
  return { ...unsigned, ...signRow(MAC_KEYS, walletMacSubject(unsigned)) };
}
