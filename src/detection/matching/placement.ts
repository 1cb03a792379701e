// Decides where a new transfer belongs (decisions 5; Interface 1): to the invoice whose address or amount it matches. Otherwise it stays unmatched,
// and every merchant with a wallet on the address gets a row. The caller reads the facts; this file only applies the rules in order.
import { assetOn, type Network } from "../../chains/registry/networks.ts";
import { isToItself, type Transfer } from "../../chains/sources/transfer.ts";
import type { Invoice, PaymentMethod } from "../../commerce/invoice-records/invoice.ts";
import { isCreditedDust } from "../../commerce/payments/dust.ts";
import {
  type Candidate,
  type Match,
  matchDirect,
  type OpenInvoices,
  type Refusal,
} from "../../commerce/payments/match.ts";
import type { MatchRule } from "../../commerce/payments/payment.ts";
import { MAX_VALUE_MICROS, weighingOf } from "../../commerce/settlement/value.ts";
import { pricedOf } from "../../commerce/settlement/weighing.ts";
import { isRowIntact, type MacKeys } from "../../commerce/wallet-records/row-mac.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { minBig } from "../../lib/money.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Rank } from "../../platform/column-values.ts";
import { microsFor, quoteRate, type RateTable } from "../../rates/quote.ts";
import { growthMatch } from "../growth/growth-match.ts";

export type InvoiceTerms = Pick<
  Invoice,
  | "id"
  | "merchantId"
  | "amountMicros"
  | "currency"
  | "underpaidToleranceMicros"
  | "overpaidToleranceMicros"
  | "expiresAtMs"
  | "lateGraceUntilMs"
  | "cancelledAtMs"
>;

/** A candidate invoice, and the method that makes it a candidate. */
export interface Terms {
  readonly invoice: InvoiceTerms;
  readonly method: PaymentMethod;
  /** The merchant's `quorumAboveAmount`; null if not set. */
  readonly quorumAboveMicros: bigint | null;
}

/** What is known about an invoice if its row, or its method's row, cannot be decoded. */
export interface DamagedTerms extends Pick<Refusal, "invoiceId" | "merchantId"> {
  readonly rank: Rank;
  /** When the invoice began to ask for exactly the transfer's amount; null if it does not ask for that amount. */
  readonly exactSinceMs: number | null;
}

export interface ReservedTerms extends Terms {
  readonly rank: Rank;
  readonly reservedUnits: bigint;
  readonly reservedAtMs: number;
  /** The end of the invoice's monitoring. */
  readonly heldUntilMs: number;
}

export type Placement =
  | {
      readonly kind: "invoice";
      readonly terms: Terms;
      readonly matchedBy: MatchRule;
      readonly needsReview: boolean;
      /** Value in the invoice's currency by the applicable quote or rate; null if there is neither. */
      readonly fiatMicros: bigint | null;
      /** Value now at the market rate, in the invoice's currency; null without a fresh rate. */
      readonly marketMicros: bigint | null;
    }
  /** The transfer is too small to be a payment of the matched invoice: stored only for that invoice's merchant. */
  | { readonly kind: "dust"; readonly merchantId: MerchantId }
  | {
      readonly kind: "unmatched";
      readonly refused: readonly Refusal[];
      /** Candidates whose damaged rows prevented a decision. */
      readonly unreadable?: readonly InvoiceId[];
    };

export interface PlaceFacts {
  readonly network: Network;
  readonly transfer: Transfer;
  /** The payment's time (`timeOf`). */
  readonly atMs: number;
  /** Market rates at the time the transfer was first seen. */
  readonly rates: FirstSeenRates;
  readonly macKeys: MacKeys;
  /** The invoice that owns the address, if it is not shared. */
  readonly owner: Terms | undefined;
  /** Possible reservations at the address, including those for exactly the transfer's amount. */
  readonly reserved: readonly ReservedTerms[];
  /** Invoices that own the address or a possible amount, but whose rows cannot be decoded. */
  readonly damaged: readonly DamagedTerms[];
  readonly openInvoices: OpenInvoices;
  /** Other invoices were or may have been open at the payment's time and have since released their amounts: only an exact amount may match. */
  readonly hasReleased: boolean;
}

