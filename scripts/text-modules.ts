// Loads files that the Worker imports as text (`rules` in wrangler.toml, and .txt by default), for Node and Vite, which have no such rules.
import { readFileSync } from "node:fs";

export const TEXT_FILE = /\.(jsonc|txt)$/;

/** JavaScript that exports the file's content. */
export function textModule(file: string): string {
  return `export default ${JSON.stringify(readFileSync(file, "utf8"))};`;
}

export const textModules = {
  name: "text-modules",
  enforce: "pre",
  load: (id: string) => (TEXT_FILE.test(id) ? textModule(id) : undefined),
} as const;
