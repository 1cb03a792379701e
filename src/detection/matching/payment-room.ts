// How many payments one invoice takes. Reads, settlement and events carry all of them, so flooding an address must not make an invoice grow
// without end. No sum is ever cut short: a transfer without room is credited to nobody, and waits for a user.

import { type Transfer, transferKey } from "../../chains/transfer.ts";
import {
  isSeen,
  MOST_BY_RULES,
  MOST_EVER_BY_RULES,
  MOST_PAYMENTS,
  type Payment,
} from "../../commerce/payments/payment.ts";

/** Size of a payment's row: one part is about 1.1 KB. One assigned by hand also holds a reason, up to 3.5 KB as JSON in JSON. */
const PARTS = 1;
const PARTS_BY_HAND = 4;
/** What fits into the 2 MB that D1 takes as a value. */
const MOST_PARTS = MOST_PAYMENTS * PARTS_BY_HAND;

/**
 * The transfers that the invoice has or has room for, and those beyond it. A transfer that it has already takes no room. The first in the list
 * are taken first. Payments that left the chain free their room, or a flood that is taken back would keep an honest payer out. This has a limit,
 * because they are still read with the invoice.
 */
export function splitByRoom<T extends { readonly transfer: Transfer }>(
  payments: readonly Payment[],
  network: string,
  credits: readonly T[],
): { readonly taken: readonly T[]; readonly beyond: readonly T[] } {
  const known = new Set(payments.filter((each) => each.network === network).map(transferKey));
  let room = Math.min(
    MOST_BY_RULES - payments.filter(isSeen).length,
    MOST_EVER_BY_RULES - payments.length,
    (MOST_PARTS - partsOf(payments)) / PARTS,
  );
  const taken: T[] = [];
  const beyond: T[] = [];
  for (const credit of credits) {
    const isKnown = known.has(transferKey(credit.transfer));
    if (!isKnown && room < 1) beyond.push(credit);
    else taken.push(credit);
    if (!isKnown) room--;
  }
  return { taken, beyond };
}

/** Whether one more may be assigned by hand. Payments that the rules credited and the chain took back count only by the size of their rows. */
export function hasRoomByHand(payments: readonly Payment[]): boolean {
  const kept = payments.filter((each) => isSeen(each) || each.resolution !== null);
  return kept.length < MOST_PAYMENTS && partsOf(payments) + PARTS_BY_HAND <= MOST_PARTS;
}

function partsOf(payments: readonly Payment[]): number {
  return payments.reduce((parts, { resolution }) => parts + (resolution === null ? PARTS : PARTS_BY_HAND), 0);
}
