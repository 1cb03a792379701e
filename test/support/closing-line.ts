import type { Reporter, TestModule } from "vitest/node";
import { howToInstall, isInstalled } from "./core-node.ts";

/**
 * Prints what CI reads, over all projects, as the last line of the run: `N passed, N failed`, and `, N skipped` when a test was. Before it
 * stands which node was missing, where tests on real chains were skipped.
 */
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
    const missing = modules.some(isSkippedOnChain) ? NODES.filter((node) => !isInstalled(node)) : [];
    process.on("exit", () => {
      for (const node of missing) console.log(`Tests were skipped: ${howToInstall(node)}.`);
      console.log(skipped === 0 ? line : `${line}, ${skipped} skipped`);
    });
  }
}

const NODES = ["bitcoin", "litecoin"] as const;

function isSkippedOnChain(module: TestModule): boolean {
  const tests = [...module.children.allTests()];
  return module.project.name === "chain" && tests.some((test) => test.result().state === "skipped");
}
