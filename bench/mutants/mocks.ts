// Reads the `vi.mock` calls of a simulator from its text, because imports run before a module's code.
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface Mock {
  readonly url: string;
  /** The source of the replacement module. */
  source(realUrl: string): string;
}

export function mocksOf(file: string): readonly Mock[] {
  const text = readFileSync(file, "utf8");
  if (!text.includes("vi.mock(")) return [];
  const script = stripTypeScriptTypes(text);
  return [...script.matchAll(/^vi\.mock\("([^"]+)", /gm)].map((match) => {
    const from = match.index + match[0].length;
    // The factory ends with a line `});`.
    const factory = script.slice(from, script.indexOf("\n});", from) + 2);
    const url = new URL(match[1] ?? "", pathToFileURL(file)).href;
    const names = exportsOf(readFileSync(fileURLToPath(url), "utf8"));
    return { url, source: (realUrl) => mockSource(factory, realUrl, names) };
  });
}

function mockSource(factory: string, realUrl: string, names: readonly string[]): string {
  const list = names.map((name) => `export const ${name} = made["${name}"];`).join("\n");
  return `const made = await (${factory})(() => import("${realUrl}"));\n${list}\n`;
}

function exportsOf(text: string): readonly string[] {
  const script = stripTypeScriptTypes(text);
  return [...script.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(([, name = ""]) => name);
}