interface FirstSeenRates {
  readonly table: RateTable;
  readonly nowMs: number;
}

/**
 * A block's time is in whole seconds and chosen by its producer, so it may be a little before the block's transfers. A transfer still counts if
 * its block's time is at most this long before the activation of the amount or address.
 */
export function clockSlackMs({ blockSeconds }: Pick<Network, "blockSeconds">): number {
  return Math.max(30, 2 * blockSeconds) * SECOND_MS;
}

/**
 * The earliest payment time that counts as not before a reservation. A block's time is in whole seconds, and an amount reserved within the same
 * second may have been reserved before the block's transfers, so the start of the second counts. The time of an unconfirmed transfer comes from our
 * own clock.
 */
export function surelyFromMs({ transfer }: Pick<PlaceFacts, "transfer">, reservedAtMs: number): number {
  return transfer.block === null ? reservedAtMs : reservedAtMs - (reservedAtMs % SECOND_MS);
}

/**
 * If the address has no owner and no reservation, the payment is unmatched. A method whose HMAC fails credits nothing. Throws if the row of the
 * invoice to credit is damaged.
 */
export function placeOf(facts: PlaceFacts): Placement {
  const { transfer, owner } = facts;
  const { isUnexplained, growth } = transfer;
  if (isUnexplained === true || isToItself(transfer) || (owner !== undefined && growth !== undefined))
    return { kind: "unmatched", refused: owner === undefined ? [] : [refusalOf(owner)] };
  if (owner !== undefined) {
    const before = askedBefore(facts, owner);
    if (before !== undefined) return credited(facts, { terms: before, matchedBy: "EXACT_AMOUNT", needsReview: false });
    if (isBeforeActivation(facts, owner)) return { kind: "unmatched", refused: [refusalOf(owner, "OUTSIDE_WINDOW")] };
    const isOwn = owner.method.cryptocurrency === transfer.cryptocurrency && isIntact(facts.macKeys, owner.method);
    if (isOwn) return credited(facts, { terms: owner, matchedBy: "ADDRESS", needsReview: false });
    return { kind: "unmatched", refused: [refusalOf(owner)] };
  }
  const intact = facts.reserved.filter(({ method }) => isIntact(facts.macKeys, method));
  const { amountUnits } = transfer;
  const candidates = candidatesOf(facts, intact);
  const found = matchDirect({ amountUnits, atMs: facts.atMs, candidates, openInvoices: facts.openInvoices });
  const isByAmountAlone = transfer.growth !== undefined || facts.hasReleased;
  const match = isByAmountAlone ? growthMatch(found, candidates) : found;
  if (!isAboveDamaged(facts, match)) return waitingForDamaged(facts);
  if (match.kind === "unmatched") {
    const unreadable = candidates.flatMap(({ invoiceId, isUnreadable }) => (isUnreadable === true ? [invoiceId] : []));
    return { kind: "unmatched", refused: match.refused, ...(unreadable.length > 0 ? { unreadable } : {}) };
  }
  const terms = intact.find(({ invoice }) => invoice.id === match.candidate.invoiceId);
  if (terms === undefined) throw new Error("the match is not a candidate");
  return credited(facts, { terms, matchedBy: match.matchedBy, needsReview: match.needsReview });
}

/**
 * A direct wallet's address may also be the first address of the same merchant's extended key. In that case a payment of exactly the amount that an
 * older invoice still asks for at the address is credited to that invoice. Other merchants' amounts do not count here, because anyone who sees an
 * invoice's own address may register it as a wallet.
 */
