// Offers at a shared address, and a function that matches an amount among them.
import {
  type Candidate,
  type DirectFacts,
  type HeldUnits,
  type Match,
  matchDirect,
} from "../../../../src/commerce/payments/match.ts";
import { UNPROVEN } from "../../../../src/commerce/ranks/rank.ts";
import { makeId } from "../../../../src/lib/ids.ts";

const MERCHANT = makeId("mer", "0".repeat(26));
export const AT = 5_000;
export const invoiceId = (n: number) => makeId("inv", String(n).padStart(26, "0"));

/** A candidate before a transfer is known. `askedUnits` are worth its price; null if there is no rate. */
export interface Offer extends Omit<Candidate, "valueMicros"> {
  readonly askedUnits: bigint | null;
}

export function held(units: bigint, changes: Partial<HeldUnits> = {}): HeldUnits {
  const fromMs = changes.fromMs ?? 1_000;
  return { units, fromMs, sinceMs: fromMs, surelyFromMs: changes.sinceMs ?? fromMs, untilMs: 9_000, ...changes };
}

/** An open invoice of 100 USD at the default tolerances, where a base unit is worth a micro-unit: 99 to 105 USD are within tolerance. */
export function offerOf(n: number, changes: Partial<Offer> = {}): Offer {
  return {
    invoiceId: invoiceId(n),
    merchantId: MERCHANT,
    rank: UNPROVEN,
    held: [heldBy(n)],
    expectedMicros: 100_000_000n,
    underpaidToleranceMicros: 1_000_000n,
    overpaidToleranceMicros: 5_000_000n,
    askedUnits: 100_000_000n,
    isOpen: true,
    ...changes,
  };
}

/** The amount that offer `n` holds. */
export function heldBy(n: number, changes: Partial<HeldUnits> = {}): HeldUnits {
  return held(100_000_000n - BigInt(n), changes);
}

/** An offer at a different price. Its base units are worth a micro-unit, too. */
export function pricedAt(n: number, micros: bigint, changes: Partial<Offer> = {}): Offer {
  return offerOf(n, { expectedMicros: micros, askedUnits: micros, ...changes });
}

/** An offer at ten times the price, which is never close to the others. */
export function dearOf(n: number, changes: Partial<Offer> = {}): Offer {
  const micros = 1_000_000_000n;
  const tolerances = { underpaidToleranceMicros: 5_000_000n, overpaidToleranceMicros: 50_000_000n };
  return pricedAt(n, micros, { held: [held(micros)], ...tolerances, ...changes });
}

export function candidateOf({ askedUnits, ...offer }: Offer, amountUnits: bigint): Candidate {
  const valueMicros = askedUnits === null ? null : (offer.expectedMicros * amountUnits) / askedUnits;
  return { ...offer, valueMicros };
}

export function isHeldAt(offer: Pick<Offer, "held">, atMs: number): boolean {
  return offer.held.some(({ fromMs, untilMs }) => fromMs <= atMs && atMs <= untilMs);
}

/** The numbers of open offers by rank, if no merchant is proven. */
export const openOf = (count: number): DirectFacts["openInvoices"] => ({ 1: 0, 2: 0, 3: count });

export function match(amountUnits: bigint, offers: readonly Offer[], changes: Partial<DirectFacts> = {}): Match {
  const { atMs = AT } = changes;
  const open = offers.filter((offer) => offer.isOpen && isHeldAt(offer, atMs)).length;
  const candidates = offers.map((offer) => candidateOf(offer, amountUnits));
  return matchDirect({ amountUnits, atMs, candidates, openInvoices: openOf(Math.min(open, 2)), ...changes });
}
