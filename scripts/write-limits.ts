// Writes docs/limits.md (`npm run docs:limits`) from the limits that the Worker itself keeps.
import { writeFileSync } from "node:fs";
import { LIMITS, type LimitName } from "../src/lib/limits.ts";
import { LIMIT_TEXTS } from "./limit-texts.ts";

export const LIMITS_PAGE = "docs/limits.md";

/** The file's text. */
export function limitsPage(): string {
  const rows = (Object.keys(LIMITS) as LimitName[]).map((name) => {
    const { counts, protects, refusal, setting } = LIMIT_TEXTS[name];
    return `| \`${name}\` | ${counts} | ${LIMITS[name].toLocaleString("en")} | ${protects} | ${refusal} | ${setting} |`;
  });
  return `<!-- Written by \`npm run docs:limits\` from the code; do not edit. -->
# Limits

What strangers, tenants and browsers can use up at most, so that nobody starves anybody. A refusal \`LIMIT_REACHED\` names its limit: \`name\` is the
first column here, \`limit\` the number that holds.

| name | what is counted | default | who is protected | what the refused caller sees | setting |
|---|---|---|---|---|---|
${rows.join("\n")}
`;
}

if (import.meta.main) writeFileSync(LIMITS_PAGE, limitsPage());