function askedBefore(facts: PlaceFacts, owner: Terms): ReservedTerms | undefined {
  const { reserved, macKeys, transfer, atMs } = facts;
  const { merchantId, id } = owner.invoice;
  return reserved.find(
    ({ invoice, method, reservedUnits, reservedAtMs }) =>
      invoice.merchantId === merchantId &&
      invoice.id !== id &&
      reservedUnits === transfer.amountUnits &&
      surelyFromMs(facts, reservedAtMs) <= atMs &&
      reservedAtMs <= (owner.method.activatedAtMs ?? 0) &&
      isIntact(macKeys, method),
  );
}

/**
 * Consensus only requires a Bitcoin block's time to be later than the median of the 11 before it: about an hour back, and rarely more than two. So a
 * payment to an invoice's own address belongs to it even if the block's time is before the activation.
 */
const BLOCKS_BEHIND = 18;

/**
 * An extended public key may have been in use before, so an invoice's own address may have older payments. Money from before the activation never
 * belongs to the invoice, even if a user names its transaction. Only the block's time can show this, so a payment counts as earlier than the
 * activation only if no honest chain could have given the block that time.
 */
function isBeforeActivation({ network, atMs }: PlaceFacts, { method: { activatedAtMs } }: Terms): boolean {
  const behindMs = network.family === "bitcoin" ? BLOCKS_BEHIND * network.blockSeconds * SECOND_MS : 0;
  return activatedAtMs === null || atMs < activatedAtMs - Math.max(behindMs, clockSlackMs(network));
}

/**
 * Whether the damaged rows cannot change the match: the matched invoice has a higher rank than each of them, and no invoice with a damaged row asked
 * for exactly this amount earlier.
 */
function isAboveDamaged({ damaged, transfer }: PlaceFacts, match: Match): boolean {
  if (match.kind === "unmatched") return damaged.length === 0;
  const { rank: own, held } = match.candidate;
  const exact = held.filter(({ units }) => units === transfer.amountUnits);
  const sinceMs = Math.min(...exact.map((each) => each.sinceMs));
  return damaged.every(({ rank, exactSinceMs }) => own < rank && (exactSinceMs === null || exactSinceMs >= sinceMs));
}

/** The transfer stays unmatched while a candidate invoice that could change the match has an unreadable row. */
function waitingForDamaged({ damaged, reserved }: PlaceFacts): Placement {
  const ids = new Set(damaged.map(({ invoiceId }) => invoiceId));
  const others = new Map(reserved.map((each) => [each.invoice.id, refusalOf(each)]));
  const refused = [
    ...damaged.map(({ invoiceId, merchantId }) => ({ invoiceId, merchantId, reason: "AMBIGUOUS" as const })),
    ...others.values(),
  ];
  return { kind: "unmatched", refused, unreadable: [...ids] };
}

/** Whether exactly this amount was reserved for an invoice at the payment's time. If so, nothing else needs to be read. */
export function isExact(
  facts: Pick<PlaceFacts, "network" | "transfer" | "atMs">,
  of: Pick<ReservedTerms, "reservedUnits" | "reservedAtMs" | "heldUntilMs"> & {
    readonly method: Pick<PaymentMethod, "address">;
  },
): boolean {
  const { reservedUnits, reservedAtMs, heldUntilMs, method } = of;
  const sinceMs = reservedAtMs - clockSlackMs(facts.network);
  const isInTime = sinceMs <= facts.atMs && facts.atMs <= heldUntilMs;
  return isInTime && reservedUnits === facts.transfer.amountUnits && method.address === facts.transfer.toAddress;
}

/** The transfer's value at the current market rate, in the invoice's currency; null without a fresh rate. */
function marketMicrosOf({ network, transfer, rates }: PlaceFacts, { currency }: InvoiceTerms): bigint | null {
  const asset = assetOn(network, transfer.cryptocurrency);
  if (asset === undefined) return null;
  const quote = quoteRate({ ...rates, assetCode: asset.rateCode, currency });
  if (!quote.ok) return null;
  const micros = microsFor({ units: transfer.amountUnits, rate: quote.value.rate, decimals: asset.decimals });
  return minBig(micros, MAX_VALUE_MICROS);
}

