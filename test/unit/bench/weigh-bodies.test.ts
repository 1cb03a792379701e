import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { triesOf } from "../../support/property-runs.ts";

interface Weighed {
  readonly checksums: number;
}

test("no generated body of any route makes its search compute more checksums than allowed", () => {
  // In its own process, because the routes are loaded with a stand-in for the runtime. The deep suite tries each body in each member of each route.
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
