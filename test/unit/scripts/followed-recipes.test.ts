// The recipes for a network and a coin, followed in a copy of the repository: whatever they forgot then fails to compile or to pass.
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

  it("need no file that the recipes do not name: everything compiles", async () => {
    expect(await scratch.compile()).toEqual([]);
  });

  it("pass the unit tests about networks and coins", async () => {
    expect(await scratch.test()).toEqual([]);
  });
});

/** Steps that add something for the example. Each takes a run of the compiler and the tests, so only deep runs omit them. */
const LEFT_OUT =
  process.env.DEEP === undefined ? [] : EXAMPLE_STEPS.filter(({ recipe, file }) => recipe.additions[file]?.length);

it.each(LEFT_OUT)("omitting the step of $file in $recipe.title is reported", async (step) => {
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
