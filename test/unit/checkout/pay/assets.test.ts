import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { checkoutAssets } from "../../../../scripts/checkout-assets.ts";

const { script, style, scriptPath } = await checkoutAssets();
/** Uncompressed. What a whole first view weighs on the wire, weight.test.ts says. */
const MOST_SCRIPT_BYTES = 13 * 1_024;

describe("the script and the style of the checkout", () => {
  it("are the ones that the Worker serves", () => {
    const { stderr, status } = spawnSync(process.execPath, ["scripts/checkout-assets.ts", "--check"], {
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });

  it(`have a script of at most ${MOST_SCRIPT_BYTES} bytes, named by its content`, () => {
    // A script without its modules would be small for the wrong reason.
    for (const word of ["eip6963:requestProvider", "data-deadline", "data-copy", "pollSeconds", "data-return-url"])
      expect(script).toContain(word);
    expect(new TextEncoder().encode(script).length).toBeLessThanOrEqual(MOST_SCRIPT_BYTES);
    expect(scriptPath).toMatch(/^\/assets\/checkout-[0-9a-f]{16}\.js$/);
  });

  it("store nothing in the browser, write no HTML from texts, evaluate no text, and contain no other address", () => {
    expect(script).not.toMatch(/innerHTML|outerHTML=|insertAdjacent|document\.write|\beval\b|new Function/);
    expect(script).not.toMatch(/localStorage|sessionStorage|indexedDB|cookie|sendBeacon|serviceWorker/);
    expect(script).not.toMatch(/https?:|["'`]\/\//i);
    expect(style).not.toMatch(/:\/\/|@import|url\(/i);
  });
});
