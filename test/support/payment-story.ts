// Applies a series of observations to one payment, and returns the events of each observation.

import {
  type ChainObservation,
  type ObservationContext,
  type Placement,
  paymentAfter,
  paymentEvents,
} from "../../src/commerce/payments/chain-observation.ts";
import type { Payment } from "../../src/commerce/payments/payment.ts";
import { blockAt, firstSeen } from "./payment-facts.ts";

export const PENDING: ChainObservation = { kind: "pending" };
export const UNKNOWN: ChainObservation = { kind: "unknown" };
export const REPLACED: ChainObservation = { kind: "replaced" };

export function mined(height: number, fork = ""): ChainObservation {
  return { kind: "mined", block: blockAt(height, fork) };
}

/** One observation with its time and source. */
export type Look = readonly [ChainObservation, ObservationContext];

/** The payment after each observation, and the events that the observation causes. */
export function story(looks: readonly Look[], placement?: Placement) {
  const [first, ...rest] = looks;
  if (first === undefined) throw new Error("no look");
  const block = first[0].kind === "mined" ? first[0].block : undefined;
  let payment = firstSeen(first[1], { ...(block && { block }), ...(placement && { placement }) });
  const events: (readonly string[])[] = [paymentEvents(undefined, payment)];
  const states: Payment[] = [payment];
  for (const [observation, context] of rest) {
    const after = paymentAfter(payment, observation, context);
    events.push(paymentEvents(payment, after));
    states.push(after);
    payment = after;
  }
  return { payment, states, events };
}