/** The transfer's value to an invoice, by the quote or rate that applies at its time; null if there is none. */
function valueTo(facts: PlaceFacts, { invoice, method }: Terms) {
  const marketMicros = marketMicrosOf(facts, invoice);
  const { network: on, cryptocurrency, amountUnits } = { ...facts.transfer, network: facts.network.name };
  const payment = { network: on, cryptocurrency, amountUnits, receivedAtMs: facts.atMs, marketMicros };
  const { micros } = weighingOf(payment, {
    expectedMicros: invoice.amountMicros,
    methods: [pricedOf(method, invoice)],
  });
  return { fiatMicros: micros, marketMicros };
}

function credited(
  facts: PlaceFacts,
  of: { readonly terms: Terms; readonly matchedBy: MatchRule; readonly needsReview: boolean },
): Placement {
  const { network, transfer } = facts;
  const { invoice } = of.terms;
  const { cryptocurrency, amountUnits } = transfer;
  const value = valueTo(facts, of.terms);
  const expectedMicros = invoice.amountMicros;
  const valueMicros = value.fiatMicros;
  const { underpaidToleranceMicros } = invoice;
  const ofValue = { expectedMicros, underpaidToleranceMicros, valueMicros };
  const isDust = isCreditedDust({ network, cryptocurrency, amountUnits, ...ofValue });
  return isDust ? { kind: "dust", merchantId: invoice.merchantId } : { kind: "invoice", ...of, ...value };
}

/** One candidate for each invoice with an amount at the address, as of the payment's time. */
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
      sinceMs: reservedAtMs,
      surelyFromMs: surelyFromMs(facts, reservedAtMs),
      untilMs: heldUntilMs,
    }));
    const isOpen = wasOpen(invoice, atMs);
    const tolerances = { underpaidToleranceMicros, overpaidToleranceMicros };
    const candidate = { invoiceId, merchantId, rank: terms.rank, expectedMicros, ...tolerances, held, isOpen };
    return [{ ...candidate, ...weighedFor(facts, terms) }];
  });
}

/** A damaged row may prevent the crediting of other invoices at its address, but must not fail the whole pass. */
function weighedFor(facts: PlaceFacts, terms: Terms): Pick<Candidate, "valueMicros" | "isUnreadable"> {
  try {
    return { valueMicros: valueTo(facts, terms).fiatMicros };
  } catch {
    return { valueMicros: null, isUnreadable: true };
  }
}

/** The placement of a transfer that cannot be decided: not credited, and shown to every merchant with a candidate invoice. */
export function unplaced({
  owner,
  reserved,
}: Pick<PlaceFacts, "owner" | "reserved">): Extract<Placement, { kind: "unmatched" }> {
  const meant = new Map([...(owner === undefined ? [] : [owner]), ...reserved].map((each) => [each.invoice.id, each]));
  return {
    kind: "unmatched",
    refused: [...meant.values()].map((each) => ({ ...refusalOf(each), reason: "AMBIGUOUS" })),
  };
}

/** Whether the invoice had neither expired nor been cancelled at that time. */
function wasOpen({ expiresAtMs, cancelledAtMs }: Pick<InvoiceTerms, "expiresAtMs" | "cancelledAtMs">, atMs: number) {
  return atMs <= expiresAtMs && (cancelledAtMs === null || atMs < cancelledAtMs);
}

function refusalOf({ invoice }: Terms, reason: Refusal["reason"] = "AMOUNT_DIFFERS"): Refusal {
  return { invoiceId: invoice.id, merchantId: invoice.merchantId, reason };
}

function isIntact(macKeys: MacKeys, method: PaymentMethod): boolean {
  const { invoiceId: row, merchantId, network, cryptocurrency, address } = method;
  if (address === null) return false;
  return isRowIntact(macKeys, { kind: "method", row, merchantId, network, cryptocurrency, target: address }, method);
}
