// How many of its findings one read of the chain (a pass, or the lookup of one transaction) has handled. Each read has a budget. The next read finds
// the remaining ones again, and recognises those that were already decided.
import type { Transfer } from "../../chains/sources/transfer.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { PaymentId } from "../../lib/ids.ts";
import type { StatementBudget } from "../../platform/db/statement-budget.ts";

/** A stored payment, and what was found about it. */
export interface Seen {
  readonly payment: Payment;
  readonly observation: ChainObservation;
  readonly mayConfirm?: boolean;
  /** True if some rows at its address and block cannot be read (`WeighedTransfers`). */
  readonly isUnweighed?: boolean;
}

export class Progress {
  readonly #budget: Pick<StatementBudget, "isSpent"> | undefined;
  readonly #removed = new Set<PaymentId>();
  #hasBegun = false;
  #leftFrom: number | null = null;

  /** Without a budget, all work is allowed. */
  constructor(budget: Pick<StatementBudget, "isSpent"> | undefined) {
    this.#budget = budget;
  }

  /** Whether one more unit of work may begin. The first one always may, so that each pass makes progress. */
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

  /**
   * The rows of growth that no batch has removed yet, each once. If several transactions explain growth, the first one that is written removes it.
   */
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
