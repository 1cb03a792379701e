// One payment through many looks at the chain, and what was told of each.

import {
  type ChainObservation,
  newsOf,
  type ObservationContext,
  type Placement,
  paymentAfter,
} from "../../src/commerce/payments/chain-observation.ts";
import type { Payment } from "../../src/commerce/payments/payment.ts";
import { blockAt, firstSeen } from "./payment-facts.ts";

export const PENDING: ChainObservation = { kind: "pending" };
export const UNKNOWN: ChainObservation = { kind: "unknown" };
export const REPLACED: ChainObservation = { kind: "replaced" };

export function mined(height: number, fork = ""): ChainObservation {
  return { kind: "mined", block: blockAt(height, fork) };
}

/** What a look showed, and when and through which source it was. */
export type Look = readonly [ChainObservation, ObservationContext];

/** The payment after each of the looks, and what was told of each. */
export function story(looks: readonly Look[], placement?: Placement) {
  const [first, ...rest] = looks;
  if (first === undefined) throw new Error("no look");
  const block = first[0].kind === "mined" ? first[0].block : undefined;
  let payment = firstSeen(first[1], { ...(block && { block }), ...(placement && { placement }) });
  const told: (readonly string[])[] = [newsOf(undefined, payment)];
  const states: Payment[] = [payment];
  for (const [observation, context] of rest) {
    const after = paymentAfter(payment, observation, context);
    told.push(newsOf(payment, after));
    states.push(after);
    payment = after;
  }
  return { payment, states, told };
}
