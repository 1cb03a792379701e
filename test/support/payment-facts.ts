// Payments and observations for the payment rules: a transfer of 100 USDT on ETH or of 1 BTC.

import type { BlockRef, Transfer } from "../../src/chains/sources/transfer.ts";
import { type NewPayment, newPayment, type ObservationContext } from "../../src/commerce/payments/chain-observation.ts";
import type { Payment, PaymentEvidence } from "../../src/commerce/payments/payment.ts";
import { makeId } from "../../src/lib/ids.ts";
import { network } from "./named-network.ts";

export const PAID_INVOICE = makeId("inv", "0".repeat(26));
const EVIDENCE: PaymentEvidence = { raw: "{}", spends: [], candidates: [] };
export const BITCOIN = network("BTC");
export const ETHEREUM = network("ETH");

/** One block every ten minutes; `fork` distinguishes blocks of the same height. */
export function blockAt(height: number, fork = ""): BlockRef {
  return { height, hash: `block-${height}${fork}`, timeMs: height * 600_000 };
}

export function lookAt(
  tipHeight: number,
  changes: Partial<ObservationContext> & { finalized?: number } = {},
): ObservationContext {
  const { finalized, ...rest } = changes;
  const heights = { tipHeight, finalizedHeight: finalized ?? null };
  return { network: BITCOIN, heights, nowMs: tipHeight * 600_000 + 1_000, ...rest };
}

export function transferOf(changes: Partial<Transfer> = {}): Transfer {
  return {
    cryptocurrency: "BTC",
    txHash: "tx",
    outputIndex: "0",
    fromAddress: null,
    toAddress: "bc1q",
    amountUnits: 100_000_000n,
    block: null,
    spends: [],
    raw: "{}",
    ...changes,
  };
}

/** A payment credited by its address, with three confirmations required. */
export function firstSeen(
  context: ObservationContext,
  changes: Partial<NewPayment> & { block?: BlockRef } = {},
): Payment {
  const { block, ...rest } = changes;
  return newPayment({
    id: makeId("pay", "0".repeat(26)),
    merchantId: makeId("mer", "0".repeat(26)),
    transfer: transferOf({ block: block ?? null }),
    placement: { kind: "CREDITED", invoiceId: PAID_INVOICE, matchedBy: "ADDRESS", marketMicros: null },
    requiredConfirmations: 3,
    usdMicros: null,
    evidence: EVIDENCE,
    context,
    ...rest,
  });
}
