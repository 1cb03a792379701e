// The files of these projects share loaded modules (vitest.config.ts), so whether a module is mocked would depend on the order of the files.
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const CALL = `${"vi"}.mock(`;

it.each([
  ["unit", 100],
  ["contract", 30],
  ["simulation", 50],
] as const)("no test of %s replaces a module", (project, least) => {
  const files = globSync(`test/${project}/**/*.ts`);
  expect(files.length).toBeGreaterThan(least);
  expect(files.filter((file) => readFileSync(file, "utf8").includes(CALL))).toEqual([]);
});
