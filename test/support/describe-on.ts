import { describe, expect, it } from "vitest";
import { type Coin, howToInstall, isInstalled } from "./core-node.ts";

/** A group of tests on a real node of this coin. If the node is not installed, they fail in CI, and are skipped elsewhere with instructions. */
export function describeOn(coin: Coin, tests: () => void): void {
  if (isInstalled(coin)) describe(`${coin}d`, tests);
  else {
    it.skipIf(!process.env.CI)(`a ${coin} node is installed for the tests (${howToInstall(coin)})`, () => {
      expect.fail(howToInstall(coin));
    });
  }
}
