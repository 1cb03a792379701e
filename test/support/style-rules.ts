// The rules about length and style: the same for every handwritten file, whatever its kind.
import { lineCount, type Node, nodes, parse, type Sources, visit } from "./syntax-tree.ts";

/** Limit for files that are not generated. */
const MAX_LINES = 350;
/** Limit for a function or method. */
export const MAX_FUNCTION_LINES = 60;

/** A violation, and where in the text it starts. */
export interface Problem {
  readonly start: number;
  readonly what: string;
}

/** By path: how many casts, `any` and `!` a file has, and why it needs them. */
export type Leaves = Readonly<
  Record<string, { readonly casts?: number; readonly claims?: number; readonly why: string }>
>;

/**
 * Every violation of these rules; empty if there is none. `path:line: what`.
 * A file has exactly as many casts, `any` and `!` as it is allowed, so no exception outlives its reason.
 */
export function styleProblemsIn(sources: Sources, leaves: Leaves = {}): readonly string[] {
  return [...sources].flatMap(([path, text]) => {
    const program = parse(path, text);
    const leave = leaves[path];
    const problems = [
      ...beyond(leave?.casts, casts(program), "casts"),
      ...beyond(leave?.claims, claims(program), "claims"),
      ...longFile(text),
      ...longFunctions(text, program),
    ];
    return problems.map((problem) => printed(path, text, problem));
  });
}

/** Problems of one kind, if their number is not the one allowed. */
function beyond(allowed = 0, found: readonly Problem[], kind: string): readonly Problem[] {
  if (found.length === allowed) return [];
  const fewer = { start: 0, what: `has leave for ${allowed} ${kind}, and has ${found.length}` };
  return found.length > allowed ? found : [fewer];
}

/** As `styleProblemsIn` prints it. */
export function printed(path: string, text: string, { start, what }: Problem): string {
  return `${path}:${text.slice(0, start).split("\n").length}: ${what}`;
}

/** No `any`, and no `!`. */
export function claims(program: Node): Problem[] {
  const found: Problem[] = [];
  visit(program, (node) => {
    const { type, start } = node;
    if (type === "TSAnyKeyword") found.push({ start, what: "says any" });
    if (type === "TSNonNullExpression") found.push({ start, what: "claims with ! that a value is there" });
    if (type === "VariableDeclarator" && node.definite === true)
      found.push({ start, what: "claims with ! that a variable is set" });
  });
  return found;
}

/** No cast but `as const`. */
export function casts(program: Node): Problem[] {
  const found: Problem[] = [];
  visit(program, (node) => {
    if (node.type === "TSTypeAssertion") found.push({ start: node.start, what: "casts with <>" });
    if (node.type === "TSAsExpression" && !isAsConst(node)) found.push({ start: node.start, what: "casts with as" });
  });
  return found;
}

function isAsConst(node: Node): boolean {
  const [annotation] = nodes([node.typeAnnotation]);
  const [name] = nodes([annotation?.typeName]);
  return name?.name === "const";
}

/** Functions and methods that are too long. */
export function longFunctions(text: string, program: Node): Problem[] {
  const found: Problem[] = [];
  visit(program, ({ type, start, end }) => {
    const lines = /Function/.test(type) ? lineCount(text.slice(start, Number(end))) : 0;
    if (lines > MAX_FUNCTION_LINES)
      found.push({ start, what: `has a function of ${lines} lines, more than ${MAX_FUNCTION_LINES}` });
  });
  return found;
}

/** Reported at the file's first line, if it is too long. */
export function longFile(text: string): Problem[] {
  const lines = lineCount(text);
  return lines > MAX_LINES ? [{ start: 0, what: `has ${lines} lines, more than ${MAX_LINES}` }] : [];
}
