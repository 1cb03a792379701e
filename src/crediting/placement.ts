// Where a transfer belongs that is seen for the first time (decisions 5; Interface 1): to the invoice whose address or amount it is, else to
// nobody, and then it waits for whoever has a wallet on the address. Reads come in as facts; here is only the order of the rules.
import { assetOn, type Network } from "../chains/networks.ts";
import { growthMatch } from "../growth/growth-match.ts";
import type { Invoice, PaymentMethod } from "../invoices/invoice.ts";
import { MAX_WORTH_MICROS, weighingOf } from "../invoices/value.ts";
import { pricedOf } from "../invoices/weighing.ts";
import type { InvoiceId, MerchantId } from "../lib/ids.ts";
import { minBig } from "../lib/money.ts";
import { SECOND_MS } from "../lib/time.ts";
import { isCreditedDust } from "../payments/dust.ts";
import { type Candidate, matchDirect, type Refusal } from "../payments/match.ts";
import type { MatchRule } from "../payments/payment.ts";
import type { Transfer } from "../payments/transfer.ts";
import { microsFor, quoteRate, type RateTable } from "../rates/quote.ts";
import { isRowIntact, type MacKeys } from "../wallets/row-mac.ts";

export type InvoiceTerms = Pick<
  Invoice,
  | "id"
  | "merchantId"
  | "amountMicros"
  | "currency"
  | "underpaidToleranceMicros"
  | "overpaidToleranceMicros"
  | "expiresAtMs"
  | "cancelledAtMs"
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
  /** The end of the invoice's monitoring. */
  readonly heldUntilMs: number;
}

export type Place =
  | {
      readonly kind: "invoice";
      readonly terms: Terms;
      readonly matchedBy: MatchRule;
      readonly needsReview: boolean;
      /** Worth in the invoice's currency by what weighs it; null where nothing prices it. */
      readonly fiatMicros: bigint | null;
      /** Worth now at the market rate, in the invoice's currency; null without a fresh rate. */
      readonly marketMicros: bigint | null;
    }
  /** Too little to be a payment of the invoice that it would be credited to: kept for its merchant alone. */
  | { readonly kind: "dust"; readonly merchantId: MerchantId }
  | {
      readonly kind: "stray";
      readonly refused: readonly Refusal[];
      /** Candidates whose damaged rows kept the rules from choosing. */
      readonly unreadable?: readonly InvoiceId[];
    };

export interface PlaceFacts {
  readonly network: Network;
  readonly transfer: Transfer;
  /** The payment's time: the block's, or now for what is in a mempool. */
  readonly atMs: number;
  /** Market rates as of this first sight. */
  readonly rates: FirstSightRates;
  readonly macKeys: MacKeys;
  /** The invoice that the address is of alone. */
  readonly owner: Terms | undefined;
  /** Reservations at the address that could be meant, those of exactly these units among them. */
  readonly reserved: readonly ReservedTerms[];
  /** How many invoices were open then and have a reservation there: 0, 1, or 2 for more. */
  readonly openInvoices: number;
}

export interface FirstSightRates {
  readonly table: RateTable;
  readonly nowMs: number;
}

/**
 * A block's time is a whole second, and its maker's word: it may be a little older than what the block holds. By so much before its activation
 * an amount is taken for meant.
 */
export function clockSlackMs({ blockSeconds }: Pick<Network, "blockSeconds">): number {
  return Math.max(30, 2 * blockSeconds) * SECOND_MS;
}

/**
 * `undefined` owner and no reservation: a stray. A method whose HMAC fails credits nothing, whatever it says (security.md 4). Throws where the
 * row of the invoice that it would be credited to is damaged.
 */
export function placeOf(facts: PlaceFacts): Place {
  const { transfer, owner } = facts;
  if (transfer.isUnexplained === true) return { kind: "stray", refused: [] };
  if (owner !== undefined && transfer.growth !== undefined) return { kind: "stray", refused: [refusalOf(owner)] };
  if (owner !== undefined) {
    const isOwn = owner.method.cryptocurrency === transfer.cryptocurrency && isIntact(facts.macKeys, owner.method);
    if (isOwn) return credited(facts, { terms: owner, matchedBy: "ADDRESS", needsReview: false });
    return { kind: "stray", refused: [refusalOf(owner)] };
  }
  const intact = facts.reserved.filter(({ method }) => isIntact(facts.macKeys, method));
  const { amountUnits } = transfer;
  const candidates = candidatesOf(facts, intact);
  const found = matchDirect({ amountUnits, atMs: facts.atMs, candidates, openInvoices: facts.openInvoices });
  const match = transfer.growth === undefined ? found : growthMatch(found, candidates);
  if (match.kind === "unmatched") {
    const unreadable = candidates.flatMap(({ invoiceId, isUnreadable }) => (isUnreadable === true ? [invoiceId] : []));
    return { kind: "stray", refused: match.refused, ...(unreadable.length > 0 ? { unreadable } : {}) };
  }
  const terms = intact.find(({ invoice }) => invoice.id === match.candidate.invoiceId);
  if (terms === undefined) throw new Error("a match that is no candidate");
  return credited(facts, { terms, matchedBy: match.matchedBy, needsReview: match.needsReview });
}

