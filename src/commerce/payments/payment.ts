// A payment: one merchant's row for a transfer seen on chain. `match.ts` decides to which invoice it is credited, `chain-observation.ts` which status
// it has on the chain, and `settlement/status.ts` how it changes the invoice.
import type { InvoiceId, MerchantId, PaymentId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { JsonOf } from "../../lib/typed-json.ts";
import type { StoredQuote } from "../quotes/quotes.ts";

export const PAYMENT_STATUSES = ["DETECTED", "CONFIRMED", "DROPPED", "REORGED", "UNMATCHED", "IGNORED"] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** The rules that credit a payment, in the order in which they are tried (decisions 5). */
export const MATCH_RULES = ["ADDRESS", "EXACT_AMOUNT", "TOLERANCE", "SOLE_CANDIDATE", "MANUAL"] as const;
export type MatchRule = (typeof MATCH_RULES)[number];

/** How a credited payment's value is computed: by a rule of `quotes/quotes.ts`, by the market rate, or not yet, because there was no rate. */
export const WEIGHED_BY = ["EXACT_UNITS", "IN_FORCE", "LAST_ENDED", "MARKET_RATE", "NO_RATE"] as const;
type WeighedBy = (typeof WEIGHED_BY)[number];

/** The row without its evidence, for rules, invoices and lists. `StoredPayment` has exactly the table's columns. */
export interface Payment {
  readonly id: PaymentId;
  readonly merchantId: MerchantId;
  /** Null until a rule or a user credits it. */
  readonly invoiceId: InvoiceId | null;
  readonly network: string;
  readonly cryptocurrency: string;
  readonly chainId: number | null;
  readonly txHash: string;
  /** UTXO output index, the log's position in its receipt, "native", or another value of `Transfer.outputIndex`. */
  readonly outputIndex: string;
  readonly fromAddress: string | null;
  readonly toAddress: string;
  readonly amountUnits: bigint;
  /** Value in the invoice currency, computed as `weighedBy` says. Depends on the invoice's quotes; `settlementChange` keeps it up to date. */
  readonly fiatMicros: bigint | null;
  /** Value in the invoice currency at the market rate when first seen, or at a later rate if no rate was known then. */
  readonly marketMicros: bigint | null;
  readonly weighedBy: WeighedBy | null;
  readonly weighedQuote: JsonOf<StoredQuote> | null;
  readonly usdMicros: bigint | null;
  readonly status: PaymentStatus;
  /** The number at the last write. The number shown is computed from the network's tip (`confirmationsAt`). */
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  readonly blockHeight: number | null;
  readonly blockHash: string | null;
  readonly blockTimeMs: number | null;
  readonly isLate: boolean;
  readonly matchedBy: MatchRule | null;
  /**
   * The payment's time: when it was first seen, or the time of any block that contained it if that is earlier. It can only become earlier. But a
   * dropped payment gets the time when it is seen next.
   */
  readonly receivedAtMs: number;
  readonly confirmedAtMs: number | null;
  readonly reorgedAtMs: number | null;
  readonly lastKnownAtMs: number;
  readonly finalAtMs: number | null;
  /** The payment was IGNORED when it left the chain, and will be IGNORED again when it returns. */
  readonly wasIgnored: boolean;
  readonly resolution: JsonOf<PaymentResolution> | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The whole row, for a new payment or for one that is read alone. The evidence never changes, except for `explainedBy` and `explainedIn`. */
export interface StoredPayment extends Payment {
  readonly evidence: JsonOf<Partial<PaymentEvidence>>;
}

/** Why a payment has its invoice or no invoice, as shown to this row's merchant. It never names another merchant's invoice. */
export interface PaymentEvidence {
  /** The source's own JSON for the transfer, as text, at most 4 KB. */
  readonly raw: string;
  /** Outputs that the transaction spends, `txid:vout`; a replacement spends one of them too. */
  readonly spends: readonly string[];
  /** The minimum number of confirmations that the transfer itself requires: the payment is not confirmed with fewer, however it is credited. */
  readonly leastConfirmations?: number;
  /** The merchant's invoices that were not credited, with the reason; at most 20. */
  readonly candidates: readonly { readonly invoiceId: InvoiceId; readonly reason: CandidateReason }[];
  /** For growth of a balance: `explainerMark` of each transaction whose value was already subtracted from it. */
  readonly explainedBy?: readonly string[];
  /** For growth that was dropped because transactions explain it: the hash of its block. */
  readonly explainedIn?: string;
  /** The merchant's payments that this one replaced, in their last state. */
  readonly supersedes?: readonly SupersededEffect[];
}

/** What the chain, or a source, showed earlier under the same transaction and position. */
export interface SupersededEffect {
  readonly paymentId: PaymentId;
  readonly cryptocurrency: string;
  readonly toAddress: string;
  /** Base units, as text. */
  readonly amountUnits: string;
  /** Null if it was in no block, or if it left the chain before this payment was stored. */
  readonly blockHash: string | null;
}

export type CandidateReason =
  /** Another invoice asked for the same amount, or matches as well. */
  | "AMBIGUOUS"
  /** The amount is outside the invoice's tolerances. */
  | "AMOUNT_DIFFERS"
  /** The payment's time is not between the invoice's activation and the end of its monitoring. */
  | "OUTSIDE_WINDOW"
  /** The invoice has as many payments as the rules credit to one invoice. */
  | "TOO_MANY_PAYMENTS";

export const CANDIDATE_REASONS = [
  "AMBIGUOUS",
  "AMOUNT_DIFFERS",
  "OUTSIDE_WINDOW",
  "TOO_MANY_PAYMENTS",
] as const satisfies readonly CandidateReason[];

/**
 * The rules credit an invoice with at most this many payments that are on the chain. If two networks are read at the same time, their payments
 * together may exceed it.
 */
export const MOST_BY_RULES = LIMITS.paymentsPerInvoice;
/** The limit for the rules including payments that have left the chain: even after two reverted floods a payment can still be credited. */
export const MOST_EVER_BY_RULES = LIMITS.paymentsEverPerInvoice;
/**
 * The limit for assignments by hand, which counts the payments that are on the chain or that a user decided about. With the longest reason each takes
 * 4.3 KB, and a D1 value may have 2 MB.
 */
export const MOST_PAYMENTS = LIMITS.paymentsByHandPerInvoice;

export const RESOLUTION_ACTIONS = ["ASSIGN", "IGNORE", "REOPEN"] as const;
export type ResolutionAction = (typeof RESOLUTION_ACTIONS)[number];

export interface PaymentResolution {
  readonly action: ResolutionAction;
  readonly reason: string;
  /** Id of the API key or user. */
  readonly actor: string;
  readonly at: string;
  /** With IGNORE: the transaction that sent the money back, if given. */
  readonly txHash?: string;
}

/** The columns of a payment that the rules of invoices use. */
export interface CreditedPayment {
  readonly id: PaymentId;
  readonly network: string;
  readonly cryptocurrency: string;
  readonly amountUnits: bigint;
  readonly status: PaymentStatus;
  /** The payment's time, no matter when it was read (decisions 4, "On time"). */
  readonly receivedAtMs: number;
  /** When the payment was last seen to have left the chain; null if it never did. */
  readonly reorgedAtMs: number | null;
  /** How long after `reorgedAtMs` it may still be mined again: the network's reorg window. */
  readonly reorgWindowMs: number;
  /** Value in micro-units of the invoice currency, used if no quote applies (see `Payment`). */
  readonly marketMicros: bigint | null;
  /** Stored by `settle`: the payment is credited but does not count, and was reported (`invoice.payment_late`). False on a new row. */
  readonly isLate: boolean;
}

/** Received and not dropped: in the mempool or in a block on the chain as last read. */
export function isSeen(payment: Pick<CreditedPayment, "status">): boolean {
  return payment.status === "DETECTED" || payment.status === "CONFIRMED";
}

/** The identity of a row whose effect is no longer on the chain, because another row has taken its place. */
export function supersededIndex({ id, outputIndex }: Pick<Payment, "id" | "outputIndex">): string {
  return isSuperseded({ outputIndex }) ? outputIndex : `${outputIndex}~${id}`;
}

export function isSuperseded({ outputIndex }: Pick<Payment, "outputIndex">): boolean {
  return outputIndex.includes("~");
}

/** Confirmations by the network's tip, never fewer than the stored number; 0 outside a block. */
export function confirmationsAt(
  payment: Pick<Payment, "confirmations" | "blockHeight" | "status">,
  tipHeight: number | null,
): number {
  if (payment.blockHeight === null) return 0;
  return Math.max(payment.confirmations, tipHeight === null ? 0 : tipHeight - payment.blockHeight + 1);
}

/** The stored payments merged with the changed and new ones, oldest first, as an invoice shows them. */
export function mergePayments(stored: readonly Payment[], changed: readonly Payment[]): readonly Payment[] {
  if (changed.length === 0) return stored;
  const kept = stored.filter(({ id }) => !changed.some((other) => other.id === id));
  return [...kept, ...changed].toSorted((a, b) => a.receivedAtMs - b.receivedAtMs || (a.id < b.id ? -1 : 1));
}
