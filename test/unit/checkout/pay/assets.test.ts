import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { SCRIPT, SCRIPT_PATH, STYLE } from "../../../../src/checkout/pay/assets.generated.ts";

/** Uncompressed; a page's whole first view is 30 KB on the wire. */
const MOST_SCRIPT_BYTES = 12 * 1_024;

describe("src/checkout/pay/assets.generated.ts", () => {
  it("is what its sources say", () => {
    const { stderr, status } = spawnSync(process.execPath, ["scripts/build-checkout-assets.ts", "--check"], {
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });

  it(`has a script of at most ${MOST_SCRIPT_BYTES} bytes, named by its content`, () => {
    // One without its modules would be small for the wrong reason.
    for (const word of ["eip6963:requestProvider", "data-deadline", "data-copy", "pollSeconds", "data-return-url"])
      expect(SCRIPT).toContain(word);
    expect(new TextEncoder().encode(SCRIPT).length).toBeLessThanOrEqual(MOST_SCRIPT_BYTES);
    expect(SCRIPT_PATH).toMatch(/^\/assets\/checkout-[0-9a-f]{16}\.js$/);
  });

  it("keeps nothing in the browser, makes no markup of texts, runs no text, and names no other place", () => {
    expect(SCRIPT).not.toMatch(/innerHTML|outerHTML=|insertAdjacent|document\.write|\beval\b|new Function/);
    expect(SCRIPT).not.toMatch(/localStorage|sessionStorage|indexedDB|cookie|sendBeacon|serviceWorker/);
    expect(SCRIPT).not.toMatch(/https?:|["'`]\/\//i);
    expect(STYLE).not.toMatch(/:\/\/|@import|url\(/i);
  });
});
