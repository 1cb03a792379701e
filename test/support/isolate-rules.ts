// Rules for files of `src` that follow from isolates. Requests share module scope, so a rule takes everything that changes as an argument.
import type { Problem } from "./style-rules.ts";
import { dottedName, type Node, nameOf, nodes, visit } from "./syntax-tree.ts";

/**
 * Files whose module state may change: the caches of an isolate for rates and for the deployment's set-up, and its records of unanswered calls and of
 * refusing objects.
 */
export const SHARED_STATE: readonly string[] = [
  "src/rates/rate-cache.ts",
  "src/platform/deployment/read-deployment.ts",
  "src/platform/db/unanswered.ts",
  "src/platform/http/handed-over.ts",
];

/** Requests share module scope: nothing there may change, and an import must not do I/O (platform.md "Easy to get wrong"). */
export function stateProblems(path: string, program: Node): Problem[] {
  const declarations = nodes(program.body).flatMap((node) =>
    node.type === "ExportNamedDeclaration" ? nodes([node.declaration]) : [node],
  );
  const variables = declarations.filter(({ type }) => type === "VariableDeclaration");
  const loose = variables
    .filter((node) => node.kind !== "const")
    .map(({ start }) => ({ start, what: "has a variable at module scope" }));
  const names = variables.flatMap((node) => nodes(node.declarations)).map(({ id }) => nameOf(id));
  const mayChange = SHARED_STATE.includes(path) || path.startsWith(OF_ONE_PAGE);
  const changed = mayChange ? [] : mutationsOf(program, new Set(names));
  return [...loose, ...changed, ...impuritiesAtImport(program)];
}

/** Files that run in a browser, where the module belongs to one page only. */
const OF_ONE_PAGE = "src/checkout/pay/browser/";

const CHANGING = /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill)$/;

/** Calls that mutate one of `names`, and assignments to their members. */
function mutationsOf(program: Node, names: ReadonlySet<string | undefined>): Problem[] {
  const found: Problem[] = [];
  const note = (start: number, name: string | undefined) => {
    if (name !== undefined && names.has(name)) found.push({ start, what: `changes ${name}, which all requests share` });
  };
  visit(program, (node) => {
    const [callee] = nodes([node.callee]);
    if (node.type === "CallExpression" && callee?.type === "MemberExpression")
      if (CHANGING.test(nameOf(callee.property) ?? "")) note(node.start, nameOf(callee.object));
    const [target] = nodes([node.type === "UpdateExpression" ? node.argument : node.left]);
    if (/^(Assignment|Update)Expression$/.test(node.type) && target?.type === "MemberExpression")
      note(node.start, dottedName(target).split(".")[0]);
  });
  return found;
}

const IMPURE_CALLS =
  /^(Date\.now|Math\.random|performance\.now|crypto\.(getRandomValues|randomUUID|subtle\..*)|fetch|setTimeout|setInterval)$/;

/** Finds uses of a clock, a random number or a socket. A rule takes their values as arguments. */
export function impurities(program: Node): Problem[] {
  const found: Problem[] = [];
  visit(program, (node) => {
    const what = impurityOf(node);
    if (what !== undefined) found.push({ start: node.start, what });
  });
  return found;
}

function impurityOf(node: Node): string | undefined {
  if (node.type === "ImportExpression") return "imports while it runs";
  if (node.type === "NewExpression" && nameOf(node.callee) === "Date" && nodes(node.arguments).length === 0)
    return "reads the clock";
  const called = node.type === "CallExpression" ? dottedName(node.callee) : "";
  if (IMPURE_CALLS.test(called)) return `calls ${called}`;
  if (node.type === "TSTypeReference" && nameOf(node.typeName) === "Env") return "takes the whole Env";
  return undefined;
}

/** Finds uses of a clock, a random number or a socket at module scope, outside functions, in files of every kind. */
function impuritiesAtImport(program: Node): Problem[] {
  const found: Problem[] = [];
  visit(
    program,
    (node) => {
      const what = node.type === "TSTypeReference" ? undefined : impurityOf(node);
      if (what !== undefined) found.push({ start: node.start, what: `${what} at import` });
    },
    ({ type }) => /Function|MethodDefinition|PropertyDefinition/.test(type),
  );
  return found;
}

/** Finds schemas that are built at import, before they are needed. They used to be most of a Worker's start-up cost. */
export function schemasAtImport(program: Node): Problem[] {
  const found: Problem[] = [];
  visit(
    program,
    (node) => {
      const called = node.type === "CallExpression" ? dottedName(node.callee) : "";
      if (called.startsWith("z.")) found.push({ start: node.start, what: `builds a schema with ${called} at import` });
    },
    ({ type }) => /Function/.test(type),
  );
  return found;
}
