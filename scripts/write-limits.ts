// Writes docs/limits.md (`npm run docs:limits`) from the Worker's own limits.
import { writeFileSync } from "node:fs";
import { LIMITS } from "../src/lib/limits.ts";
import { floodCost } from "./flood-cost.ts";
import { keysOf } from "./keys-of.ts";
import { LIMIT_TEXTS } from "./limit-texts.ts";

export const LIMITS_PAGE = "docs/limits.md";

export function limitsPage(): string {
  const rows = keysOf(LIMITS).map((name) => {
    const { counts, protects, refusal, setting } = LIMIT_TEXTS[name];
    return `| \`${name}\` | ${counts} | ${LIMITS[name].toLocaleString("en")} | ${protects} | ${refusal} | ${setting} |`;
  });
  return `<!-- Written by \`npm run docs:limits\` from the code; do not edit. -->
# Limits

The most that anonymous callers, merchants and browsers can use, so that nobody uses up the resources of others. A refusal \`LIMIT_REACHED\` names its limit: \`name\` is the
first column here, \`limit\` the number in force.

| name | what is counted | default | who is protected | what the refused caller sees | setting |
|---|---|---|---|---|---|
${rows.join("\n")}

${floodCost()}`;
}

if (import.meta.main) writeFileSync(LIMITS_PAGE, limitsPage());
