// How many payments one invoice accepts. Reads, settlement and events carry all of them, so a flooded address must not let an invoice grow without
// limit. No sum is ever truncated: a transfer beyond the limit is not credited, and a user must decide about it.

import { effectKey, type Transfer } from "../../chains/sources/transfer.ts";
import {
  isSeen,
  MOST_BY_RULES,
  MOST_EVER_BY_RULES,
  MOST_PAYMENTS,
  type Payment,
} from "../../commerce/payments/payment.ts";

/** Size of a payment's row in parts of about 1.1 KB. A payment assigned by hand also holds a reason, up to 3.5 KB as JSON in JSON. */
const PARTS = 1;
const PARTS_BY_HAND = 4;
/** Parts that fit into the 2 MB that D1 accepts as a value. */
const MOST_PARTS = MOST_PAYMENTS * PARTS_BY_HAND;

/**
 * Splits transfers into those that the invoice already has or can still accept, and the rest, in list order. A transfer that it already has does not
 * count again. Payments that left the chain do not count either; otherwise a flood that a reorg undid would still exclude an honest payer. They have
 * a separate limit, because they are still read with the invoice.
 */
export function splitByRoom<T extends { readonly transfer: Transfer }>(
  payments: readonly Payment[],
  network: string,
  credits: readonly T[],
): { readonly taken: readonly T[]; readonly beyond: readonly T[] } {
  const known = new Set(payments.filter((each) => each.network === network).map(effectKey));
  let room = Math.min(
    MOST_BY_RULES - payments.filter(isSeen).length,
    MOST_EVER_BY_RULES - payments.length,
    (MOST_PARTS - partsOf(payments)) / PARTS,
  );
  const taken: T[] = [];
  const beyond: T[] = [];
  for (const credit of credits) {
    const isKnown = known.has(effectKey(credit.transfer));
    if (!isKnown && room < 1) beyond.push(credit);
    else taken.push(credit);
    if (!isKnown) room--;
  }
  return { taken, beyond };
}

/** Whether one more payment may be assigned by hand. Payments that a rule credited and a reorg removed count only with the size of their rows. */
export function hasRoomByHand(payments: readonly Payment[]): boolean {
  const kept = payments.filter((each) => isSeen(each) || each.resolution !== null);
  return kept.length < MOST_PAYMENTS && partsOf(payments) + PARTS_BY_HAND <= MOST_PARTS;
}

function partsOf(payments: readonly Payment[]): number {
  return payments.reduce((parts, { resolution }) => parts + (resolution === null ? PARTS : PARTS_BY_HAND), 0);
}
