// A file must export only what other files use.
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { unusedExports } from "../support/unused-exports.ts";

/** Exports that are used without an import in our files. */
const ELSEWHERE: readonly string[] = [
  // Imported by a file that a benchmark generates.
  "bench/counted-database.ts: counted",
  // Replaces `cloudflare:workers` when a simulation campaign runs the objects.
  "test/simulation/engine/workers-runtime.ts: DurableObject",
  // Replaces src/lib/hmac.ts in simulation campaigns.
  "test/simulation/engine/scheduled-hmac.ts: hmacSha256",
];

const FOLDERS = ["src/", "dashboard/", "client/scripts", "client/testing", "scripts/", "bench/", "test/"];

it("every export is imported by another file", () => {
  const files = globSync("{{src,client,dashboard,scripts,bench,docs,test}/**/*.{ts,tsx},*.ts}")
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/node_modules|\/dist\/|^test\/vectors/.test(path));
  const sources = new Map(files.map((path) => [path, readFileSync(path, "utf8")]));
  expect(sources.size).toBeGreaterThan(2_000);
  const found = unusedExports(sources, FOLDERS);
  expect(found.filter((each) => !ELSEWHERE.includes(each))).toEqual([]);
});

it("an unused export of any kind is found", () => {
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
  expect(unusedExports(sources, ["src/"])).toEqual(["src/a.ts: dead", "src/a.ts: Own"]);
});
