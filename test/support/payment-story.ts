// One payment through many looks at the chain, and what was told of each.
import type { Payment } from "../../src/payments/payment.ts";
import { newsOf, type Placement, paymentAfter, type Sight, type SightContext } from "../../src/payments/sight.ts";
import { blockAt, firstSeen } from "./payment-facts.ts";

export const PENDING: Sight = { kind: "pending" };
export const UNKNOWN: Sight = { kind: "unknown" };
export const REPLACED: Sight = { kind: "replaced" };

export function mined(height: number, fork = ""): Sight {
  return { kind: "mined", block: blockAt(height, fork) };
}

/** What a look showed, and when and through which source it was. */
export type Look = readonly [Sight, SightContext];

/** The payment after each of the looks, and what was told of each. */
export function story(looks: readonly Look[], placement?: Placement) {
  const [first, ...rest] = looks;
  if (first === undefined) throw new Error("no look");
  const block = first[0].kind === "mined" ? first[0].block : undefined;
  let payment = firstSeen(first[1], { ...(block && { block }), ...(placement && { placement }) });
  const told: (readonly string[])[] = [newsOf(undefined, payment)];
  const states: Payment[] = [payment];
  for (const [sight, context] of rest) {
    const after = paymentAfter(payment, sight, context);
    told.push(newsOf(payment, after));
    states.push(after);
    payment = after;
  }
  return { payment, states, told };
}
