// The chain holds one effect of a transfer's identity: the amount, coin and recipient now reported by the source that the chain is read from. Rows
// with a different effect are taken off the chain, and the rules match the current effect again, with its own time.
import type { Transfer } from "../../chains/sources/transfer.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { Placement } from "./placement.ts";

/** A transfer with its placement, and the rows with its identity but a different effect. */
interface Contradicting {
  readonly transfer: Pick<Transfer, "block">;
  readonly place: Placement;
  readonly supersedes: readonly Payment[];
}

interface Superseded<T> {
  /** The transfers that overrule all rows that they contradict. */
  readonly placed: readonly T[];
  /** Rows superseded before anything is placed, because a row's identity is unique: all except those that `stayingOf` returns. */
  readonly leaving: readonly Payment[];
}

/**
 * `found`: all transfers, including known ones, with the rows that they contradict. `isHearsay`: they were reported by a source other than the one that
 * the chain is read from.
 */
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

/** A report from another source overrules only a row that has left the chain. An unconfirmed transfer does not overrule a row that is in a block. */
export function isOverruled(
  row: Payment,
  by: { readonly block: Transfer["block"]; readonly isHearsay: boolean },
): boolean {
  if (row.status === "DROPPED" || row.status === "REORGED") return true;
  return !by.isHearsay && (by.block !== null || row.blockHeight === null);
}

/** Rows of the invoice that gets the new effect. The change that credits it supersedes them, so that the invoice's status does not change twice. */
export function stayingOf({ place, supersedes }: Contradicting): readonly Payment[] {
  return place.kind === "invoice" ? supersedes.filter(({ invoiceId }) => invoiceId === place.terms.invoice.id) : [];
}

export function asSuperseded(payment: Payment): { readonly payment: Payment; readonly observation: ChainObservation } {
  return { payment, observation: { kind: "superseded" } };
}
