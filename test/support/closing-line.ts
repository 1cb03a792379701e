import type { Reporter, TestModule } from "vitest/node";

/** Prints what CI reads: `N passed, N failed, N skipped` over all projects, as the last line of the run. */
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
    process.on("exit", () => console.log(`${count("passed")} passed, ${failed} failed, ${count("skipped")} skipped`));
  }
}
