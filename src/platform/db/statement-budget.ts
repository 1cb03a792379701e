// D1 ends an invocation that sends more than 1,000 statements (docs/design/platform.md), and what was under way is lost. So work of unknown size, such
// as applying what one block holds, has a budget: once it is spent, nothing more is begun, and what has been committed stays.
import type { Meter } from "./meter.ts";

export class StatementBudget {
  readonly #meter: Meter | undefined;
  readonly #begin: number;
  readonly #most: number;

  /** Statements from now on. Without a meter nothing is counted, and the budget is never spent. */
  constructor(meter: Meter | undefined, most: number, begin = meter?.statements ?? 0) {
    this.#meter = meter;
    this.#most = most;
    this.#begin = begin;
  }

  get isSpent(): boolean {
    return this.#meter !== undefined && this.#meter.statements - this.#begin >= this.#most;
  }

  /** The same budget with another end: a later part of the work may use what earlier ones had to leave to it. */
  upTo(most: number): StatementBudget {
    return new StatementBudget(this.#meter, most, this.#begin);
  }
}
