import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { styleProblemsIn } from "../support/style-rules.ts";
import type { Sources } from "../support/syntax-tree.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Where the console claims a type that nothing shows to the compiler, and why. */
const CASTS: Readonly<Record<string, string>> = {
  "dashboard/src/api/call.ts": "An answer has the type that the API's document gives to its operation.",
  "dashboard/src/api/changed-fields.ts": "What differs of a body is a part of it, at any depth.",
  "dashboard/src/api/listed.ts":
    "The closed lists of the API are not in the console; the service refuses what they do not have.",
  "dashboard/src/router.tsx":
    "The router's spelling of a path is reckoned in types, which a replacement in a text does not follow.",
  "dashboard/src/sign-in/passkey.ts":
    "The document leaves room for further options, and the browser's types name all that there are.",
};

/** Written by `npm run client:generate`, and long. */
const GENERATED = ["dashboard/src/api/operations.ts"];

function dashboardSources(): Sources {
  const paths = readdirSync(join(ROOT, "dashboard"), { recursive: true, encoding: "utf8" })
    .map((path) => `dashboard/${path.replaceAll("\\", "/")}`)
    .filter((path) => /\.tsx?$/.test(path) && !path.includes("/node_modules/") && !GENERATED.includes(path));
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
}

describe("dashboard", () => {
  const sources = dashboardSources();

  it("has short files and functions, no any, no ! and no cast but those named", () => {
    expect(sources.size).toBeGreaterThan(200);
    expect(styleProblemsIn(sources, Object.keys(CASTS))).toEqual([]);
  });

  it("has a cast in each file that may have one", () => {
    const casting = styleProblemsIn(sources, []).map((problem) => problem.replace(/:.*/, ""));
    expect([...new Set(casting)].toSorted()).toEqual(Object.keys(CASTS).toSorted());
  });
});

const componentOf = (lines: number) => `export function A() {${"\n".repeat(lines - 2)}return <p />;\n}`;

describe("the check of style", () => {
  const problemsOf = (text: string, castsIn: readonly string[] = []) =>
    styleProblemsIn(new Map([["dashboard/src/x.tsx", text]]), castsIn);

  it.each([
    ["any", "export const a = (b: any) => <p>{b}</p>;"],
    ["a non-null assertion", "export const A = ({ a }: { a?: string }) => <p>{a!.length}</p>;"],
    ["a cast", "export const A = ({ a }: { a: unknown }) => <p>{a as string}</p>;"],
    ["a component of 61 lines", componentOf(61)],
    ["a file of 351 lines", "export const A = () => <p />;\n".repeat(351)],
  ])("refuses %s among elements", (_, text) => {
    expect(problemsOf(text)).toHaveLength(1);
  });

  it("allows a cast in a file that is named, as const anywhere, and what is as long as it may be", () => {
    expect(problemsOf("export const a = 1 as unknown;", ["dashboard/src/x.tsx"])).toEqual([]);
    expect(problemsOf("export const A = () => <p>{[1] as const}</p>;")).toEqual([]);
    expect(problemsOf(componentOf(60))).toEqual([]);
    expect(problemsOf("export const A = () => <p />;\n".repeat(350))).toEqual([]);
  });
});
