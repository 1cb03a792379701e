// Finds the browser for page tests: Debian's Chromium.
import { resolve } from "node:path";
import { firstProgram } from "../../scripts/program.ts";

const PLACES = ["chromium", resolve(import.meta.dirname, "../../.nodes/chromium/chromium.sh")];

/** The browser's path, or undefined if none is installed: CHROMIUM, else the PATH, else this repository's `.nodes`. */
export function chromiumProgram(): string | undefined {
  return firstProgram(process.env.CHROMIUM, PLACES);
}

/** Whether page tests run: without a browser they are skipped, except in CI, where they fail. */
export function isBrowserWanted(): boolean {
  return chromiumProgram() !== undefined || Boolean(process.env.CI);
}

/** How to install the browser if it is missing. */
export function howToInstallChromium(): string {
  return "no chromium here: npm run nodes:install brings it, or CHROMIUM may name one";
}
