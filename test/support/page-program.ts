// Where the browser is that pages are tested in: Debian's Chromium.
import { resolve } from "node:path";
import { firstProgram } from "../../scripts/program.ts";

const PLACES = ["chromium", resolve(import.meta.dirname, "../../.nodes/chromium/chromium.sh")];

/** The program, or undefined when there is none: CHROMIUM, else the PATH, else `.nodes` of this repository. */
export function chromiumProgram(): string | undefined {
  return firstProgram(process.env.CHROMIUM, PLACES);
}

/** Whether tests of pages are to run: without a browser they are skipped, but for CI, where they fail. */
export function isBrowserWanted(): boolean {
  return chromiumProgram() !== undefined || Boolean(process.env.CI);
}

/** How to install the browser if it is missing. */
export function howToInstallChromium(): string {
  return "no chromium here: npm run nodes:install brings it, or CHROMIUM may name one";
}
