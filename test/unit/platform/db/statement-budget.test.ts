// The statement budget of a piece of work.
import { expect, it } from "vitest";
import { Meter } from "../../../../src/platform/db/meter.ts";
import { StatementBudget } from "../../../../src/platform/db/statement-budget.ts";

it("a budget is spent by the statements sent since it began, and a part of it ends later", () => {
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
