import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test("the two walks are as `npm run docs:walks` finds them", () => {
  // In a process of its own, because it notes what runs from the first import of a file of src on.
  const check = () => execFileSync(process.execPath, ["scripts/write-walks.ts", "--check"], { encoding: "utf8" });
  expect(check()).toBe("");
});
