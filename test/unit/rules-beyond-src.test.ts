// Applies to all other files the rules of length and style that `import-rules.test.ts` applies to `src`.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Leaves, styleProblemsIn } from "../support/style-rules.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The handwritten files of each area. `but` excludes files that are generated, installed, or subject to other rules. */
const AREAS: readonly { readonly files: string; readonly but?: RegExp }[] = [
  { files: "scripts/**/*.{ts,mjs}" },
  { files: "bench/**/*.ts" },
  { files: "client/**/*.{ts,mjs}", but: /^client\/(api-types\.ts|dist\/|node_modules\/)/ },
  { files: "dashboard/**/*.{ts,tsx}", but: /node_modules\/|^dashboard\/src\/api\/operations\.ts$/ },
  { files: "docs/examples/**/*.{ts,js}", but: /\/(node_modules|\.next|\.wrangler)\// },
  { files: "test/support/**/*.{ts,mjs}" },
  { files: "test/twin/**/*.ts" },
  { files: "*.config.ts" },
];

const LEAVES: Leaves = {
  "scripts/demo-story/shop.ts": {
    casts: 1,
    why: "a caller names the answer as it is documented; that answers are so is for the contract tests",
  },
  "scripts/deploy/wrangler-command.ts": {
    casts: 1,
    why: "to types, every process has the Worker's variables in its environment",
  },
  "dashboard/src/api/call.ts": {
    casts: 1,
    why: "an answer has the type that the API's document gives to its operation",
  },
  "dashboard/src/api/changed-fields.ts": { casts: 1, why: "what differs of a body is a part of it, at any depth" },
  "dashboard/src/api/listed.ts": {
    casts: 1,
    why: "the closed lists of the API are not in the console; the service refuses what they do not have",
  },
  "dashboard/src/router.tsx": {
    casts: 1,
    why: "the router's spelling of a path is reckoned in types, which a replacement in a text does not follow",
  },
  "dashboard/src/sign-in/passkey.ts": {
    casts: 2,
    why: "the document leaves room for further options, and the browser's types name all that there are",
  },
  "docs/examples/shops/express/orders.ts": { casts: 1, why: "a row of the table that the shop made, in a guide" },
  "docs/examples/shops/hono/orders.ts": { casts: 1, why: "a row of the table that the shop made, in a guide" },
  "test/support/access.ts": { casts: 1, why: "properties of a request that no runtime would give it" },
  "test/support/stand-ins.ts": { casts: 1, why: "stand-ins of what only the platform makes: the one place for them" },
  "test/support/market-shop.ts": { claims: 1, why: "what an answer holds is what the test claims" },
  "test/support/worker-merchant.ts": { claims: 1, why: "what an answer holds is what the test claims" },
};

function pathsOf({ files, but }: (typeof AREAS)[number]): readonly string[] {
  return globSync(files, { cwd: ROOT })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => but?.test(path) !== true);
}

describe("outside src", () => {
  it.each(AREAS)("$files follows the rules of length and style", (area) => {
    const paths = pathsOf(area);
    expect(paths).not.toEqual([]);
    const sources = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
    expect(styleProblemsIn(sources, LEAVES)).toEqual([]);
  });

  it("few files have exceptions, and all of these files exist", () => {
    const known = new Set(AREAS.flatMap(pathsOf));
    expect(Object.keys(LEAVES).filter((path) => !known.has(path))).toEqual([]);
    expect(Object.keys(LEAVES).length).toBeLessThan(15);
  });
});

describe("the check of length and style", () => {
  const PATH = "scripts/x.ts";
  const problemsOf = (text: string, leaves: Leaves = {}, path = PATH) =>
    styleProblemsIn(new Map([[path, text]]), leaves);

  it.each([
    ["a function of 61 lines", `export function f() {${"\n".repeat(60)}}`, 1],
    ["a function of 61 lines within another", `export function f() {\n(() => {${"\n".repeat(60)}})(); }`, 2],
    ["a method of 61 lines", `export class A { f() {${"\n".repeat(60)}} }`, 1],
    ["a file of 351 lines", "export const a = 1;\n".repeat(351), 1],
    ["a cast", "export const a = 1 as unknown;", 1],
    ["a cast through unknown, which counts as two", "export const a = 1 as unknown as string;", 2],
    ["a cast in angle brackets", "export const a = <unknown>1;", 1],
    ["any", "export const a: any = 1;", 1],
    ["any in a type", "export type A = readonly any[];", 1],
    ["a non-null assertion", "export const f = (a?: string) => a!.length;", 1],
    ["a definite assignment assertion", "export function f() { let a!: string; return a; }", 1],
  ])("finds %s", (_, text, count) => {
    expect(problemsOf(text)).toHaveLength(count);
    for (const problem of problemsOf(text)) expect(problem).toMatch(/^scripts\/x\.ts:\d+: /);
  });

  it.each([
    ["as const, and names with as", 'import { a as b } from "./y.ts";\nexport const c = [b] as const;', PATH],
    ["forbidden words in comments and texts", '// as any!\nexport const a = "x as any";', PATH],
    ["a function of 60 lines", `export function f() {${"\n".repeat(59)}}`, PATH],
    ["a file of 350 lines", "export const a = 1;\n".repeat(350), PATH],
    ["JSX in JavaScript", "export const a = () => <p>1</p>;", "docs/examples/x.js"],
  ])("accepts %s", (_, text, path) => {
    expect(problemsOf(text, {}, path)).toEqual([]);
  });

  it("requires exactly the number of casts and other unchecked types that a file is allowed", () => {
    const cast = "export const a = 1 as unknown;\n";
    const leave = (casts: number, claims: number) => ({ [PATH]: { casts, claims, why: "to see" } });
    expect(problemsOf(cast, leave(1, 0))).toEqual([]);
    expect(problemsOf(cast + cast, leave(1, 0))).toEqual([
      "scripts/x.ts:1: casts with as",
      "scripts/x.ts:2: casts with as",
    ]);
    expect(problemsOf(cast, leave(2, 0))).toEqual(["scripts/x.ts:1: is allowed 2 casts, but has 1"]);
    expect(problemsOf("export const a: any = 1;", leave(0, 1))).toEqual([]);
    expect(problemsOf("export const a: any = 1;", leave(1, 0))).toHaveLength(2);
  });
});
