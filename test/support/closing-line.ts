import type { Reporter, TestModule } from "vitest/node";

/** Prints what CI reads, over all projects, as the last line of the run: `N passed, N failed`, and `, N skipped` when a test was. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    const count = (state: string) => states.filter((each) => each === state).length;
    // A file that failed to load has no failed test, and an unhandled error belongs to none: each counts as one failure.
    const broken = modules.filter(
      (module) =>
        module.state() === "failed" &&
        ![...module.children.allTests()].some((test) => test.result().state === "failed"),
    );
    const failed = count("failed") + broken.length + errors.length;
    const line = `${count("passed")} passed, ${failed} failed`;
    const skipped = count("skipped");
    process.on("exit", () => console.log(skipped === 0 ? line : `${line}, ${skipped} skipped`));
  }
}
