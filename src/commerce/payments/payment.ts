// A payment: a transfer seen on chain, as one merchant has it. `match.ts` decides which invoice it is credited to, `chain-observation.ts` what
// the chain makes of it, `invoices/status.ts` what it does to the invoice.
import type { InvoiceId, MerchantId, PaymentId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { JsonOf } from "../../lib/typed-json.ts";
import type { StoredQuote } from "../invoices/quotes.ts";

export const PAYMENT_STATUSES = ["DETECTED", "CONFIRMED", "DROPPED", "REORGED", "UNMATCHED", "IGNORED"] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** The rule that credited it, in the order in which they are tried (decisions 5). */
export const MATCH_RULES = ["ADDRESS", "EXACT_AMOUNT", "TOLERANCE", "SOLE_CANDIDATE", "MANUAL"] as const;
export type MatchRule = (typeof MATCH_RULES)[number];

/** What a credited payment is weighed by: a rule of `invoices/quotes.ts`, the market rate when first seen, or nothing until a user decides. */
export const WEIGHED_BY = ["EXACT_UNITS", "IN_FORCE", "LAST_ENDED", "MARKET_RATE", "NO_RATE"] as const;
export type WeighedBy = (typeof WEIGHED_BY)[number];

/** The row without its evidence: what rules, invoices and lists read. With `StoredPayment` the table holds exactly these members. */
export interface Payment {
  readonly id: PaymentId;
  readonly merchantId: MerchantId;
  /** Null while neither a rule nor a user credits it. */
  readonly invoiceId: InvoiceId | null;
  readonly network: string;
  readonly cryptocurrency: string;
  readonly chainId: number | null;
  readonly txHash: string;
  /** UTXO output, the log's ordinal within its receipt, "native", or what `Transfer.outputIndex` says else. */
  readonly outputIndex: string;
  readonly fromAddress: string | null;
  readonly toAddress: string;
  readonly amountUnits: bigint;
  /** Worth in the invoice currency by what weighs it. Follows from the invoice's quotes: `settlementChange` keeps it. */
  readonly fiatMicros: bigint | null;
  /** Worth in the invoice currency at the market rate when first seen. */
  readonly marketMicros: bigint | null;
  readonly weighedBy: WeighedBy | null;
  readonly weighedQuote: JsonOf<StoredQuote> | null;
  readonly usdMicros: bigint | null;
  readonly status: PaymentStatus;
  /** When last written; what is shown is counted from the network's tip (`confirmationsAt`). */
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  readonly blockHeight: number | null;
  readonly blockHash: string | null;
  readonly blockTimeMs: number | null;
  readonly isLate: boolean;
  readonly matchedBy: MatchRule | null;
  /** The payment's time: when a mempool first showed it or the time of any block that held it, whichever is earliest. Only moves earlier. */
  readonly receivedAtMs: number;
  readonly confirmedAtMs: number | null;
  readonly reorgedAtMs: number | null;
  readonly lastKnownAtMs: number;
  readonly finalAtMs: number | null;
  /** It was IGNORED when it left the chain, and is so again when it is back. */
  readonly wasIgnored: boolean;
  readonly resolution: JsonOf<PaymentResolution> | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The whole row: a new payment, or one that is read to be shown alone. Its evidence never changes. */
export interface StoredPayment extends Payment {
  readonly evidence: JsonOf<Partial<PaymentEvidence>>;
}

/** Why a payment is where it is, for the merchant whose row it is: no other merchant's invoice is ever named. */
export interface PaymentEvidence {
  /** What the source said of the transfer, its own JSON as text, at most 4 KB. */
  readonly raw: string;
  /** Outputs that the transaction spends, `txid:vout`: what a replacement spends too. */
  readonly spends: readonly string[];
  /** The merchant's invoices that were refused, by the newest rule's reason; at most 20. */
  readonly candidates: readonly { readonly invoiceId: InvoiceId; readonly reason: CandidateReason }[];
  /** Of growth of a balance: the transactions that were taken off before, by `explainerMark`. */
  readonly explainedBy?: readonly string[];
}

/** Why an invoice that could have been meant was not credited. */
export type CandidateReason =
  /** Another one asked for the same, or is as near. */
  | "AMBIGUOUS"
  /** Outside what its tolerances allow. */
  | "AMOUNT_DIFFERS"
  /** The block is not within activation and the end of monitoring. */
  | "OUTSIDE_WINDOW"
  /** It has as many payments as the rules credit to one invoice. */
  | "TOO_MANY_PAYMENTS";

export const CANDIDATE_REASONS = [
  "AMBIGUOUS",
  "AMOUNT_DIFFERS",
  "OUTSIDE_WINDOW",
  "TOO_MANY_PAYMENTS",
] as const satisfies readonly CandidateReason[];

/**
 * With this many payments on the chain as it is, the rules credit an invoice with no more. Reading two networks at once may exceed it by
 * what each has found.
 */
export const MOST_BY_RULES = LIMITS.paymentsPerInvoice;
/** The same with those that left the chain again: three floods that are taken back leave room for a payer. */
export const MOST_EVER_BY_RULES = LIMITS.paymentsEverPerInvoice;
/** How many it may have in all, those assigned by hand too: with the longest of reasons 4.3 KB each, and D1 takes 2 MB as a value. */
export const MOST_PAYMENTS = LIMITS.paymentsByHandPerInvoice;

export interface PaymentResolution {
  readonly action: "ASSIGN" | "IGNORE";
  readonly reason: string;
  /** Id of the API key or user. */
  readonly actor: string;
  readonly at: string;
}

/** A payment as the rules of invoices see it. */
export interface CreditedPayment {
  readonly id: PaymentId;
  readonly network: string;
  readonly cryptocurrency: string;
  readonly amountUnits: bigint;
  readonly status: PaymentStatus;
  /** The payment's time, whenever it was read (decisions 4, "On time"). */
  readonly receivedAtMs: number;
  /** When it was last seen to have left the chain; null unless it ever did. */
  readonly reorgedAtMs: number | null;
  /** How long after `reorgedAtMs` it may still be mined again: the network's reorg window. */
  readonly reorgWindowMs: number;
  /** Worth at the market rate when first seen, in micro-units of the invoice currency: what it counts for where no quote weighs it. */
  readonly marketMicros: bigint | null;
  /** Stored mark of `settle`: known to be credited but not counted, and reported (`invoice.payment_late`). False on a new row. */
  readonly isLate: boolean;
}

/** Received and not dropped: in the mempool or in a block of the chain as last read. */
export function isSeen(payment: Pick<CreditedPayment, "status">): boolean {
  return payment.status === "DETECTED" || payment.status === "CONFIRMED";
}

/** Confirmations by the network's tip, at least those that were stored; 0 outside a block. */
export function confirmationsAt(
  payment: Pick<Payment, "confirmations" | "blockHeight" | "status">,
  tipHeight: number | null,
): number {
  if (payment.blockHeight === null) return 0;
  return Math.max(payment.confirmations, tipHeight === null ? 0 : tipHeight - payment.blockHeight + 1);
}

/** The stored payments with those that changed or came, oldest first: as an invoice shows them. */
export function mergePayments(stored: readonly Payment[], changed: readonly Payment[]): readonly Payment[] {
  if (changed.length === 0) return stored;
  const kept = stored.filter(({ id }) => !changed.some((other) => other.id === id));
  return [...kept, ...changed].toSorted((a, b) => a.receivedAtMs - b.receivedAtMs || (a.id < b.id ? -1 : 1));
}
