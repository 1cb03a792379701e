// The files of these projects share loaded modules (vitest.config.ts), so a mocked module would affect other files, depending on their order.
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const CALL = `${"vi"}.mock(`;

it.each([
  ["unit", 100],
  ["contract", 30],
  ["simulation", 50],
] as const)("no %s test mocks a module", (project, least) => {
  const files = globSync(`test/${project}/**/*.ts`);
  expect(files.length).toBeGreaterThan(least);
  expect(files.filter((file) => readFileSync(file, "utf8").includes(CALL))).toEqual([]);
});
