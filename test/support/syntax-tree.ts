// Syntax trees of source texts, so that words in comments and strings are not taken for code.
import { parseAst } from "vitest/node";

/** Path below the root, with `/`, to its text. */
export type Sources = ReadonlyMap<string, string>;

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

export interface Problem {
  readonly start: number;
  readonly what: string;
}

export function printed(path: string, text: string, { start, what }: Problem): string {
  return `${path}:${text.slice(0, start).split("\n").length}: ${what}`;
}

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

export function parse(path: string, text: string): Node {
  const [program] = nodes([parseAst(text, { lang: path.endsWith(".tsx") ? "tsx" : "ts" })]);
  if (program === undefined) throw new Error(`${path} has no syntax tree`);
  return program;
}

export function visit(node: Node, look: (node: Node) => void, isOver: (node: Node) => boolean = () => false): void {
  if (isOver(node)) return;
  look(node);
  for (const member of Object.values(node)) {
    for (const child of nodes(Array.isArray(member) ? member : [member])) visit(child, look, isOver);
  }
}

export function nodes(values: unknown): Node[] {
  return Array.isArray(values) ? values.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

export function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}
