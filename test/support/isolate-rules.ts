// What a file of `src` may do because isolates run it: module scope is shared by requests, and a rule takes all that changes as an argument.
import type { Problem } from "./style-rules.ts";
import { dottedName, type Node, nameOf, nodes, visit } from "./syntax-tree.ts";

/** The files with a collection at module scope that changes: what an isolate keeps of the rates, the deployment's set-up, calls without an answer and what objects refuse. */
const SHARED_STATE: readonly string[] = [
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
  const collections = variables.flatMap((node) => nodes(node.declarations)).filter(isCollection);
  const changed = SHARED_STATE.includes(path)
    ? []
    : collections.flatMap((node) => mutationsOf(program, nameOf(node.id)));
  return [...loose, ...changed, ...impuritiesAtImport(program)];
}

function isCollection(declarator: Node): boolean {
  const [init] = nodes([declarator.init]);
  return init?.type === "NewExpression" && /^(Weak)?(Map|Set)$/.test(nameOf(init.callee) ?? "");
}

function mutationsOf(program: Node, name: string | undefined): Problem[] {
  const found: Problem[] = [];
  visit(program, (node) => {
    const [callee] = nodes([node.callee]);
    if (node.type !== "CallExpression" || callee?.type !== "MemberExpression") return;
    const isChange = /^(set|add|delete|clear)$/.test(nameOf(callee.property) ?? "");
    if (isChange && nameOf(callee.object) === name)
      found.push({ start: node.start, what: `changes ${name}, which all requests share` });
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
