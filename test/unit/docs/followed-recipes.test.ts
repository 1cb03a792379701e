// The recipes for a network and a coin, followed in a copy of the repository: what they forgot is what then does not compile or does not hold.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COIN_RECIPE } from "../../support/recipes/coin.ts";
import { Scratch } from "../../support/recipes/follow.ts";
import { NETWORK_RECIPE } from "../../support/recipes/network.ts";
import { disagreements, type Recipe, withAdditions } from "../../support/recipes/recipe.ts";

const RECIPES = [NETWORK_RECIPE, COIN_RECIPE];
const PAGE = readFileSync("CONTRIBUTING.md", "utf8");
const sectionOf = ({ title }: Recipe) => PAGE.split(`\n### ${title}\n`)[1]?.split("\n### ")[0] ?? "";
const STEPS = RECIPES.flatMap((recipe) =>
  Object.keys(recipe.additions).map((file) => ({ recipe, file, title: recipe.title })),
);

function pageWithout({ recipe, file }: (typeof STEPS)[number]): string {
  const section = sectionOf(recipe);
  const lines = section.split("\n").filter((line) => !line.startsWith(`| \`${file}\` |`));
  return PAGE.replace(section, () => lines.join("\n"));
}

describe("Arbitrum Nova and LINK, added by the recipes alone,", () => {
  let scratch: Scratch;
  beforeAll(async () => {
    scratch = new Scratch(process.cwd());
    for (const recipe of RECIPES) await scratch.follow(PAGE, recipe);
  });
  afterAll(() => scratch.leave());

  it("need no file that the recipes do not name: all compiles", async () => {
    expect(await scratch.compile()).toEqual([]);
  });

  it("have all that the unit tests ask of a network and a coin", async () => {
    expect(await scratch.test()).toEqual([]);
  });
});

describe.each(RECIPES)("the recipe $title", (recipe) => {
  it("has the steps that are followed, and counts them", () => {
    expect(disagreements(PAGE, recipe)).toEqual([]);
    const [before = ""] = sectionOf(recipe).split("\n|");
    expect(before).toContain(` ${Object.keys(recipe.additions).length} files, `);
  });
});

it.each(STEPS)("a page without the step of $file in $title is found out", (step) => {
  expect(disagreements(pageWithout(step), step.recipe)).toEqual([`${step.file}: the page has no such step`]);
});

/** Steps with something to add for the example, and not generated. Each is a run of the compiler and the tests. */
const LEFT_OUT =
  process.env.DEEP === undefined ? [] : STEPS.filter(({ recipe, file }) => recipe.additions[file]?.length);

it.each(LEFT_OUT)("somebody who leaves out the step of $file in $title is told", async (step) => {
  const scratch = new Scratch(process.cwd());
  try {
    for (const recipe of RECIPES) await scratch.follow(recipe === step.recipe ? pageWithout(step) : PAGE, recipe);
    const errors = await scratch.compile();
    expect(errors.length > 0 || (await scratch.test()).length > 0).toBe(true);
  } finally {
    scratch.leave();
  }
});

it("an example whose place in a file is gone has to be written anew", () => {
  const at = [{ at: "a\n", becomes: "a\nb\n" }];
  expect(withAdditions("x.ts", "a\nc\n", at)).toBe("a\nb\nc\n");
  expect(() => withAdditions("x.ts", "c\n", at)).toThrow('x.ts has not one place of "a\\n"');
  expect(() => withAdditions("x.ts", "a\na\n", at)).toThrow("x.ts has not one place");
});
