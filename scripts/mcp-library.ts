// Bundles the library of the Model Context Protocol into one function, which the Worker calls at the first request to /mcp. The library's schemas are
// built with the Worker's zod, which is imported outside that function. If the library were an async module, esbuild would delay zod with it, and
// other files would build their schemas before zod exists.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { build, type Plugin } from "esbuild";

const FILE = "src/app/mcp/library.generated.js";
const PACKAGES = ["@modelcontextprotocol/server", "esbuild"];

/** The import of zod in the library's files. */
const IMPORT_OF_ZOD = 'import * as z from "zod/v4";';

/** Writes src/app/mcp/library.generated.js, unless it was already made from the same packages. */
export async function makeMcpLibrary(): Promise<void> {
  const madeFrom = `// Made by scripts/mcp-library.ts from ${PACKAGES.map(versionOf).join(", ")}, with the Worker's zod.\n`;
  if (existsSync(FILE) && readFileSync(FILE, "utf8").startsWith(madeFrom)) return;
  const contents = 'export { createMcpHandler, McpServer } from "@modelcontextprotocol/server";';
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    globalName: "library",
    banner: { js: 'import * as z from "zod";\nexport function makeLibrary() {' },
    footer: { js: "return library;\n}" },
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "cloudflare:*"],
    plugins: [zodOfWorker],
    logLevel: "silent",
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error("esbuild wrote nothing for the library of /mcp");
  const draft = `${FILE}.${process.pid}.draft`;
  writeFileSync(draft, madeFrom + output.text);
  // Servers that start at the same time may write the same file.
  renameSync(draft, FILE);
}

/** Removes the import of zod from the library's files: in the bundle, `z` is the Worker's zod. */
const zodOfWorker: Plugin = {
  name: "zod-of-worker",
  setup: ({ onLoad, onResolve }) => {
    onLoad({ filter: /\/@modelcontextprotocol\/.*\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(IMPORT_OF_ZOD, ""),
    }));
    onResolve({ filter: /^zod(\/|$)/ }, ({ importer }) => ({
      errors: [{ text: `${importer} imports zod otherwise than as ${IMPORT_OF_ZOD}` }],
    }));
  },
};

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}`;
}
