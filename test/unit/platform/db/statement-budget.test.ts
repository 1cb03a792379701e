// The limit on the statements that a unit of work may send.
import { expect, it } from "vitest";
import { Meter } from "../../../../src/platform/db/meter.ts";
import { StatementBudget } from "../../../../src/platform/db/statement-budget.ts";

it("a budget is spent by statements that were sent after it was created, and can be copied with a smaller or larger limit", () => {
  const meter = new Meter();
  meter.noteSent(7);
  const budget = new StatementBudget(meter, 3);
  meter.noteSent(2);
  expect([budget.isSpent, budget.upTo(2).isSpent]).toEqual([false, true]);
  meter.noteSent(1);
  expect([budget.isSpent, budget.upTo(4).isSpent]).toEqual([true, false]);
});

it("a budget without a meter is never spent", () => {
  expect(new StatementBudget(undefined, 0).isSpent).toBe(false);
});
