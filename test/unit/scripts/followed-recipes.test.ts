// Follows the recipes for a network and a coin in a copy of the repository. If a recipe omits something, the copy does not compile or fails a test.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXAMPLE_STEPS, FOLLOWED, pageWithout } from "../../support/recipes/examples.ts";
import { Scratch } from "../../support/recipes/follow.ts";

const PAGE = readFileSync("CONTRIBUTING.md", "utf8");

describe("Arbitrum Nova and LINK, added by the recipes alone,", () => {
  let scratch: Scratch;
  beforeAll(async () => {
    scratch = new Scratch(process.cwd());
    for (const recipe of FOLLOWED) await scratch.follow(PAGE, recipe);
  });
  afterAll(() => scratch.leave());

  it("need only the files that the recipes name: everything compiles", async () => {
    expect(await scratch.compile()).toEqual([]);
  });

  it("pass the unit tests about networks and coins", async () => {
    expect(await scratch.test()).toEqual([]);
  });
});

/** Steps that add something for the example. Only deep runs omit steps, because each omission takes a run of the compiler and the tests. */
const LEFT_OUT =
  process.env.DEEP === undefined ? [] : EXAMPLE_STEPS.filter(({ recipe, file }) => recipe.additions[file]?.length);

it.each(LEFT_OUT)("the omission of the step for $file in $recipe.title is reported", async (step) => {
  const scratch = new Scratch(process.cwd());
  try {
    for (const recipe of FOLLOWED)
      await scratch.follow(recipe === step.recipe ? pageWithout(PAGE, step) : PAGE, recipe);
    const told = await scratch.test();
    expect([...told, ...(told.length > 0 ? [] : await scratch.compile())]).not.toEqual([]);
  } finally {
    scratch.leave();
  }
});
