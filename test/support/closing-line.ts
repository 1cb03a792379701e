import type { Reporter, TestModule } from "vitest/node";
import { howToInstall, isInstalled } from "./core-node.ts";
import { chromiumProgram, howToInstallChromium } from "./page-program.ts";

/**
 * Prints what CI reads, over all projects, as the last line of the run: `N passed, N failed`, and `, N skipped` when a test was. Before it
 * stands what was missing, where tests on real chains or in a browser were skipped.
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
    const isSkipping = (project: string) =>
      modules.some((module) => module.project.name === project && hasSkipped(module));
    const missing = isSkipping("chain") ? NODES.filter((node) => !isInstalled(node)).map(howToInstall) : [];
    if (isSkipping("browser") && chromiumProgram() === undefined) missing.push(howToInstallChromium());
    process.on("exit", () => {
      for (const sentence of missing) console.log(`Tests were skipped: ${sentence}.`);
      console.log(skipped === 0 ? line : `${line}, ${skipped} skipped`);
    });
  }
}

const NODES = ["bitcoin", "litecoin"] as const;

function hasSkipped(module: TestModule): boolean {
  return [...module.children.allTests()].some((test) => test.result().state === "skipped");
}
