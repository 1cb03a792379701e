import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test("the two walks in the docs are what `npm run docs:walks` writes", () => {
  // In its own process, because it records what runs from the first import of a file of src.
  const check = () => execFileSync(process.execPath, ["scripts/write-walks.ts", "--check"], { encoding: "utf8" });
  expect(check()).toBe("");
});
