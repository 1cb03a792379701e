// The recipes of CONTRIBUTING.md that tests follow, with their steps.
import { COIN_RECIPE } from "./coin.ts";
import { NETWORK_RECIPE } from "./network.ts";
import type { Recipe } from "./recipe.ts";

export const FOLLOWED: readonly Recipe[] = [NETWORK_RECIPE, COIN_RECIPE];

interface ExampleStep {
  readonly recipe: Recipe;
  readonly file: string;
}

export const EXAMPLE_STEPS: readonly ExampleStep[] = FOLLOWED.flatMap((recipe) =>
  Object.keys(recipe.additions).map((file) => ({ recipe, file })),
);

/** A recipe's text on the page. */
export function sectionOf(page: string, { title }: Recipe): string {
  return page.split(`\n### ${title}\n`)[1]?.split("\n### ")[0] ?? "";
}

export function pageWithout(page: string, { recipe, file }: ExampleStep): string {
  const section = sectionOf(page, recipe);
  const lines = section.split("\n").filter((line) => !line.startsWith(`| \`${file}\` |`));
  return page.replace(section, () => lines.join("\n"));
}
