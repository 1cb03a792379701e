// Runs axe-core on an open page. It is injected through the debugger, so the page's content policy stays in force.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright-core";
import { until } from "../../scripts/demo-story/until.ts";

const SOURCE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const FRAME_MS = 16;
const SETTLED_WITHIN_MS = 60_000;
/** How many checks in a row must see no motion, because the page's script starts transitions when the scheme changes. */
const LOOKS = 2;
const MOVING = `(() => {
  const scheme = document.documentElement.dataset.mantineColorScheme;
  const wanted = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const ends = (each) => each.effect?.getComputedTiming().endTime !== Infinity;
  const running = document.getAnimations().filter((each) => each.playState === "running" && ends(each));
  return (scheme !== undefined && scheme !== wanted) || running.length > 0;
})()`;

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/**
 * Everything that axe's rules read from a page except colours: its elements with attributes, texts, positions and visibility. The attribute with the
 * page's colour scheme is left out.
 */
const SHAPE = `JSON.stringify([...document.querySelectorAll("*")].map((each) => {
  const { display, visibility, opacity, position, overflow, clipPath, textDecorationLine } = getComputedStyle(each);
  const { x, y, width, height } = each.getBoundingClientRect();
  const marks = [...each.attributes].filter(({ name }) => name !== "data-mantine-color-scheme");
  const texts = [...each.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data);
  const given = [each.value, each.checked, each.disabled, each === document.activeElement];
  return [each.tagName, marks.map(({ name, value }) => [name, value]), texts, given, x, y, width, height,
    display, visibility, opacity, position, overflow, clipPath, textDecorationLine];
}))`;
const RULES_OF_COLOURS = `axe.getRules(${JSON.stringify(RULES)})
  .filter(({ tags }) => tags.includes("cat.color"))
  .map(({ ruleId }) => ruleId)`;

/** Violations of WCAG 2.2 AA and axe's best practices, one line per element; empty if there are none. */
export function axeFindings(page: Page): Promise<readonly string[]> {
  return findingsOf(page, JSON.stringify(RULES));
}

/**
 * The findings in the light and then in the dark scheme, each line with its scheme. If only colours differ, only the colour rules run again. The page
 * stays in the dark scheme.
 */
export async function findingsInSchemes(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: "light" });
  const light = await axeFindings(page);
  const shape = await page.evaluate<string>(SHAPE);
  await page.emulateMedia({ colorScheme: "dark" });
  await untilStill(page);
  const isSame = (await page.evaluate<string>(SHAPE)) === shape;
  const dark = await (isSame ? findingsOf(page, RULES_OF_COLOURS) : axeFindings(page));
  return [...light.map((finding) => `light: ${finding}`), ...dark.map((finding) => `dark: ${finding}`)];
}

/** `runOnly` selects the rules, as an expression in the page. */
async function findingsOf(page: Page, runOnly: string): Promise<readonly string[]> {
  await untilStill(page);
  const isThere = await page.evaluate<boolean>("typeof axe === 'object'");
  if (!isThere) await page.evaluate(readFileSync(SOURCE, "utf8"));
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run(document, { runOnly: ${runOnly}, resultTypes: ["violations"] }).then((found) => found.violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} at ${target.join(" ")}\n${failureSummary ?? ""}`),
  );
}

/** Waits for transitions to end, because halfway through, a colour has neither its old nor its new contrast. */
async function untilStill(page: Page): Promise<void> {
  const movesOnce = async () => {
    for (let look = 0; look < LOOKS; look++) {
      if (look > 0) await setTimeout(FRAME_MS);
      if (await page.evaluate<boolean>(MOVING)) return true;
    }
    return false;
  };
  await until(movesOnce, (moves) => !moves, SETTLED_WITHIN_MS);
}

const WIDTHS = [320, 1280];

/** The findings at both widths and in both schemes, and any sideways scrolling. */
export async function findingsEverywhere(page: Page): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const excess = await page.evaluate<number>(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    if (excess > 0) findings.push(`${width} px: ${excess} px wider than the window`);
    findings.push(...(await findingsInSchemes(page)).map((finding) => `${width} px, ${finding}`));
  }
  await page.emulateMedia({ colorScheme: null });
  return findings;
}
