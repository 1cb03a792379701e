// Counts the D1 usage of a unit of work: a request, a job, a watcher's pass, a round of deliveries.

import type { Cost } from "../../lib/work-log.ts";
import { askD1 } from "./unanswered.ts";

export class Meter implements Cost {
  calls = 0;
  rowsRead = 0;
  rowsWritten = 0;
  /** Statements sent, including each statement in a batch and failed ones: D1 limits their number in an invocation. */
  statements = 0;

  /** Called before statements are sent. */
  noteSent(statements: number): void {
    this.statements += statements;
  }

  /** Counts an answered call, and the rows that its answers report. A failed call is not counted. */
  count(answers: readonly unknown[]): void {
    this.calls += 1;
    for (const answer of answers) {
      this.rowsRead += rowsIn(answer, "rows_read");
      this.rowsWritten += rowsIn(answer, "rows_written");
    }
  }

  /** `sharers`: how many units of work made the calls together. Each counts all calls, but only its share of the rows. */
  add(cost: Cost, sharers = 1): void {
    this.calls += cost.calls;
    this.rowsRead += cost.rowsRead / sharers;
    this.rowsWritten += cost.rowsWritten / sharers;
  }

  /** The difference from `before`. */
  since(before: Cost): Cost {
    return {
      calls: this.calls - before.calls,
      rowsRead: this.rowsRead - before.rowsRead,
      rowsWritten: this.rowsWritten - before.rowsWritten,
    };
  }

  /** The current values. */
  get cost(): Cost {
    const { calls, rowsRead, rowsWritten } = this;
    return { calls, rowsRead, rowsWritten };
  }
}

function rowsIn(answer: unknown, name: "rows_read" | "rows_written"): number {
  if (typeof answer !== "object" || answer === null || !("meta" in answer)) return 0;
  const { meta } = answer;
  const rows: unknown = typeof meta === "object" && meta !== null ? Reflect.get(meta, name) : 0;
  return typeof rows === "number" ? rows : 0;
}

/**
 * The database for statements that are awaited one by one: counts them, and limits unanswered calls (unanswered.ts), which `batch` (batch.ts) does
 * itself. If D1 returns only rows (`raw`), their number counts as rows read.
 */
export function oneByOne(d1: D1Database, meter?: Meter): D1Database {
  return new Proxy(d1, {
    get(target, name) {
      if (name === "prepare") return (query: string) => statementOf(target, target.prepare(query), meter);
      return memberOf(target, name);
    },
  });
}

const RUNS: readonly (string | symbol)[] = ["all", "run", "raw", "first"];

function statementOf(d1: D1Database, statement: D1PreparedStatement, meter?: Meter): D1PreparedStatement {
  return new Proxy(statement, {
    get(target, name) {
      const member = memberOf(target, name);
      if (name === "bind") return (...values: unknown[]) => statementOf(d1, target.bind(...values), meter);
      if (typeof member !== "function" || !RUNS.includes(name)) return member;
      return async (...given: unknown[]) => {
        meter?.noteSent(1);
        const answer: unknown = await askD1(d1, () => Reflect.apply(member, target, given));
        meter?.count([answer]);
        if (meter !== undefined && Array.isArray(answer)) meter.rowsRead += answer.length;
        return answer;
      };
    },
  });
}

function memberOf(target: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(target, name);
  return typeof member === "function" ? member.bind(target) : member;
}
