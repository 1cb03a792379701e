// Packages that the Worker replaces by a module of its own: read from wrangler.toml, so that tests and benchmarks run what is deployed.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const SECTION = /^\[alias\]\n((?:"[^"\n]+" *= *"[^"\n]+"\n)+)/m;
const ENTRY = /^"([^"]+)" *= *"([^"]+)"$/gm;

/** Name of the package to the absolute path of its stand-in. */
export function workerAliases(): Readonly<Record<string, string>> {
  const section = SECTION.exec(readFileSync("wrangler.toml", "utf8"))?.[1];
  if (section === undefined) throw new Error("wrangler.toml has no [alias] as it is written here");
  return Object.fromEntries([...section.matchAll(ENTRY)].map(([, name = "", path = ""]) => [name, resolve(path)]));
}
