// Inserts payment rows in the form in which watchers store them, and the time up to which each network has been read.

import type { Payment, PaymentEvidence, StoredPayment } from "../../src/commerce/payments/payment.ts";
import type { MerchantId } from "../../src/lib/ids.ts";
import { networkCursors } from "../../src/platform/db/schema/network-cursors.ts";
import { payments } from "../../src/platform/db/schema/payments.ts";
import { randomHex } from "./wallet-bodies.ts";
import { freshId, testDb } from "./worker-merchant.ts";

export const BLOCK_MS = Date.UTC(2026, 10, 21, 12);

export type SeedPayment = Partial<Payment> & { readonly evidence?: Partial<PaymentEvidence> };

/** Inserts a payment of 10 USDT on ETH in block 100, without an invoice, with `changes` applied. */
export async function seedPayment(merchantId: MerchantId, changes: SeedPayment = {}): Promise<Payment> {
  const { evidence, ...rest } = changes;
  const nowMs = Date.now();
  const row: StoredPayment = {
    id: freshId("pay"),
    merchantId,
    invoiceId: null,
    network: "ETH",
    cryptocurrency: "USDT",
    chainId: 1,
    txHash: `0x${randomHex(32)}`,
    outputIndex: "0",
    fromAddress: `0x${"f".repeat(40)}`,
    toAddress: `0x${"a".repeat(40)}`,
    amountUnits: 10_000_000n,
    fiatMicros: null,
    usdMicros: 10_000_000n,
    marketMicros: rest.fiatMicros ?? null,
    weighedBy: null,
    weighedQuote: null,
    status: "UNMATCHED",
    confirmations: 1,
    requiredConfirmations: 3,
    isLate: false,
    matchedBy: null,
    blockHeight: 100,
    blockHash: `0x${randomHex(32)}`,
    blockTimeMs: rest.receivedAtMs ?? BLOCK_MS,
    receivedAtMs: BLOCK_MS,
    confirmedAtMs: null,
    reorgedAtMs: null,
    lastKnownAtMs: nowMs,
    finalAtMs: null,
    wasIgnored: false,
    evidence: JSON.stringify({ raw: "{}", spends: [], candidates: [], ...evidence }),
    resolution: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...rest,
  };
  await testDb.insert(payments).values(row);
  return row;
}

/** Marks a network as read up to `tipHeight`, for the whole test file. */
export async function seedCursor(
  network: string,
  changes: Partial<typeof networkCursors.$inferSelect> = {},
): Promise<void> {
  const nowMs = Date.now();
  const row: typeof networkCursors.$inferSelect = {
    network,
    isResting: false,
    sinceMs: nowMs,
    height: 100,
    hash: "0x1",
    checkpoints: "[]",
    passedMs: nowMs,
    lastMovedAtMs: nowMs,
    tipHeight: 100,
    finalizedHeight: null,
    tipTimeMs: nowMs,
    tickedAtMs: nowMs,
    degradedSinceMs: null,
    lastOutage: null,
    progress: "{}",
    pausedAtMs: null,
    ...changes,
  };
  await testDb.insert(networkCursors).values(row).onConflictDoUpdate({ target: networkCursors.network, set: row });
}
