// Syntax trees of source files, for the rules about sources.
import { parseAst } from "vitest/node";

/** Source texts by their path relative to the root, with `/` as the separator. */
export type Sources = ReadonlyMap<string, string>;

/** A node of a syntax tree. Its members depend on its type: read them with `nodes` and `nameOf`. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

/** A file's syntax tree. JSX is allowed in `.tsx` and in JavaScript, where it cannot be mistaken for a generic. */
export function parse(path: string, text: string): Node {
  const [program] = nodes([parseAst(text, { lang: languageOf(path) })]);
  if (program === undefined) throw new Error(`${path} has no syntax tree`);
  return program;
}

function languageOf(path: string): "ts" | "tsx" | "jsx" {
  if (/\.m?js$/.test(path)) return "jsx";
  return path.endsWith(".tsx") ? "tsx" : "ts";
}

/** Visits a node and all nodes below it, except those for which `isOver` is true and everything below them. */
export function visit(node: Node, look: (node: Node) => void, isOver: (node: Node) => boolean = () => false): void {
  if (isOver(node)) return;
  look(node);
  for (const member of Object.values(node)) {
    for (const child of nodes(Array.isArray(member) ? member : [member])) visit(child, look, isOver);
  }
}

/** The nodes in a list; empty for any other value. */
export function nodes(values: unknown): Node[] {
  return Array.isArray(values) ? values.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** `a.b.c` for a member chain; empty if it does not start with a name. */
export function dottedName(value: unknown): string {
  const [node] = nodes([value]);
  if (node === undefined) return "";
  if (node.type !== "MemberExpression") return nameOf(node) ?? "";
  return `${dottedName(node.object)}.${nameOf(node.property) ?? ""}`;
}

export function nameOf(value: unknown): string | undefined {
  const [node] = nodes([value]);
  const name = node?.name;
  return typeof name === "string" ? name : undefined;
}

/** The module that an import, a re-export or an `import()` names. */
export function sourceOf(node: Node): string | undefined {
  if (!/^(Import(Declaration|Expression)|Export(Named|All)Declaration|TSImportType)$/.test(node.type)) return undefined;
  const [source] = nodes([node.source ?? node.argument]);
  const value = source?.value;
  return typeof value === "string" ? value : undefined;
}

/** The number of lines in a string that may end with a newline. */
export function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}
