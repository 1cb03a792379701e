// The table of what is kept how long says what the code does.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const PAGE = readFileSync(join(ROOT, "docs/design/performance.md"), "utf8");

/** Rows with a time and a file: `| events | 90 days | `src/...` |`. */
const rows = [...PAGE.matchAll(/^\| ([^|]+) \| (\d+) (days?|hours) \| `(src\/[^`]+)` \|$/gm)].map(
  ([, what = "", count = "", unit = "", file = ""]) => ({ what, count: Number(count), unit, file }),
);

/** How code writes such a time. */
function written(count: number, unit: string): RegExp {
  const length = unit === "hours" ? "HOUR_MS" : "DAY_MS";
  return count === 1 ? new RegExp(`(?<!\\* )\\b${length}\\b`) : new RegExp(`\\b${count} \\* ${length}\\b`);
}

describe("what is kept how long", () => {
  test("is in the table for all that is forgotten after a time", () => {
    expect(rows.length).toBeGreaterThanOrEqual(10);
  });

  test.each(rows)("$what: $count $unit, as $file says", ({ count, unit, file }) => {
    const code = readFileSync(join(ROOT, file), "utf8").replaceAll(/^import .*$/gm, "");
    expect(code).toMatch(written(count, unit));
  });
});
