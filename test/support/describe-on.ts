import { describe, expect, it } from "vitest";
import { type Coin, howToInstall, isInstalled } from "./core-node.ts";

/** Tests on a real node of this coin. Where there is none, a failure under CI, and elsewhere a skipped test that says how to install it. */
export function describeOn(coin: Coin, tests: () => void): void {
  if (isInstalled(coin)) describe(`${coin}d`, tests);
  else {
    it.skipIf(!process.env.CI)(`a ${coin} node is there to test with (${howToInstall(coin)})`, () => {
      expect.fail(howToInstall(coin));
    });
  }
}
