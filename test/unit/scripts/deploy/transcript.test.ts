import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test("the transcript in the docs is what `npm run docs:deploy` writes", () => {
  const check = () =>
    execFileSync(process.execPath, ["scripts/write-deploy-transcript.ts", "--check"], { encoding: "utf8" });
  expect(check()).toBe("");
});
