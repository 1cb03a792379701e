// The recipes for a network and a coin, followed in a copy of the repository: what they forgot is what then does not compile or does not hold.
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

  it("need no file that the recipes do not name: all compiles", async () => {
    expect(await scratch.compile()).toEqual([]);
  });

  it("have all that the unit tests ask of a network and a coin", async () => {
    expect(await scratch.test()).toEqual([]);
  });
});

/** Steps with something to add for the example. Each is a run of the compiler and the tests, so only deep runs leave them out. */
const LEFT_OUT =
  process.env.DEEP === undefined ? [] : EXAMPLE_STEPS.filter(({ recipe, file }) => recipe.additions[file]?.length);

it.each(LEFT_OUT)("somebody who leaves out the step of $file in $recipe.title is told", async (step) => {
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
