// Where the browser is that pages are tested in: Debian's Chromium.
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

const PLACES = ["chromium", resolve(import.meta.dirname, "../../.nodes/chromium/chromium.sh")];

/** The program, or undefined when there is none: CHROMIUM, else the PATH, else `.nodes` of this repository. */
export function chromiumProgram(): string | undefined {
  const named = process.env.CHROMIUM;
  return (named === undefined || named === "" ? PLACES : [named]).map(programAt).find((path) => path !== undefined);
}

/** Whether tests of pages are to run: without a browser they are skipped, but for CI, where they fail. */
export function isBrowserWanted(): boolean {
  return chromiumProgram() !== undefined || Boolean(process.env.CI);
}

/** For whom it is missing. */
export function howToInstallChromium(): string {
  return "no chromium here: npm run nodes:install brings it, or CHROMIUM may name one";
}

function programAt(command: string): string | undefined {
  if (isAbsolute(command)) return existsSync(command) ? command : undefined;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, command)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
