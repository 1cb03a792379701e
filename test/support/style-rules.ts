// Rules that hold for code of any folder: how long files and functions are, and that nothing is claimed to the compiler.
import { lineCount, type Node, nodes, type Problem, parse, printed, type Sources, visit } from "./syntax-tree.ts";

/** Of a file that is not generated. */
const MAX_LINES = 350;
/** Of a function or method. */
export const MAX_FUNCTION_LINES = 60;

/** Every way the files break these rules; casts are for those named. `path:line: what`. */
export function styleProblemsIn(sources: Sources, castsIn: readonly string[]): readonly string[] {
  return [...sources].flatMap(([path, text]) => {
    const program = parse(path, text);
    const style = styleProblems(program, castsIn.includes(path));
    return [...style, ...longFile(text), ...longFunctions(text, program)].map((each) => printed(path, text, each));
  });
}

/** No `any`, no `!`, and no cast unless `mayCast`. */
export function styleProblems(program: Node, mayCast: boolean): Problem[] {
  const found: Problem[] = [];
  visit(program, (node) => {
    const { type, start } = node;
    if (type === "TSAnyKeyword") found.push({ start, what: "says any" });
    if (type === "TSNonNullExpression") found.push({ start, what: "claims with ! that a value is there" });
    if (type === "TSTypeAssertion") found.push({ start, what: "casts with <>" });
    if (type === "TSAsExpression" && !isAsConst(node) && !mayCast) found.push({ start, what: "casts with as" });
    if (type === "VariableDeclarator" && node.definite === true)
      found.push({ start, what: "claims with ! that a variable is set" });
  });
  return found;
}

function isAsConst(node: Node): boolean {
  const [annotation] = nodes([node.typeAnnotation]);
  const [name] = nodes([annotation?.typeName]);
  return name?.name === "const";
}

/** Functions and methods that are too long: `path:line: what`. */
export function longFunctionsIn(sources: Sources): readonly string[] {
  return [...sources].flatMap(([path, text]) =>
    longFunctions(text, parse(path, text)).map((problem) => printed(path, text, problem)),
  );
}

export function longFunctions(text: string, program: Node): Problem[] {
  const found: Problem[] = [];
  visit(program, ({ type, start, end }) => {
    const lines = /Function/.test(type) ? lineCount(text.slice(start, Number(end))) : 0;
    if (lines > MAX_FUNCTION_LINES)
      found.push({ start, what: `has a function of ${lines} lines, more than ${MAX_FUNCTION_LINES}` });
  });
  return found;
}

export function longFile(text: string): Problem[] {
  const lines = lineCount(text);
  return lines > MAX_LINES ? [{ start: 0, what: `has ${lines} lines, more than ${MAX_LINES}` }] : [];
}
