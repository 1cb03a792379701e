// The retention times in docs/design/storage.md must match the code.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KEPT } from "../../../scripts/storage/kept.ts";
import { OBJECTS } from "../../../scripts/storage/objects.ts";

const ROOT = join(import.meta.dirname, "../../..");

const tables = [
  ...Object.entries(KEPT).map(([what, kept]) => ({ what, ...kept })),
  ...Object.entries(OBJECTS).flatMap(([object, of]) =>
    of.tables.map(({ name, ...kept }) => ({ ...kept, what: `${object} ${name}` })),
  ),
];

/** The page's entries that state a time and name a file. */
const times = tables.flatMap(({ what, kept, decidedIn: file }) => {
  const [, count = "", unit = ""] = /\b(\d+) (days?|hours?)\b/.exec(kept) ?? [];
  return count === "" || file === undefined ? [] : { what, count: Number(count), unit, file };
});

/** Matches this time in the code. */
function written(count: number, unit: string): RegExp {
  const length = unit.startsWith("hour") ? "HOUR_MS" : "DAY_MS";
  return count === 1 ? new RegExp(`(?<!\\* )\\b${length}\\b`) : new RegExp(`\\b${count} \\* ${length}\\b`);
}

describe("retention", () => {
  test("is documented, with the file that decides it, for each table whose rows are kept for a limited time", () => {
    expect(times.length).toBeGreaterThanOrEqual(17);
    expect(tables.filter(({ kept, decidedIn }) => /\d/.test(kept) && decidedIn === undefined)).toEqual([]);
  });

  test.each(times)("$what: $count $unit, as $file says", ({ count, unit, file }) => {
    const code = readFileSync(join(ROOT, file), "utf8").replaceAll(/^import .*$/gm, "");
    expect(code).toMatch(written(count, unit));
  });
});
