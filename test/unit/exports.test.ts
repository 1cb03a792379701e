// A file exports what others use, and nothing else.
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { unusedExports } from "../support/unused-exports.ts";

/** Used by what is no import: the class that workerd finds by the name of a binding in a test's configuration. */
const FOUND_BY_NAME: readonly string[] = [];

const FOLDERS = ["src/", "dashboard/", "client/scripts", "client/testing", "scripts/", "bench/", "test/"];

it("nothing is exported that no other file imports", () => {
  const files = globSync("{src,client,dashboard,scripts,bench,docs,test}/**/*.{ts,tsx}")
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/node_modules|\/dist\//.test(path));
  const sources = new Map(files.map((path) => [path, readFileSync(path, "utf8")]));
  expect(sources.size).toBeGreaterThan(2_000);
  const found = FOLDERS.flatMap((folder) => unusedExports(sources, folder));
  expect(found.filter((each) => !FOUND_BY_NAME.includes(each))).toEqual([]);
});

it("an export that nobody imports is found, whatever it is", () => {
  const sources = new Map([
    [
      "src/a.ts",
      "export const used = 1;\nexport function dead() {}\nexport interface Own {}\nexport type { Own as Theirs };\nexport class Named {}",
    ],
    ["src/b.ts", 'import { used } from "./a.ts";\nexport const b = used;'],
    ["src/c.ts", "export const whole = 1;"],
    [
      "test/d.ts",
      'import * as all from "../src/c.ts";\nexport { Named as Other } from "../src/a.ts";\nconsole.log(all);',
    ],
    ["test/e.ts", 'const later = () => import("../src/b.ts");'],
  ]);
  expect(unusedExports(sources, "src/")).toEqual(["src/a.ts: dead", "src/a.ts: Own"]);
});
