import { describe, expect, it } from "vitest";
import { type Coin, howToInstall, isInstalled } from "./core-node.ts";

/** Tests on a real node of this coin. Without one they fail in CI and are skipped elsewhere, with instructions to install it. */
export function describeOn(coin: Coin, tests: () => void): void {
  if (isInstalled(coin)) describe(`${coin}d`, tests);
  else {
    it.skipIf(!process.env.CI)(`a ${coin} node is installed for the tests (${howToInstall(coin)})`, () => {
      expect.fail(howToInstall(coin));
    });
  }
}