/** Whether exactly this amount was reserved for an invoice then: then nothing else need be read. */
export function isExact(
  facts: Pick<PlaceFacts, "network" | "transfer" | "atMs">,
  { reservedUnits, reservedAtMs, heldUntilMs, method }: ReservedTerms,
): boolean {
  const sinceMs = reservedAtMs - clockSlackMs(facts.network);
  const isInTime = sinceMs <= facts.atMs && facts.atMs <= heldUntilMs;
  return isInTime && reservedUnits === facts.transfer.amountUnits && method.address === facts.transfer.toAddress;
}

/** What the transfer is worth now at the market rate, in the invoice's currency; null without a fresh rate. */
function marketMicrosOf({ network, transfer, rates }: PlaceFacts, { currency }: InvoiceTerms): bigint | null {
  const asset = assetOn(network, transfer.cryptocurrency);
  if (asset === undefined) return null;
  const quote = quoteRate({ ...rates, assetCode: asset.rateCode, currency });
  if (!quote.ok) return null;
  const micros = microsFor({ units: transfer.amountUnits, rate: quote.value.rate, decimals: asset.decimals });
  return minBig(micros, MAX_WORTH_MICROS);
}

/** What it is worth to an invoice, by what weighs it at its time; null where nothing does. */
function worthTo(facts: PlaceFacts, { invoice, method }: Terms) {
  const marketMicros = marketMicrosOf(facts, invoice);
  const { network: on, cryptocurrency, amountUnits } = { ...facts.transfer, network: facts.network.name };
  const payment = { network: on, cryptocurrency, amountUnits, receivedAtMs: facts.atMs, marketMicros };
  const { micros } = weighingOf(payment, { expectedMicros: invoice.amountMicros, methods: [pricedOf(method)] });
  return { fiatMicros: micros, marketMicros };
}

function credited(
  facts: PlaceFacts,
  of: { readonly terms: Terms; readonly matchedBy: MatchRule; readonly needsReview: boolean },
): Place {
  const { network, transfer } = facts;
  const { invoice } = of.terms;
  const { cryptocurrency, amountUnits } = transfer;
  const worth = worthTo(facts, of.terms);
  const expectedMicros = invoice.amountMicros;
  const valueMicros = worth.fiatMicros;
  const { underpaidToleranceMicros } = invoice;
  const worthOfIt = { expectedMicros, underpaidToleranceMicros, valueMicros };
  const isDust = isCreditedDust({ network, cryptocurrency, amountUnits, ...worthOfIt });
  return isDust ? { kind: "dust", merchantId: invoice.merchantId } : { kind: "invoice", ...of, ...worth };
}

/** One for each invoice with an amount there, as of the payment's time. */
function candidatesOf(facts: PlaceFacts, reserved: readonly ReservedTerms[]): readonly Candidate[] {
  const { network, atMs } = facts;
  return [...Map.groupBy(reserved, ({ invoice }) => invoice.id).values()].flatMap((all) => {
    const [terms] = all;
    if (terms === undefined || terms.invoice.amountMicros === 0n) return [];
    const { id: invoiceId, merchantId, amountMicros: expectedMicros, ...invoice } = terms.invoice;
    const { underpaidToleranceMicros, overpaidToleranceMicros } = invoice;
    const held = all.map(({ reservedUnits, reservedAtMs, heldUntilMs }) => ({
      units: reservedUnits,
      fromMs: reservedAtMs - clockSlackMs(network),
      untilMs: heldUntilMs,
    }));
    const isOpen = wasOpen(invoice, atMs);
    const tolerances = { underpaidToleranceMicros, overpaidToleranceMicros };
    const candidate = { invoiceId, merchantId, expectedMicros, ...tolerances, held, isOpen };
    return [{ ...candidate, ...weighedFor(facts, terms) }];
  });
}

/** A damaged row is its own merchant's matter: it may keep others from being credited at its address, and no look from being applied. */
function weighedFor(facts: PlaceFacts, terms: Terms): Pick<Candidate, "valueMicros" | "isUnreadable"> {
  try {
    return { valueMicros: worthTo(facts, terms).fiatMicros };
  } catch {
    return { valueMicros: null, isUnreadable: true };
  }
}

/** What is kept of a transfer that cannot be placed: nobody is credited, and whoever could be meant is told. */
export function unplaced({
  owner,
  reserved,
}: Pick<PlaceFacts, "owner" | "reserved">): Extract<Place, { kind: "stray" }> {
  const meant = new Map([...(owner === undefined ? [] : [owner]), ...reserved].map((each) => [each.invoice.id, each]));
  return { kind: "stray", refused: [...meant.values()].map((each) => ({ ...refusalOf(each), reason: "AMBIGUOUS" })) };
}

/** Neither past its end nor cancelled at a moment. */
function wasOpen({ expiresAtMs, cancelledAtMs }: Pick<InvoiceTerms, "expiresAtMs" | "cancelledAtMs">, atMs: number) {
  return atMs <= expiresAtMs && (cancelledAtMs === null || atMs < cancelledAtMs);
}

function refusalOf({ invoice }: Terms): Refusal & { readonly invoiceId: InvoiceId } {
  return { invoiceId: invoice.id, merchantId: invoice.merchantId, reason: "AMOUNT_DIFFERS" };
}

function isIntact(macKeys: MacKeys, method: PaymentMethod): boolean {
  const { invoiceId: row, merchantId, network, cryptocurrency, address } = method;
  if (address === null) return false;
  return isRowIntact(macKeys, { kind: "method", row, merchantId, network, cryptocurrency, target: address }, method);
}
