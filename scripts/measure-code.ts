// Measures the code base: `npm run measure`, or `npm run measure -- <folder>` for another checkout to compare. `npm run bench -- --only start`
// measures how long the Worker takes to start, compared with a baseline.
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { circlesIn, importsIn, longFunctionsIn, type Sources } from "../test/support/source-rules.ts";
import { MAX_FUNCTION_LINES } from "../test/support/style-rules.ts";
import { lineCount, parse, visit } from "../test/support/syntax-tree.ts";
import { featureOf, floorOf } from "./districts.ts";

const root = resolve(process.argv[2] ?? ".");
/** Areas other than the Worker; `src` is measured by district. */
const AREAS = ["dashboard", "client", "scripts", "bench", "test"] as const;

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
for (const [path, text] of sources) lines.set(entryOf(path), (lines.get(entryOf(path)) ?? 0) + lineCount(text));
const characters = [...sources.values()].reduce((sum, text) => sum + text.length, 0);
const total = [...lines.values()].reduce((sum, each) => sum + each, 0);
const long = longFunctionsIn(sources);

/** The handwritten files of an area with their texts. Generated files say so in their first line or name. */
function writtenIn(area: string): Sources {
  const files = globSync(`${area}/**/*.{ts,tsx,mjs}`, { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/node_modules|\/dist\/|\.generated\.|^test\/vectors/.test(path))
    .map((path) => [path, readFileSync(join(root, path), "utf8")] as const);
  return new Map(files.filter(([, text]) => !/^\/\/ (Written|Made|Generated) by/i.test(text)));
}

/** The length in lines of the longest function or method in the files. */
function longestIn(of: Sources): number {
  let longest = 0;
  for (const [path, text] of of)
    visit(parse(path, text), ({ type, start, end }) => {
      if (/Function/.test(type)) longest = Math.max(longest, lineCount(text.slice(start, Number(end))));
    });
  return longest;
}

/** The numbers in walks.md: for creating an invoice, and for a payment. */
function walksOf(): readonly (readonly [string, string])[] {
  const page = readFileSync(join(root, "docs/design/walks.md"), "utf8");
  const figures = [...page.matchAll(/(\d+) files(?: \(at most \d+\))? in (\d+) folders/g)];
  return ["a create", "a payment"].map((walk, at) => [
    `${walk} visits`,
    `${figures[at]?.[1] ?? "?"} files in ${figures[at]?.[2] ?? "?"} folders`,
  ]);
}

const areas = AREAS.map((area) => [area, writtenIn(area)] as const);
process.chdir(root);
// Uses the program of that checkout, which knows how its Worker is built.
const { bundleWorker }: typeof import("../bench/bundle.ts") = await import(join(root, "bench/bundle.ts"));
const { gzipBytes } = await bundleWorker({ file: "src/app/worker.ts" });

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
  ...walksOf(),
  ["bytes of the bundle, minified and gzipped", gzipBytes],
  ...[...lines].sort(([, a], [, b]) => b - a).map(([name, count]) => [`lines of ${name}`, count] as const),
  ...areas.map(
    ([area, of]) => [`lines of ${area}/`, [...of.values()].reduce((sum, text) => sum + lineCount(text), 0)] as const,
  ),
  ["longest function of src", longestIn(sources)],
  ...areas.map(([area, of]) => [`longest function of ${area}/`, longestIn(of)] as const),
];
for (const [what, figure] of rows) console.log(`${what.padEnd(42)} ${figure}`);
for (const each of long) console.log(`  ${each}`);
