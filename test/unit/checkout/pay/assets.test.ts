import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { checkoutAssets } from "../../../../scripts/checkout-assets.ts";

const { script, style, scriptPath } = await checkoutAssets();
/** The limit for the uncompressed script. weight.test.ts measures a whole first view, compressed. */
const MOST_SCRIPT_BYTES = 13 * 1_024;

describe("the script and the style of the checkout", () => {
  it("are those that the Worker serves", () => {
    const { stderr, status } = spawnSync(process.execPath, ["scripts/checkout-assets.ts", "--check"], {
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });

  it(`include a script of at most ${MOST_SCRIPT_BYTES} bytes, whose name contains a hash`, () => {
    // A script without its modules would be small enough, but broken.
    for (const word of ["eip6963:requestProvider", "data-deadline", "data-copy", "pollSeconds", "data-return-url"])
      expect(script).toContain(word);
    expect(new TextEncoder().encode(script).length).toBeLessThanOrEqual(MOST_SCRIPT_BYTES);
    expect(scriptPath).toMatch(/^\/assets\/checkout-[0-9a-f]{16}\.js$/);
  });

  it("store nothing in the browser, write no HTML from texts, evaluate no text, and contain no URL of another origin", () => {
    expect(script).not.toMatch(/innerHTML|outerHTML=|insertAdjacent|document\.write|\beval\b|new Function/);
    expect(script).not.toMatch(/localStorage|sessionStorage|indexedDB|cookie|sendBeacon|serviceWorker/);
    expect(script).not.toMatch(/https?:|["'`]\/\//i);
    expect(style).not.toMatch(/:\/\/|@import|url\(/i);
  });
});
