// Finds a program on this machine that no npm package provides, for tests and for the demo.
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * The first existing program: `named` if it is not empty, else the first of `places`; undefined if none exists. A name without a path is searched
 * on the PATH.
 */
export function firstProgram(named: string | undefined, places: readonly string[]): string | undefined {
  return (named === undefined || named === "" ? places : [named]).map(programAt).find((path) => path !== undefined);
}

function programAt(place: string): string | undefined {
  if (isAbsolute(place) || place.includes("/")) return existsSync(place) ? place : undefined;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, place)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
