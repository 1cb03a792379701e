// How far a look has got with its findings. A look has a budget; the next look finds the rest again, and by then what was decided is known.
import type { Transfer } from "../../chains/sources/transfer.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { PaymentId } from "../../lib/ids.ts";
import type { StatementBudget } from "../../platform/db/statement-budget.ts";

/** A stored payment, and what a look found about it. */
export interface Seen {
  readonly payment: Payment;
  readonly observation: ChainObservation;
  readonly mayConfirm?: boolean;
  /** Some rows of its block cannot be read (`WeighedTransfers`). */
  readonly isUnweighed?: boolean;
}

export class Progress {
  readonly #budget: Pick<StatementBudget, "isSpent"> | undefined;
  readonly #removed = new Set<PaymentId>();
  #hasBegun = false;
  #leftFrom: number | null = null;

  /** Without a budget everything is done. */
  constructor(budget: Pick<StatementBudget, "isSpent"> | undefined) {
    this.#budget = budget;
  }

  /** Whether one more piece of work may begin. The first one always may, so that each look makes progress. */
  mayBegin(): boolean {
    if (this.#hasBegun && this.#budget?.isSpent === true) return false;
    this.#hasBegun = true;
    return true;
  }

  leave(transfers: readonly Pick<Transfer, "block">[]): void {
    for (const { block } of transfers) this.#leave(block?.height);
  }

  leaveSeen(seen: readonly Seen[]): void {
    for (const { payment, observation } of seen) {
      if (payment.blockHeight !== null) this.#leave(payment.blockHeight);
      this.#leave(observation.kind === "mined" ? observation.block.height : undefined);
    }
  }

  /** Growth that no batch of this look has removed yet, each row once: the first of the transactions that explain it replaces it. */
  stillThere(growth: readonly Payment[]): readonly Payment[] {
    return [...new Set(growth)].filter(({ id }) => !this.#removed.has(id));
  }

  noteRemoved(growth: readonly Payment[]): void {
    for (const { id } of growth) this.#removed.add(id);
  }

  /** Everything below this height was done; null if everything was. Above every height if only unconfirmed transfers were left. */
  get leftFrom(): number | null {
    return this.#leftFrom;
  }

  #leave(height = Number.MAX_SAFE_INTEGER): void {
    this.#leftFrom = Math.min(this.#leftFrom ?? Number.MAX_SAFE_INTEGER, height);
  }
}
