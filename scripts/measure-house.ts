// Measures the code base: `npm run house`, or `npm run house -- <folder>` for another checkout to compare with.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { circlesIn, importsIn } from "../test/support/source-rules.ts";
import { longFunctionsIn, MAX_FUNCTION_LINES } from "../test/support/style-rules.ts";
import type { Sources } from "../test/support/syntax-tree.ts";
import { featureOf, floorOf } from "./districts.ts";

const root = process.argv[2] ?? ".";
const paths = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((path) => `src/${path.replaceAll("\\", "/")}`)
  .filter((path) => /\.(ts|tsx)$/.test(path) && !/\.d\.ts$|\.generated\.ts$/.test(path));
const sources: Sources = new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
const targets = importsIn(sources);
const entryOf = (path: string) => path.split("/")[1] ?? "";
const pairs = [...targets].flatMap(([path, all]) => all.map((target) => [path, target] as const));

const arrows = new Map<string, string[]>();
for (const [path, target] of pairs) {
  if (entryOf(path) !== entryOf(target))
    arrows.set(entryOf(path), [...(arrows.get(entryOf(path)) ?? []), entryOf(target)]);
}
const featureArrows = new Map<string, Set<string>>(paths.map((path) => [featureOf(path), new Set()]));
for (const [path, target] of pairs) {
  if (featureOf(path) !== featureOf(target)) featureArrows.get(featureOf(path))?.add(featureOf(target));
}
const featureKnots = circlesIn(new Map([...featureArrows].map(([name, below]) => [name, [...below]])));
const mutual = [...featureArrows].flatMap(([name, below]) =>
  [...below].filter((other) => name < other && featureArrows.get(other)?.has(name)),
);
const knots = circlesIn(arrows).map(({ length }) => length);
const upward = pairs.filter(([path, target]) => (floorOf(path) ?? 0) > (floorOf(target) ?? Number.POSITIVE_INFINITY));
const lines = new Map<string, number>();
for (const [path, text] of sources)
  lines.set(entryOf(path), (lines.get(entryOf(path)) ?? 0) + text.replace(/\n$/, "").split("\n").length);
const characters = [...sources.values()].reduce((sum, text) => sum + text.length, 0);
const total = [...lines.values()].reduce((sum, each) => sum + each, 0);
const long = longFunctionsIn(sources);

const rows: readonly (readonly [string, string | number])[] = [
  ["entries in src", readdirSync(join(root, "src")).length],
  ["files", sources.size],
  ["lines", total],
  ["characters a line", (characters / total).toFixed(1)],
  ["imports between files", pairs.length],
  ["imports against the order of districts", upward.length],
  ["entries in a knot of imports", knots.length === 0 ? "none" : knots.join(", ")],
  ["features", featureArrows.size],
  ["arrows between features", [...featureArrows.values()].reduce((sum, below) => sum + below.size, 0)],
  [
    "features in a knot of imports",
    featureKnots.flat().length === 0 ? "none" : featureKnots.map((each) => each.length).join(", "),
  ],
  ["pairs of features that import each other", mutual.length],
  ["circles between files, types included", circlesIn(targets).length],
  [`functions of more than ${MAX_FUNCTION_LINES} lines`, long.length],
  ...[...lines].sort(([, a], [, b]) => b - a).map(([name, count]) => [`lines of ${name}`, count] as const),
];
for (const [what, figure] of rows) console.log(`${what.padEnd(42)} ${figure}`);
for (const each of long) console.log(`  ${each}`);
