// A payment as responses show it, and its details with everything that explains its state (decisions 5), for the user who decides about it.

import { pairOf } from "../../chains/registry/pair.ts";
import type { ClaimId, InvoiceId } from "../../lib/ids.ts";
import { formatFixed, formatMicros, formatUnits } from "../../lib/money.ts";
import { isoTime, SECOND_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { NetworkCursor } from "../cursors/cursor.ts";
import { parseQuote } from "../quotes/quotes.ts";
import { candidatesOf, differenceBasisPoints, type ListedCandidate } from "./candidates.ts";
import { MOST_CANDIDATES } from "./match.ts";
import { confirmationsAt, type Payment, type StoredPayment } from "./payment.ts";
import { type CandidateInvoice, recommendForPayment } from "./recommend-for-payment.ts";
import { recommendationBodyOf } from "./recommendation.ts";

/** A payer's claim that the transaction pays one of the merchant's invoices. */
export interface PaymentClaim {
  readonly id: ClaimId;
  readonly invoiceId: InvoiceId;
  readonly outcome: string;
  readonly createdAtMs: number;
}

/** A payment as lists read it, with its network's latest known tip. */
export interface PaymentRow extends Payment {
  readonly tipHeight: number | null;
}

/** A payment as a single read returns it, with its evidence and claims. */
export interface PaymentFile extends PaymentRow, StoredPayment {
  readonly finalizedHeight: number | null;
  /** Oldest first. */
  readonly claims: readonly PaymentClaim[];
  /** The candidates, and the invoices that the claims are about. */
  readonly asking: readonly CandidateInvoice[];
}

export type PaymentBody = ReturnType<typeof paymentBodyOf>;

/** `cursors`: how far the networks were read, to compute the current confirmations. */
export function paymentBodyOf(payment: Payment, cursors: readonly Pick<NetworkCursor, "network" | "tipHeight">[]) {
  const { asset } = pairOf(payment);
  return {
    id: payment.id,
    invoiceId: payment.invoiceId,
    merchantId: payment.merchantId,
    chainId: payment.chainId,
    network: payment.network,
    currency: payment.cryptocurrency,
    txHash: payment.txHash,
    outputIndex: payment.outputIndex,
    fromAddress: payment.fromAddress,
    toAddress: payment.toAddress,
    amount: formatUnits(payment.amountUnits, asset.decimals),
    fiatAmount: payment.fiatMicros === null ? null : formatMicros(payment.fiatMicros),
    status: payment.status,
    confirmations: confirmationsAt(
      payment,
      cursors.find((each) => each.network === payment.network)?.tipHeight ?? null,
    ),
    requiredConfirmations: payment.requiredConfirmations,
    blockHeight: payment.blockHeight,
    isLate: payment.isLate,
    matchedBy: payment.matchedBy,
    receivedTxAt: isoTime(payment.receivedAtMs),
    confirmedTxAt: payment.confirmedAtMs === null ? null : isoTime(payment.confirmedAtMs),
    createdAt: isoTime(payment.createdAtMs),
    updatedAt: isoTime(payment.updatedAtMs),
  };
}

export function listedPaymentBody(row: PaymentRow) {
  const { network, tipHeight } = row;
  return paymentBodyOf(row, [{ network, tipHeight }]);
}

export function paymentDetailsOf(file: PaymentFile, nowMs: number) {
  const { blockHeight, blockHash, blockTimeMs } = file;
  const { raw = "{}", candidates: refused = [], supersedes = [] } = parseJson(file.evidence);
  const named = file.claims.map(({ invoiceId }) => invoiceId);
  const candidates = candidatesOf({ payment: file, refused, named, asking: file.asking });
  const isCut = refused.length >= MOST_CANDIDATES;
  const advice = recommendForPayment({ payment: file, candidates, asking: file.asking, isCut, nowMs });
  const isInBlock = blockHeight !== null && blockHash !== null && blockTimeMs !== null;
  const details = {
    ...listedPaymentBody(file),
    evidence: {
      rule: file.matchedBy,
      weighing: weighingBodyOf(file),
      raw,
      block: isInBlock ? { height: blockHeight, hash: blockHash, time: isoTime(blockTimeMs) } : null,
      candidates: candidates.map((candidate) => candidateBodyOf(file, candidate)),
      supersedes: supersedes.map(({ paymentId, cryptocurrency: currency, toAddress, amountUnits, blockHash }) => {
        const { decimals } = pairOf({ network: file.network, cryptocurrency: currency }).asset;
        return { paymentId, currency, toAddress, amount: formatUnits(BigInt(amountUnits), decimals), blockHash };
      }),
      claims: file.claims.map(({ id, invoiceId, outcome, createdAtMs }) => ({
        id,
        invoiceId,
        outcome,
        createdAt: isoTime(createdAtMs),
      })),
    },
    resolution: file.resolution === null ? null : parseJson(file.resolution),
  };
  return advice === null ? details : { ...details, recommendation: recommendationBodyOf(advice) };
}

function candidateBodyOf(payment: Payment, { askedUnits, madeBeforeMs, ...candidate }: ListedCandidate) {
  const { decimals } = pairOf(payment).asset;
  return {
    ...candidate,
    askedAmount: askedUnits === null ? null : formatUnits(askedUnits, decimals),
    amountDiffersPercent: askedUnits === null ? null : formatFixed(differenceBasisPoints(payment, askedUnits), 2),
    madeBeforeSeconds: madeBeforeMs === null ? null : Math.trunc(madeBeforeMs / SECOND_MS),
  };
}

/** How the payment's value was computed; null while the payment has no invoice. */
function weighingBodyOf({ network, cryptocurrency, weighedBy, weighedQuote, marketMicros }: PaymentFile) {
  if (weighedBy === null) return null;
  const { decimals } = pairOf({ network, cryptocurrency }).asset;
  const quote = weighedQuote === null ? null : parseQuote(weighedQuote);
  return {
    by: weighedBy,
    quote:
      quote === null
        ? null
        : {
            amount: quote.amountUnits === null ? null : formatUnits(quote.amountUnits, decimals),
            rate: quote.rate,
            forAmount: formatMicros(quote.forMicros),
            askedFrom: isoTime(quote.askedFromMs),
            lockedUntil: isoTime(quote.lockedUntilMs),
          },
    marketAmount: marketMicros === null ? null : formatMicros(marketMicros),
  };
}
