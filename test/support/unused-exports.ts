// What files export and no other file imports: dead, or of their own use alone. A reader of a package's face looks at its exports first.
import { posix } from "node:path";
import { parseAst } from "vitest/node";
import type { Sources } from "./source-rules.ts";

/** A name that stands for all: of `import * as x`, of `import()`, of `export *`. */
const ALL = "*";

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** `path: name` of each export of the files below `folder` that no other file of `sources` imports. */
export function unusedExports(sources: Sources, folder: string): readonly string[] {
  const used = new Map<string, Set<string>>();
  for (const [path, text] of sources) {
    for (const [target, name] of importsOf(path, text, sources))
      used.set(target, (used.get(target) ?? new Set()).add(name));
  }
  return [...sources]
    .filter(([path]) => path.startsWith(folder) && !/\.generated\.|\.d\.ts$/.test(path))
    .flatMap(([path, text]) => {
      const names = used.get(path) ?? new Set<string>();
      if (names.has(ALL)) return [];
      return exportsOf(path, text)
        .filter((name) => !names.has(name))
        .map((name) => `${path}: ${name}`);
    });
}

function exportsOf(path: string, text: string): readonly string[] {
  return nodes(parse(path, text).body).flatMap((node) => {
    const [declared] = node.type === "ExportNamedDeclaration" ? nodes([node.declaration]) : [];
    if (declared === undefined) return [];
    const named = declared.type === "VariableDeclaration" ? nodes(declared.declarations) : [declared];
    return named.flatMap(({ id }) => nameOf(id) ?? []);
  });
}

/** Each imported name with the file that it is imported from. */
function importsOf(path: string, text: string, sources: Sources): readonly (readonly [target: string, name: string])[] {
  const found: (readonly [string, string])[] = [];
  visit(parse(path, text), (node) => {
    const target = targetOf(path, node, sources);
    if (target === undefined) return;
    const members = nodes(node.specifiers);
    if (!/^(Import|ExportNamed)Declaration$/.test(node.type)) found.push([target, ALL]);
    for (const member of members)
      found.push([
        target,
        nameOf(
          member.imported ??
            (member.local !== undefined && node.type !== "ImportDeclaration" ? member.local : undefined),
        ) ?? ALL,
      ]);
  });
  return found;
}

function targetOf(path: string, node: Node, sources: Sources): string | undefined {
  if (!/^(Import(Declaration|Expression)|Export(Named|All)Declaration|TSImportType)$/.test(node.type)) return undefined;
  const [source] = nodes([node.source ?? node.argument]);
  const from = source?.value;
  if (typeof from !== "string" || !from.startsWith(".")) return undefined;
  const target = posix.normalize(posix.join(posix.dirname(path), from));
  return [target, target.replace(/\.js$/, ".ts"), `${target}.ts`, `${target}.tsx`].find((each) => sources.has(each));
}

function nameOf(value: unknown): string | undefined {
  const [node] = nodes([value]);
  const name = node?.name ?? node?.value;
  return typeof name === "string" ? name : undefined;
}

function parse(path: string, text: string): Node {
  const [program] = nodes([parseAst(text, { lang: path.endsWith(".tsx") ? "tsx" : "ts" })]);
  if (program === undefined) throw new Error(`${path} has no syntax tree`);
  return program;
}

function visit(node: Node, look: (node: Node) => void): void {
  look(node);
  for (const member of Object.values(node))
    for (const child of nodes(Array.isArray(member) ? member : [member])) visit(child, look);
}

function nodes(values: unknown): Node[] {
  return Array.isArray(values) ? values.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
