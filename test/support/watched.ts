// Inserts rows that make the watcher watch a network: an invoice with an active method, and an open payment.
import { beginWatch } from "../../src/commerce/cursors/store.ts";
import type { Payment, StoredPayment } from "../../src/commerce/payments/payment.ts";
import { type InvoiceId, type MerchantId, makeId, newUlid } from "../../src/lib/ids.ts";
import { HOUR_MS } from "../../src/lib/time.ts";
import { batch } from "../../src/platform/db/batch.ts";
import type { Db } from "../../src/platform/db/client.ts";
import { invoices, paymentMethods } from "../../src/platform/db/schema/invoices.ts";
import { payments } from "../../src/platform/db/schema/payments.ts";

const id = (nowMs: number) => newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16)));

interface WatchedMethod {
  readonly network: string;
  readonly cryptocurrency: string;
  readonly address: string;
  readonly nowMs: number;
  readonly merchantId?: MerchantId;
  readonly status?: "AWAITING_PAYMENT" | "PENDING_CONFIRMATION" | "EXPIRED";
  readonly expiresAtMs?: number;
  readonly monitorUntilMs?: number;
}

/** Inserts an invoice with one ACTIVE method, and the watch that its activation starts. */
export async function watchMethod(db: Db, of: WatchedMethod): Promise<InvoiceId> {
  const { network, cryptocurrency, address, nowMs } = of;
  const invoiceId = makeId("inv", id(nowMs));
  const merchantId = of.merchantId ?? makeId("mer", id(nowMs));
  const expiresAtMs = of.expiresAtMs ?? nowMs + HOUR_MS;
  await batch(db, [
    db.insert(invoices).values({
      id: invoiceId,
      merchantId,
      name: "Order",
      amountMicros: 10_000_000n,
      currency: "USD",
      status: of.status ?? "AWAITING_PAYMENT",
      receivedMicros: 0n,
      confirmedMicros: 0n,
      isLate: false,
      needsReview: false,
      warnings: "[]",
      underpaidToleranceMicros: 0n,
      overpaidToleranceMicros: 0n,
      latePaymentPolicy: "REVIEW",
      rateLockSeconds: 3_600,
      monitorSeconds: 86_400,
      origin: "API",
      eventSequence: 0,
      timelinePosition: 1,
      expiresAtMs,
      monitorUntilMs: of.monitorUntilMs ?? expiresAtMs + 24 * HOUR_MS,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }),
    db.insert(paymentMethods).values({
      invoiceId,
      cryptocurrency,
      network,
      merchantId,
      walletId: makeId("wal", id(nowMs)),
      walletType: "DIRECT_WALLET",
      status: "ACTIVE",
      address,
      amountUnits: 10_000_000n,
      rate: "1",
      requiredConfirmations: 1,
      activatedAtMs: nowMs,
    }),
    beginWatch(db, network, nowMs),
  ]);
  return invoiceId;
}

/** Inserts a payment in the form in which an earlier pass left it. */
export async function openPayment(
  db: Db,
  of: Pick<Payment, "network" | "cryptocurrency" | "txHash" | "toAddress" | "createdAtMs"> & Partial<StoredPayment>,
): Promise<Payment> {
  const row: StoredPayment = {
    id: makeId("pay", id(of.createdAtMs)),
    merchantId: makeId("mer", id(of.createdAtMs)),
    invoiceId: null,
    chainId: null,
    outputIndex: "0",
    fromAddress: null,
    amountUnits: 1n,
    fiatMicros: null,
    usdMicros: null,
    marketMicros: null,
    weighedBy: null,
    weighedQuote: null,
    status: "DETECTED",
    confirmations: 0,
    requiredConfirmations: 1,
    isLate: false,
    matchedBy: null,
    blockHeight: null,
    blockHash: null,
    blockTimeMs: null,
    receivedAtMs: of.createdAtMs,
    confirmedAtMs: null,
    reorgedAtMs: null,
    lastKnownAtMs: of.createdAtMs,
    finalAtMs: null,
    wasIgnored: false,
    evidence: JSON.stringify({ raw: "{}", spends: [], candidates: [] }),
    resolution: null,
    updatedAtMs: of.createdAtMs,
    ...of,
  };
  await db.insert(payments).values(row);
  return row;
}
