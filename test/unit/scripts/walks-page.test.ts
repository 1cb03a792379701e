import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { beyondBound, foldersIn, WALK_BOUNDS } from "../../../scripts/walks/measure.ts";

test("the two walks in the docs are what `npm run docs:walks` writes", () => {
  // This needs a separate process, because it records the code that runs from the first import of a file of src.
  const check = () => execFileSync(process.execPath, ["scripts/write-walks.ts", "--check"], { encoding: "utf8" });
  expect(check()).toBe("");
});

test("no walk visits more files or folders than its limit", () => {
  const text = readFileSync("docs/design/walks.md", "utf8");
  const figures = [...text.matchAll(/\*\*(\d+) files \(at most \d+\) in (\d+) folders/g)];
  const [create, payment] = figures.map(([, files, folders]) => ({ files: Number(files), folders: Number(folders) }));
  if (create === undefined || payment === undefined) throw new Error("walks.md has no figures");
  expect(beyondBound("a create", create, WALK_BOUNDS.create)).toEqual([]);
  expect(beyondBound("a payment", payment, WALK_BOUNDS.payment)).toEqual([]);
});

test("a walk that visits more files or folders than its limit is detected", () => {
  const trace = ["src/a/x.ts", "src/a/y.ts", "src/a/x.ts", "src/b/c/z.ts"].map((file) => ({ file, name: "f" }));
  expect([...foldersIn(trace)]).toEqual([
    ["a", 2],
    ["b/c", 1],
  ]);
  const bound = { files: 2, folders: 1 };
  expect(beyondBound("a create", { files: 3, folders: 2 }, bound)).toEqual([
    "a create visits 3 files, more than 2",
    "a create visits 2 folders, more than 1",
  ]);
  expect(beyondBound("a create", bound, bound)).toEqual([]);
});
