// Draws the order of districts in docs/design/architecture.md (`npm run docs:architecture`) from the list that the import test enforces.
import { readFileSync, writeFileSync } from "node:fs";
import { DISTRICTS } from "./districts.ts";

export const ARCHITECTURE_PAGE = "docs/design/architecture.md";
const [BEGIN, END] = ["<!-- districts: npm run docs:architecture -->\n", "<!-- /districts -->"];

/** The page with its picture drawn anew; what people wrote around it stays. */
export function architecturePage(page: string): string {
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  return `${before}${BEGIN}\n${diagram()}\n\n${table()}\n\n${END}${after}`;
}

/** One box for each district, from the top down; an arrow leads to what may be imported. */
function diagram(): string {
  const boxes = DISTRICTS.map(([name]) => `  ${name}["src/${name}/"]`);
  const arrows = DISTRICTS.map(([name]) => name).join(" --> ");
  return ["```mermaid", "flowchart TD", ...boxes, `  ${arrows}`, "```"].join("\n");
}

function table(): string {
  const rows = DISTRICTS.map(([name, holds], n) => `| ${n + 1} | \`src/${name}/\` | ${holds} |`);
  return `| order | district | holds |\n|---|---|---|\n${rows.join("\n")}`;
}

if (import.meta.main) writeFileSync(ARCHITECTURE_PAGE, architecturePage(readFileSync(ARCHITECTURE_PAGE, "utf8")));
