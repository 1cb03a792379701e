// `npm run test:quick`, for use while programming: runs the rules of the repository, and the unit tests affected by changes since main. Random
// tests run a tenth as often as in `npm test`, so that even a change that affects all of them takes a minute.
import { execFileSync } from "node:child_process";
import { relative, resolve } from "node:path";
import { createVitest, type TestSpecification } from "vitest/node";

/** Tests of the repository as a whole, which read files that they do not import. */
const RULES = /^test\/unit\/(docs\/)?[^/]+\.test\.ts$/;

process.env.QUICK = "1";
const base = lastCommitOfMain();
const vitest = await createVitest("test", {
  project: ["unit"],
  changed: base,
  // A change to package.json or to vitest's configuration affects every test, but only `npm test` runs them all.
  forceRerunTriggers: [],
  reporters: ["default", "./test/support/closing-line.ts"],
  watch: false,
});
try {
  await vitest.standalone();
  const all = await vitest.globTestSpecifications();
  const reached = new Set((await vitest.getRelevantTestSpecifications()).map(pathOf));
  const rules = all.filter((each) => RULES.test(pathOf(each)));
  const wanted = all.filter((each) => reached.has(pathOf(each)) || rules.includes(each));
  console.log(
    `${rules.length} files of rules and ${wanted.length - rules.length} of ${all.length - rules.length} other unit test files,`,
    `which the change since ${base.slice(0, 7)} reaches`,
  );
  await vitest.runTestSpecifications(wanted);
} finally {
  await vitest.close();
}

/** The commit where the working branch started; HEAD if there is no main, so that only uncommitted changes count. */
function lastCommitOfMain(): string {
  for (const main of ["origin/main", "main"]) {
    try {
      return git("merge-base", "HEAD", main);
    } catch {
      // There is no branch of this name.
    }
  }
  return git("rev-parse", "HEAD");
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

function pathOf({ moduleId }: TestSpecification): string {
  return relative(resolve(import.meta.dirname, ".."), moduleId).replaceAll("\\", "/");
}
