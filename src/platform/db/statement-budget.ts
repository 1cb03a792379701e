// D1 ends an invocation that sends more than 1,000 statements (docs/design/platform.md), and unfinished work is lost. So work of unknown size, such
// as applying the transfers of one block, has a budget: once it is spent, nothing more is started, and committed work stays.
import type { Meter } from "./meter.ts";

export class StatementBudget {
  readonly #meter: Meter | undefined;
  readonly #begin: number;
  readonly #most: number;

  /** Counts statements from now on. Without a meter nothing is counted, and the budget is never spent. */
  constructor(meter: Meter | undefined, most: number, begin = meter?.statements ?? 0) {
    this.#meter = meter;
    this.#most = most;
    this.#begin = begin;
  }

  get isSpent(): boolean {
    return this.#meter !== undefined && this.#meter.statements - this.#begin >= this.#most;
  }

  /** The same budget with a higher limit: a later part of the work may use more than earlier parts were allowed to. */
  upTo(most: number): StatementBudget {
    return new StatementBudget(this.#meter, most, this.#begin);
  }
}
