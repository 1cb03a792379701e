// Where a transfer belongs that is seen for the first time (decisions 5; Interface 1): to the invoice whose address or amount it is, else to
// nobody, and then it waits for whoever has a wallet on the address. Reads come in as facts; here is only the order of the rules.
import { assetOn, type Network } from "../chains/networks.ts";
import type { Invoice, PaymentMethod } from "../invoices/invoice.ts";
import { isActive } from "../invoices/status.ts";
import { MAX_WORTH_MICROS, microsAtRate } from "../invoices/value.ts";
import type { InvoiceId, MerchantId } from "../lib/ids.ts";
import { floorDiv, minBig } from "../lib/money.ts";
import { SECOND_MS } from "../lib/time.ts";
import { isCreditedDust } from "../payments/dust.ts";
import { type Candidate, matchDirect, type Refusal } from "../payments/match.ts";
import type { MatchRule } from "../payments/payment.ts";
import type { Transfer } from "../payments/transfer.ts";
import { isRowIntact, type MacKeys } from "../wallets/row-mac.ts";

export type InvoiceTerms = Pick<
  Invoice,
  "id" | "merchantId" | "status" | "amountMicros" | "underpaidToleranceMicros" | "overpaidToleranceMicros"
>;

/** An invoice that could be meant, and the method that says so. */
export interface Terms {
  readonly invoice: InvoiceTerms;
  readonly method: PaymentMethod;
  /** The merchant's `quorumAboveAmount`; null where none is set. */
  readonly quorumAboveMicros: bigint | null;
}

export interface ReservedTerms extends Terms {
  readonly reservedUnits: bigint;
  readonly reservedAtMs: number;
  readonly heldUntilMs: number;
}

export type Place =
  | {
      readonly kind: "invoice";
      readonly terms: Terms;
      readonly matchedBy: MatchRule;
      readonly needsReview: boolean;
      /** Worth at first sight in the invoice's currency; null where nothing prices it. */
      readonly fiatMicros: bigint | null;
    }
  /** Too little to be a payment of the invoice that it would be credited to: kept for its merchant alone. */
  | { readonly kind: "dust"; readonly merchantId: MerchantId }
  | { readonly kind: "stray"; readonly refused: readonly Refusal[] };

export interface PlaceFacts {
  readonly network: Network;
  readonly transfer: Transfer;
  /** The block's time, or now for what is in a mempool. */
  readonly atMs: number;
  readonly macKeys: MacKeys;
  /** The invoice that the address is of alone. */
  readonly owner: Terms | undefined;
  /** Reservations at the address that could be meant, those of exactly these units among them. */
  readonly reserved: readonly ReservedTerms[];
  /** How many active invoices have a reservation there: 0, 1, or 2 for more. */
  readonly activeInvoices: number;
}

/**
 * A block's time is a whole second, and its maker's word: it may be a little older than what the block holds. By so much before its activation
 * an amount is taken for meant.
 */
function clockSlackMs({ blockSeconds }: Network): number {
  return Math.max(30, 2 * blockSeconds) * SECOND_MS;
}

/** `undefined` owner and no reservation: a stray. A method whose HMAC fails credits nothing, whatever it says (security.md 4). */
export function placeOf(facts: PlaceFacts): Place {
  const { transfer, owner } = facts;
  if (transfer.isUnexplained === true) return { kind: "stray", refused: [] };
  if (owner !== undefined) {
    const isOwn = owner.method.cryptocurrency === transfer.cryptocurrency && isIntact(facts.macKeys, owner.method);
    if (isOwn) return credited(facts, { terms: owner, matchedBy: "ADDRESS", needsReview: false });
    return { kind: "stray", refused: [refusalOf(owner)] };
  }
  const intact = facts.reserved.filter(({ method }) => isIntact(facts.macKeys, method));
  const match = matchDirect({
    amountUnits: transfer.amountUnits,
    atMs: facts.atMs,
    candidates: intact.flatMap((terms) => candidateOf(terms, facts.network)),
    activeInvoices: facts.activeInvoices,
  });
  if (match.kind === "unmatched") return { kind: "stray", refused: match.refused };
  const terms = intact.find(({ invoice }) => invoice.id === match.candidate.invoiceId);
  if (terms === undefined) throw new Error("a match that is no candidate");
  return credited(facts, { terms, matchedBy: match.matchedBy, needsReview: match.needsReview });
}

/** Whether exactly this amount is reserved for an invoice whose time it is: then nothing else need be read. */
export function isExact(
  facts: Pick<PlaceFacts, "network" | "transfer" | "atMs">,
  { reservedUnits, ...terms }: ReservedTerms,
): boolean {
  const { reservedAtMs, heldUntilMs, invoice, method } = terms;
  const sinceMs = reservedAtMs - clockSlackMs(facts.network);
  const isInTime = sinceMs <= facts.atMs && (isActive(invoice.status) || facts.atMs <= heldUntilMs);
  return isInTime && reservedUnits === facts.transfer.amountUnits && method.address === facts.transfer.toAddress;
}

/** What a transfer is worth against what its invoice asks; null where nothing prices it. Capped at what the tables hold. */
export function worthFor({ invoice, method }: Terms, network: Network, units: bigint): bigint | null {
  if (method.amountUnits !== null && method.amountUnits > 0n)
    return minBig(floorDiv(invoice.amountMicros * units, method.amountUnits), MAX_WORTH_MICROS);
  const asset = assetOn(network, method.cryptocurrency);
  if (asset === undefined || method.rate === null) return null;
  return minBig(microsAtRate({ units, decimals: asset.decimals, rate: method.rate }), MAX_WORTH_MICROS);
}

function credited(
  { network, transfer }: PlaceFacts,
  of: { readonly terms: Terms; readonly matchedBy: MatchRule; readonly needsReview: boolean },
): Place {
  const { invoice } = of.terms;
  const { cryptocurrency, amountUnits } = transfer;
  const fiatMicros = worthFor(of.terms, network, amountUnits);
  const expectedMicros = invoice.amountMicros;
  const isDust = isCreditedDust({ network, cryptocurrency, amountUnits, expectedMicros, valueMicros: fiatMicros });
  return isDust ? { kind: "dust", merchantId: invoice.merchantId } : { kind: "invoice", ...of, fiatMicros };
}

function candidateOf(of: ReservedTerms, network: Network): readonly Candidate[] {
  const { invoice, method } = of;
  if (method.amountUnits === null || invoice.amountMicros === 0n) return [];
  return [
    {
      invoiceId: invoice.id,
      merchantId: invoice.merchantId,
      reservedUnits: of.reservedUnits,
      expectedMicros: invoice.amountMicros,
      underpaidToleranceMicros: invoice.underpaidToleranceMicros,
      overpaidToleranceMicros: invoice.overpaidToleranceMicros,
      askedUnits: method.amountUnits,
      activatedAtMs: of.reservedAtMs - clockSlackMs(network),
      heldUntilMs: of.heldUntilMs,
      isActive: isActive(invoice.status),
    },
  ];
}

function refusalOf({ invoice }: Terms): Refusal & { readonly invoiceId: InvoiceId } {
  return { invoiceId: invoice.id, merchantId: invoice.merchantId, reason: "AMOUNT_DIFFERS" };
}

function isIntact(macKeys: MacKeys, method: PaymentMethod): boolean {
  const { invoiceId: row, merchantId, network, cryptocurrency, address } = method;
  if (address === null) return false;
  return isRowIntact(macKeys, { kind: "method", row, merchantId, network, cryptocurrency, target: address }, method);
}
