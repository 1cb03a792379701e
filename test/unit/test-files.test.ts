// A test file must be small enough that its name can say what it guarantees.
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const MAX_LINES = 400;

function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

it("no file below test has more than 400 lines, except for vectors, which are data", () => {
  expect(lineCount("a\nb\n")).toBe(2);
  const files = globSync("test/**/*.ts").filter((path) => !path.startsWith("test/vectors"));
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((path) => lineCount(readFileSync(path, "utf8")) > MAX_LINES)).toEqual([]);
});
