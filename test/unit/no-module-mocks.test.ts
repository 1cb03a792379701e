// The files of test/unit share loaded modules (vitest.config.ts), so whether a module is replaced would depend on the order of the files.
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const CALL = `${"vi"}.mock(`;

it("no unit test replaces a module", () => {
  const files = globSync("test/unit/**/*.ts");
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => readFileSync(file, "utf8").includes(CALL))).toEqual([]);
});
