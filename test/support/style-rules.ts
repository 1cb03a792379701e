// The rules about length and style: the same for every handwritten file, whatever its kind.
import { lineCount, type Node, nodes, parse, type Sources, visit } from "./syntax-tree.ts";

/** The most lines of a file that is not generated. */
const MAX_LINES = 350;
/** The most lines of a function or method. */
export const MAX_FUNCTION_LINES = 60;

/** A violation, and where in the text it starts. */
export interface Problem {
  readonly start: number;
  readonly what: string;
}

/** How many casts, `any` and `!` a file may have, by path, and why it needs them. */
export type Leaves = Readonly<
  Record<string, { readonly casts?: number; readonly claims?: number; readonly why: string }>
>;

/**
 * Every violation of these rules, as `path:line: what`; empty if there is none. A file must have exactly as many casts, `any` and `!` as it is
 * allowed, so that no exception outlives its reason.
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

/** The problems of one kind; empty if there are exactly as many as the file is allowed. */
function beyond(allowed = 0, found: readonly Problem[], kind: string): readonly Problem[] {
  if (found.length === allowed) return [];
  const fewer = { start: 0, what: `is allowed ${allowed} ${kind}, but has ${found.length}` };
  return found.length > allowed ? found : [fewer];
}

/** A problem in the form that `styleProblemsIn` prints. */
export function printed(path: string, text: string, { start, what }: Problem): string {
  return `${path}:${text.slice(0, start).split("\n").length}: ${what}`;
}

/** Uses of `any` and `!`. */
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

/** Casts other than `as const`. */
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

/** Finds functions and methods that are too long. */
export function longFunctions(text: string, program: Node): Problem[] {
  const found: Problem[] = [];
  visit(program, ({ type, start, end }) => {
    const lines = /Function/.test(type) ? lineCount(text.slice(start, Number(end))) : 0;
    if (lines > MAX_FUNCTION_LINES)
      found.push({ start, what: `has a function of ${lines} lines, more than ${MAX_FUNCTION_LINES}` });
  });
  return found;
}

/** Reported at the first line of a file that is too long. */
export function longFile(text: string): Problem[] {
  const lines = lineCount(text);
  return lines > MAX_LINES ? [{ start: 0, what: `has ${lines} lines, more than ${MAX_LINES}` }] : [];
}
