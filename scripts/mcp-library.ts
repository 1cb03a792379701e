// Bundles the library of the Model Context Protocol into a module that the Worker evaluates when /mcp is first called. It brings its own copy
// of zod: were it to share the Worker's, esbuild would delay zod with it, and schemas of other files would be built before zod is there.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const FILE = "src/app/mcp/library.generated.js";
const PACKAGES = ["@modelcontextprotocol/server", "zod", "esbuild"];

/** Writes src/app/mcp/library.generated.js, unless it is there from the same packages. */
export async function makeMcpLibrary(): Promise<void> {
  const madeFrom = `// Made by scripts/mcp-library.ts from ${PACKAGES.map(versionOf).join(", ")}.\n`;
  if (existsSync(FILE) && readFileSync(FILE, "utf8").startsWith(madeFrom)) return;
  const contents = 'export { createMcpHandler, McpServer } from "@modelcontextprotocol/server";';
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "cloudflare:*"],
    logLevel: "silent",
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error("esbuild wrote nothing for the library of /mcp");
  const draft = `${FILE}.${process.pid}.draft`;
  writeFileSync(draft, madeFrom + output.text);
  // Servers that start at the same time may write the same file.
  renameSync(draft, FILE);
}

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}`;
}
