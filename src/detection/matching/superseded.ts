// The chain holds one effect of a transfer's identity: the amount, coin and recipient that its own source now reports. Rows with another effect leave the
// chain, and the current effect is placed again, by the rules and with its own time.
import type { Transfer } from "../../chains/sources/transfer.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { Placement } from "./placement.ts";

/** A transfer with its place, and the rows of another effect under its identity. */
interface Contradicting {
  readonly transfer: Pick<Transfer, "block">;
  readonly place: Placement;
  readonly supersedes: readonly Payment[];
}

interface Superseded<T> {
  /** The transfers to place. */
  readonly placed: readonly T[];
  /** Rows superseded before anything is placed, because a row's identity is unique: all but those of `stayingOf`. */
  readonly leaving: readonly Payment[];
}

/** `found`: all transfers with the rows that they contradict, including known ones. `isHearsay`: another source reports them. */
export function supersededBy<T extends Contradicting>(
  placed: readonly T[],
  found: readonly { readonly transfer: Pick<Transfer, "block">; readonly rows: readonly Payment[] }[],
  isHearsay: boolean,
): Superseded<T> {
  const isStronger = ({ block }: Pick<Transfer, "block">, row: Payment) => isOverruled(row, { block, isHearsay });
  const kept = placed.filter(({ transfer, supersedes }) => supersedes.every((row) => isStronger(transfer, row)));
  const staying = new Set(kept.flatMap(stayingOf));
  const leaving = found.flatMap(({ transfer, rows }) => rows.filter((row) => isStronger(transfer, row)));
  return { placed: kept, leaving: leaving.filter((payment) => !staying.has(payment)) };
}

/** Another source's report does not contradict a row that is on the chain, nor an unconfirmed transfer a row that is in a block. */
export function isOverruled(
  row: Payment,
  by: { readonly block: Transfer["block"]; readonly isHearsay: boolean },
): boolean {
  if (row.status === "DROPPED" || row.status === "REORGED") return true;
  return !by.isHearsay && (by.block !== null || row.blockHeight === null);
}

/** Rows of the same invoice that gets the new effect: superseded in the change that credits it, so that the invoice's status does not go back and forth. */
export function stayingOf({ place, supersedes }: Contradicting): readonly Payment[] {
  return place.kind === "invoice" ? supersedes.filter(({ invoiceId }) => invoiceId === place.terms.invoice.id) : [];
}

export function asSuperseded(payment: Payment): { readonly payment: Payment; readonly observation: ChainObservation } {
  return { payment, observation: { kind: "superseded" } };
}
