// Draws the order of districts in docs/design/architecture.md (`npm run docs:architecture`) from the list that the import test enforces.
import { readFileSync, writeFileSync } from "node:fs";
import { DISTRICTS, FEATURES } from "./districts.ts";

export const ARCHITECTURE_PAGE = "docs/design/architecture.md";
const [BEGIN, END] = ["<!-- districts: npm run docs:architecture -->\n", "<!-- /districts -->"];

/** The page with its diagram redrawn; handwritten text around it stays. */
export function architecturePage(page: string): string {
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  return `${before}${BEGIN}\n${diagram()}\n\n${table()}\n\n${features()}\n\n${END}${after}`;
}

/** Draws a box for each district, from the top down; arrows lead to the districts that it may import. */
function diagram(): string {
  const boxes = DISTRICTS.map(([name]) => `  ${name}["src/${name}/"]`);
  const arrows = DISTRICTS.map(([name]) => name).join(" --> ");
  return ["```mermaid", "flowchart TD", ...boxes, `  ${arrows}`, "```"].join("\n");
}

function table(): string {
  const rows = DISTRICTS.map(([name, holds], n) => `| ${n + 1} | \`src/${name}/\` | ${holds} |`);
  return `| order | district | holds |\n|---|---|---|\n${rows.join("\n")}`;
}

/** The floors of each district that has features, from the top down. */
function features(): string {
  const named = (floor: readonly string[]) =>
    floor.map((name) => (name === "" ? "its own files" : `\`${name}\``)).join(", ");
  const rows = DISTRICTS.filter(([name]) => FEATURES[name].length > 1).flatMap(([name]) =>
    FEATURES[name].map((floor, n) => `| ${n === 0 ? `\`src/${name}/\`` : ""} | ${n + 1} | ${named(floor)} |`),
  );
  return `| district | floor | features |\n|---|---|---|\n${rows.join("\n")}`;
}

if (import.meta.main) writeFileSync(ARCHITECTURE_PAGE, architecturePage(readFileSync(ARCHITECTURE_PAGE, "utf8")));
