// Newcomers run `npm test`. It leaves many tests to `npm run test:all`, but must not omit any feature or simulator entirely.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  AT_FULL_SIZE,
  filesOf,
  LEFT_OUT,
  LONGEST,
  QUICK_SIMULATORS,
  SHORT_SCHEDULES,
  SHORTENED,
  STORIES,
  workerStories,
} from "../selection.ts";

const PROJECTS = ["unit", "simulation", "worker", "contract", "chain", "upgrade", "browser"];

/** Folders of src/ whose subfolders are features. The tests of its rules cover `chains`; `lib` has no features, and `rates` is a single feature. */
const DISTRICTS = ["accounts", "app", "checkout", "commerce", "detection", "notifications", "platform"];

describe("the selection of npm test", () => {
  it("lists tests on workerd for each feature in src/, and for nothing else", () => {
    const features = DISTRICTS.flatMap((district) =>
      readdirSync(`src/${district}`, { withFileTypes: true })
        .filter((each) => each.isDirectory())
        .map(({ name }) => `${district}/${name}`),
    );
    expect(features.length).toBeGreaterThan(50);
    expect(Object.keys(STORIES).toSorted()).toEqual(features.toSorted());
  });

  it("lists only files that exist", () => {
    expect([...workerStories(), ...LEFT_OUT, ...LONGEST].filter((path) => !existsSync(path))).toEqual([]);
  });

  it("has a short schedule for every simulator", () => {
    const scenarios = globSync("test/simulation/**/*-scenario.ts").flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/^export (?:async )?function (\w+Scenario|historyOf)\(/gm)].map(
        ([, name = ""]) => name,
      ),
    );
    expect(scenarios.length).toBeGreaterThan(8);
    const schedules = readFileSync("test/simulation/engine/short-schedules.test.ts", "utf8");
    expect(scenarios.filter((name) => !new RegExp(`\\b${name}\\b`).test(schedules))).toEqual([]);
    const files = globSync("test/simulation/**/*.test.ts").filter((path) => path !== SHORT_SCHEDULES);
    const named = [...SHORTENED, ...QUICK_SIMULATORS, ...AT_FULL_SIZE].map((name) => `test/simulation/${name}.test.ts`);
    expect(named.toSorted()).toEqual(files.toSorted());
  });

  it("and the tests that CI runs after it contain every test file once", () => {
    const listed = (part: "selection" | "rest") =>
      PROJECTS.flatMap((project) => {
        const { include, exclude } = filesOf(project, part);
        const left = new Set(exclude.flatMap((pattern) => globSync(pattern)));
        return include.flatMap((pattern) => globSync(pattern)).filter((path) => !left.has(path));
      });
    const all = globSync("test/**/*.test.ts").filter((path) => PROJECTS.includes(path.split(/[\\/]/)[1] ?? ""));
    expect([...listed("selection"), ...listed("rest")].toSorted()).toEqual(all.toSorted());
  });
});
