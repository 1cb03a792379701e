// How many payments one invoice takes. It is read, settled and told of with all of them, so whoever floods an address must not make it grow
// without end; and no sum is ever cut short: what has no room is credited to nobody, and waits for a person.
import { MOST_BY_RULES, type Payment } from "../payments/payment.ts";
import { type Transfer, transferKey } from "../payments/transfer.ts";

/**
 * The transfers that the invoice has or has room for, and those beyond it. A transfer that it has already takes no room. The first in the list
 * are taken first. Its payments count in every status: each is read with it.
 */
export function splitByRoom<T extends { readonly transfer: Transfer }>(
  payments: readonly Payment[],
  network: string,
  credits: readonly T[],
): { readonly taken: readonly T[]; readonly beyond: readonly T[] } {
  const known = new Set(payments.filter((each) => each.network === network).map(transferKey));
  let room = Math.max(0, MOST_BY_RULES - payments.length);
  const taken: T[] = [];
  const beyond: T[] = [];
  for (const credit of credits) {
    const isKnown = known.has(transferKey(credit.transfer));
    if (!isKnown && room === 0) beyond.push(credit);
    else taken.push(credit);
    if (!isKnown && room > 0) room--;
  }
  return { taken, beyond };
}
