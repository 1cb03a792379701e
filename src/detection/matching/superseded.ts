// The chain holds one effect of a transfer's identity: amount, coin and recipient are what its own source says now. Rows that show another effect
// leave, and what the chain holds is placed anew, by the rules and with a time of its own.
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { Place } from "./placement.ts";

/** A transfer with its place, and the rows of another effect under its identity. */
interface Contradicting {
  readonly place: Place;
  readonly supersedes: readonly Payment[];
}

export interface Superseded<T> {
  /** The transfers to place. */
  readonly placed: readonly T[];
  /** Rows superseded before anything is placed, because a row's identity is unique: all but those of `stayingOf`. */
  readonly leaving: readonly Payment[];
}

/**
 * `rows`: all rows that a transfer contradicts, also where the transfer itself is known. `isHearsay`: another source tells of the transfers; it
 * contradicts no row that is on the chain.
 */
export function supersededBy<T extends Contradicting>(
  placed: readonly T[],
  rows: readonly Payment[],
  isHearsay: boolean,
): Superseded<T> {
  const kept = isHearsay ? placed.filter(({ supersedes }) => !supersedes.some(isOnChain)) : placed;
  const contradicted = isHearsay ? kept.flatMap(({ supersedes }) => supersedes) : rows;
  const staying = new Set(kept.flatMap(stayingOf));
  return { placed: kept, leaving: contradicted.filter((payment) => !staying.has(payment)) };
}

/**
 * Rows of the invoice that gets the new effect, too: superseded in the change that credits it, so that the invoice's status does not go back and
 * forth.
 */
export function stayingOf({ place, supersedes }: Contradicting): readonly Payment[] {
  return place.kind === "invoice" ? supersedes.filter(({ invoiceId }) => invoiceId === place.terms.invoice.id) : [];
}

export function asSuperseded(payment: Payment): { readonly payment: Payment; readonly observation: ChainObservation } {
  return { payment, observation: { kind: "superseded" } };
}

function isOnChain({ status }: Payment): boolean {
  return status !== "DROPPED" && status !== "REORGED";
}
