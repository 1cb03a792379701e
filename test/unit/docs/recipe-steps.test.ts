// The recipes that test/unit/scripts/followed-recipes.test.ts follows must have exactly the steps of their examples.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EXAMPLE_STEPS, FOLLOWED, pageWithout, sectionOf } from "../../support/recipes/examples.ts";
import { disagreements, withAdditions } from "../../support/recipes/recipe.ts";

const PAGE = readFileSync("CONTRIBUTING.md", "utf8");

describe.each(FOLLOWED)("the recipe $title", (recipe) => {
  it("has exactly the steps of its example, and states how many files they change", () => {
    expect(disagreements(PAGE, recipe)).toEqual([]);
    const [before = ""] = sectionOf(PAGE, recipe).split("\n|");
    expect(before).toContain(` ${Object.keys(recipe.additions).length} files, `);
  });
});

it.each(EXAMPLE_STEPS)("a page without the step for $file in $recipe.title is detected", (step) => {
  expect(disagreements(pageWithout(PAGE, step), step.recipe)).toEqual([`${step.file}: the page has no such step`]);
});

it("the edits in each example apply to the files", () => {
  for (const { file, recipe } of EXAMPLE_STEPS) {
    const text = readFileSync(file, "utf8");
    const additions = recipe.additions[file] ?? [];
    expect(withAdditions(file, text, additions) === text).toBe(additions.length === 0);
  }
});

it("an edit whose text is missing or occurs twice throws", () => {
  const at = [{ at: "a\n", becomes: "a\nb\n" }];
  expect(withAdditions("x.ts", "a\nc\n", at)).toBe("a\nb\nc\n");
  expect(() => withAdditions("x.ts", "c\n", at)).toThrow('x.ts has not one place of "a\\n"');
  expect(() => withAdditions("x.ts", "a\na\n", at)).toThrow("x.ts has not one place");
});
