// What a file of `src` may do because isolates run it: module scope is shared by requests, and a rule takes all that changes as an argument.
import type { Problem } from "./style-rules.ts";
import { dottedName, type Node, nameOf, nodes, visit } from "./syntax-tree.ts";

/** The files with a constant at module scope that changes: what an isolate keeps of the rates, the deployment's set-up, calls without an answer and what objects refuse. */
export const SHARED_STATE: readonly string[] = [
  "src/rates/rate-cache.ts",
  "src/platform/deployment/read-deployment.ts",
  "src/platform/db/unanswered.ts",
  "src/platform/http/handed-over.ts",
];

/** Module scope is shared by requests: nothing there may change, and importing must not cause I/O (platform.md "Easy to get wrong"). */
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

/** What runs in a browser, where one page has a module for itself. */
const OF_ONE_PAGE = "src/checkout/pay/browser/";

const CHANGING = /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill)$/;

/** Calls that change what one of `names` is, and values that are put into a member of it. */
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

/** A clock, a die, a socket: a rule takes what they give as an argument. */
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

/** The same at module scope, where no function delays it: whatever the kind of the file. */
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

/** Schemas that are built before anybody asks for them: most of what a Worker's start cost was these. */
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
