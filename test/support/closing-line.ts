import { existsSync, readFileSync } from "node:fs";
import type { TestError } from "vitest";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { REASON_FILE } from "../../scripts/bring-nodes.ts";
import { firstProgram } from "../../scripts/program.ts";
import { programOf, SHOPS } from "../chain/guides/shops.ts";
import { isInstalled } from "./core-node.ts";
import { isExampleTested } from "./example-receiver.ts";
import { chromiumProgram } from "./page-program.ts";

/**
 * Prints what CI reads, over all projects, as the last line of the run: `N passed, N failed`, and `, N skipped` if tests were skipped. The line
 * before it lists the programs that were missing for the skipped tests, and why they could not be installed. Failures are listed before both, one
 * line each with the command that reruns it, for readers who see only the end of a long log. A failing test is also reported immediately, with the
 * start of its error, because a killed run prints no summary.
 */
export default class ClosingLine implements Reporter {
  onTestCaseResult(test: TestCase): void {
    if (test.result().state === "failed") console.log(failureNow(test));
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    const count = (state: string) => states.filter((each) => each === state).length;
    // A file that failed to load has no failed test, and an unhandled error belongs to no test: each counts as one failure.
    const broken = modules.filter(
      (module) =>
        module.state() === "failed" &&
        ![...module.children.allTests()].some((test) => test.result().state === "failed"),
    );
    const failed = count("failed") + broken.length + errors.length;
    const failures = failureLines(modules, broken, errors);
    const line = `${count("passed")} passed, ${failed} failed`;
    const skipped = count("skipped");
    const projects = new Set(modules.filter(hasSkipped).map(({ project }) => project.name));
    const missing = PROGRAMS.filter((each) => each.projects.some((name) => projects.has(name)) && !each.isThere());
    process.on("exit", () => {
      for (const each of failures) console.log(each);
      if (missing.length > 0) console.log(skippedLine([...new Set(missing.map(({ name }) => name))]));
      console.log(skipped === 0 ? line : `${line}, ${skipped} skipped`);
    });
  }
}

/** One line per failure: the file, the test's full name, the start of its error, and the line it came from. */
function failureLines(
  modules: readonly TestModule[],
  broken: readonly TestModule[],
  errors: readonly unknown[],
): string[] {
  const tests = modules.flatMap((module) =>
    [...module.children.allTests("failed")].map((test) => {
      const [error] = test.result().errors ?? [];
      const again = againLine({ project: module.project.name, file: module.relativeModuleId, test: test.name, error });
      return `${failedLine(test)}\n${again}`;
    }),
  );
  return [
    ...tests,
    ...broken.map((module) => failureLine(module.relativeModuleId, module.errors()[0])),
    ...errors.map((error) => failureLine("outside a test", error)),
  ];
}

function failedLine(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return failureLine(`${test.module.relativeModuleId} > ${test.fullName}`, error, test.module.moduleId);
}

/** How many lines of an error are reported immediately. */
const TOLD_LINES = 30;

function failureNow(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  const [, ...more] = `${messageOf(error)}\n${error?.diff ?? ""}`.trimEnd().split("\n", TOLD_LINES);
  return [failedLine(test), ...more.map((line) => `  ${line}`)].join("\n");
}

/** The command that reruns a failed test; for a property it starts with the failing seed (repeat-property.ts). */
export function againLine(of: {
  readonly project: string;
  readonly file: string;
  readonly test: string;
  readonly error: unknown;
}): string {
  const [, seed] = /^\{ seed: (-?\d+), path: /m.exec(messageOf(of.error)) ?? [];
  const repeated = seed === undefined ? "" : `PROPERTY_SEED=${seed} `;
  const vitest = process.platform === "win32" ? "npx vitest" : "node_modules/.bin/node node_modules/.bin/vitest";
  return `  Again: ${repeated}${vitest} run --project ${of.project} ${of.file} -t ${quoted(patternOf(of.test))}`;
}

/** vitest takes a regular expression that may match any part of a name. */
function patternOf(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function messageOf(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}

function failureLine(where: string, error: unknown, file?: string): string {
  // An error from another process has no prototype: it is not an instance of Object and cannot be converted to text.
  const facts: Partial<TestError> = typeof error === "object" && error !== null ? error : {};
  const line = facts.stacks?.find((each) => each.file === file)?.line;
  const message = messageOf(error).split("\n", 1)[0]?.slice(0, 300);
  return `Failed: ${where}: ${message}${line === undefined ? "" : ` (line ${line})`}`;
}

/** Programs without which tests of these projects are skipped. */
const PROGRAMS: readonly {
  readonly name: string;
  readonly projects: readonly string[];
  readonly isThere: () => boolean;
}[] = [
  { name: "bitcoind", projects: ["chain"], isThere: () => isInstalled("bitcoin") },
  { name: "litecoind", projects: ["chain"], isThere: () => isInstalled("litecoin") },
  { name: "chromium", projects: ["browser"], isThere: () => chromiumProgram() !== undefined },
  { name: "python3", projects: ["unit", "contract"], isThere: () => isExampleTested("Python") },
  { name: "curl", projects: ["contract"], isThere: () => firstProgram(undefined, ["curl"]) !== undefined },
  // Programs for the shops in the guides.
  ...SHOPS.flatMap((shop) =>
    shop.program === undefined
      ? []
      : [{ name: shop.program, projects: ["chain"], isThere: () => programOf(shop) !== undefined }],
  ),
];

function skippedLine(missing: readonly string[]): string {
  const reason = existsSync(REASON_FILE) ? readFileSync(REASON_FILE, "utf8") : "npm run nodes:install was not run";
  return `Skipped: tests that need ${missing.join(", ")} (${reason}; CONTRIBUTING.md "Test").`;
}

function hasSkipped(module: TestModule): boolean {
  return [...module.children.allTests()].some((test) => test.result().state === "skipped");
}
