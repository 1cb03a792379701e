import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { triesOf } from "../../support/property-runs.ts";

interface Weighed {
  readonly checksums: number;
}

test("the search for secrets computes at most the allowed number of checksums for any generated body of any route", () => {
  // A separate process, because the routes are loaded with a stand-in for the runtime. The deep suite tries each text in each member of a body.
  const quick = triesOf({ usual: 1, deep: 0 }) === 1 ? ["--quick"] : [];
  const lines = execFileSync(process.execPath, ["bench/weigh-bodies.ts", ...quick], { encoding: "utf8" });
  const routes: Weighed[] = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(routes.length).toBeGreaterThan(80);
  expect(Math.max(...routes.map(({ checksums }) => checksums))).toBe(LIMITS.checksumsPerBody);
  if (process.env.DEEP) process.stdout.write(lines);
});
