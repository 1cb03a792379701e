// The chain holds one effect of a transfer's identity: amount, coin and recipient are what its own source says now. Rows that show another effect
// leave, and what the chain holds is placed anew, by the rules and with a time of its own.
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
  /**
   * Rows of the invoice that gets the new effect, too: superseded in the change that credits it, so that the invoice's status does not go back and
   * forth.
   */
  readonly staying: readonly Payment[];
  /** All others: superseded before anything is placed, because a row's identity is unique. */
  readonly leaving: readonly Payment[];
}

/** `rows`: all rows that a transfer contradicts, also where the transfer itself is known. */
export function supersededBy<T extends Contradicting>(placed: readonly T[], rows: readonly Payment[]): Superseded<T> {
  const staying = placed.flatMap(({ place, supersedes }) =>
    place.kind === "invoice" ? supersedes.filter(({ invoiceId }) => invoiceId === place.terms.invoice.id) : [],
  );
  return { placed, staying, leaving: rows.filter((payment) => !staying.includes(payment)) };
}

/** The same for what another source tells: it contradicts no row that is on the chain. */
export function supersededByHearsay<T extends Contradicting>(placed: readonly T[]): Superseded<T> {
  const kept = placed.filter(({ supersedes }) => !supersedes.some(isOnChain));
  return { placed: kept, staying: [], leaving: kept.flatMap(({ supersedes }) => supersedes) };
}

function isOnChain({ status }: Payment): boolean {
  return status !== "DROPPED" && status !== "REORGED";
}
