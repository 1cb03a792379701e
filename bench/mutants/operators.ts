// Possible single mistakes in a file: every place to which an operator of this list applies, found in the compiler's own syntax tree. Comments,
// types, error messages and log lines are left out, because no payment depends on them.
import {
  type BinaryExpression,
  type CallExpression,
  type Expression,
  isArrayLiteralExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isIdentifier,
  isIfStatement,
  isImportDeclaration,
  isNewExpression,
  isObjectLiteralExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSpreadAssignment,
  isSpreadElement,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTypeNode,
  isVariableDeclaration,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";

/** A change to a file's text: the text between two offsets is replaced. */
export interface Site {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The members of a string literal's union type, from the checker. */
type SiblingsOf = (literal: Node) => readonly string[];

function swaps(of: Readonly<Record<string, readonly string[]>>): Swaps {
  return new Map(Object.entries(of));
}

type Swaps = ReadonlyMap<string, readonly string[]>;

/** For each comparison: the same with its boundary moved, and its opposite. For other operators: a counterpart. */
const BINARY: Swaps = swaps({
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "&&": ["||"],
  "||": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "+=": ["-="],
  "-=": ["+="],
});
const DECIDED = ["<", "<=", ">", ">=", "===", "!==", "&&", "||"];

/** Functions with a counterpart of the same type. `and` and similar functions build SQL. */
const CALLED: Swaps = swaps({
  min: ["max"],
  max: ["min"],
  minBig: ["maxBig"],
  maxBig: ["minBig"],
  floorDiv: ["ceilDiv"],
  some: ["every"],
  every: ["some"],
  floor: ["ceil"],
  ceil: ["floor"],
  and: ["or"],
  or: ["and"],
  eq: ["ne"],
  ne: ["eq"],
  lt: ["lte"],
  lte: ["lt"],
  gt: ["gte"],
  gte: ["gt"],
  isNull: ["isNotNull"],
  isNotNull: ["isNull"],
  inArray: ["notInArray"],
  asc: ["desc"],
  desc: ["asc"],
});
/** Methods whose result usually has the same type as their object. */
const REMOVED_METHODS = ["filter", "slice", "toSorted", "sort", "reverse", "toReversed"];

const SQL: readonly (readonly [RegExp, string])[] = [
  [/ < /g, " <= "],
  [/ <= /g, " < "],
  [/ > /g, " >= "],
  [/ >= /g, " > "],
  [/ <> /g, " = "],
  [/\band\b/g, "or"],
  [/\bor\b/g, "and"],
  [/\bmin\(/g, "max("],
  [/\bmax\(/g, "min("],
  [/\bis null\b/g, "is not null"],
  [/\bis not null\b/g, "is null"],
  [/\bnot exists\b/g, "exists"],
  [/ \+ /g, " - "],
  [/ - /g, " + "],
  [/\bdesc\b/g, "asc"],
];

/** From this value on, a number is usually the length of a page, a period or a list: one more or less affects no payment. */
const LEAST_BOUND = 10n;

/** Functions that only report: no decision depends on them. */
const TELLING = /^(log|logAlert|logWork|report|safeMessage|safeError|describe|meta|noteSent)$/;

export function sitesOf(file: Node, text: string, siblingsOf: SiblingsOf): readonly Site[] {
  const sites: Site[] = [];
  const at = (node: Node): number => skipSpace(text, node.pos);
  const replaced = (node: Node, operator: string, by: string) =>
    void sites.push({ operator, start: at(node), end: node.end, text: by });
  const textOf = (node: Node): string => text.slice(at(node), node.end);
  const visit = (node: Node): void => {
    if (isTypeNode(node) || isImportDeclaration(node) || isTelling(node)) return;
    if (isBinaryExpression(node)) ofBinary(node, textOf, replaced);
    if (isCallExpression(node)) ofCall(node, textOf, replaced);
    if (isConditionalExpression(node)) {
      const [yes, no] = [textOf(node.whenTrue), textOf(node.whenFalse)];
      replaced(node, "swap branches", `${textOf(node.condition)} ? ${no} : ${yes}`);
    }
    if (isIfStatement(node)) {
      if (!isDecided(node.expression)) replaced(node.expression, "negate condition", `!(${textOf(node.expression)})`);
      if (node.elseStatement === undefined && endsEarly(node.thenStatement)) replaced(node, "remove early end", "{}");
    }
    if (isExpressionStatement(node) && isEffect(node.expression)) replaced(node, "remove statement", ";");
    if (isStringLiteral(node)) {
      const states = siblingsOf(node);
      const other = states[(states.indexOf(node.text) + 1) % states.length];
      if (states.includes(node.text) && other !== undefined && other !== node.text)
        replaced(node, "another state", JSON.stringify(other));
    }
    if (node.kind === SyntaxKind.NumericLiteral) ofNumber(node, textOf(node), "", replaced);
    if (node.kind === SyntaxKind.BigIntLiteral) ofNumber(node, textOf(node).slice(0, -1), "n", replaced);
    if (node.kind === SyntaxKind.TrueKeyword) replaced(node, "flip boolean", "false");
    if (node.kind === SyntaxKind.FalseKeyword) replaced(node, "flip boolean", "true");
    if (isObjectLiteralExpression(node) || isArrayLiteralExpression(node)) {
      const members: readonly Node[] = isObjectLiteralExpression(node) ? node.properties : node.elements;
      for (const [n, member] of members.entries()) {
        if (!isSpreadAssignment(member) && !isSpreadElement(member)) continue;
        const end = members[n + 1] === undefined ? member.end : skipSpace(text, text.indexOf(",", member.end) + 1);
        sites.push({ operator: "remove spread", start: at(member), end, text: "" });
      }
    }
    if (isTaggedTemplateExpression(node) && textOf(node.tag).startsWith("sql")) ofSql(node, text, sites);
    node.forEachChild((child) => visit(child));
  };
  visit(file);
  return sites;
}

type Replaced = (node: Node, operator: string, by: string) => void;
type TextOf = (node: Node) => string;

function ofBinary(node: BinaryExpression, textOf: TextOf, replaced: Replaced): void {
  const token = textOf(node.operatorToken);
  for (const by of BINARY.get(token) ?? []) replaced(node.operatorToken, `${token} to ${by}`, by);
  if (token !== "??") return;
  replaced(node, "?? to its left", textOf(node.left));
  replaced(node, "?? to its right", textOf(node.right));
}

function ofCall(node: CallExpression, textOf: TextOf, replaced: Replaced): void {
  const callee = node.expression;
  if (isIdentifier(callee)) {
    for (const by of CALLED.get(callee.text) ?? []) replaced(callee, `${callee.text} to ${by}`, by);
    return;
  }
  if (!isPropertyAccessExpression(callee)) return;
  const { text: name } = callee.name;
  for (const by of CALLED.get(name) ?? []) replaced(callee.name, `${name} to ${by}`, by);
  if (REMOVED_METHODS.includes(name)) replaced(node, `remove ${name}`, textOf(callee.expression));
}

function ofNumber(node: Node, digits: string, suffix: string, replaced: Replaced): void {
  const value = BigInt(/^[\d_]+$/.test(digits) ? digits.replaceAll("_", "") : -1);
  if (value < 0n) return;
  if (value >= LEAST_BOUND || isOfComparison(node)) return;
  replaced(node, "constant + 1", `${value + 1n}${suffix}`);
  if (value > 0n) replaced(node, "constant - 1", `${value - 1n}${suffix}`);
}

/** Whether the number is the result of a sort comparison: only its sign matters. */
function isOfComparison(node: Node): boolean {
  const signed = isPrefixUnaryExpression(node.parent) ? node.parent : node;
  const { parent } = signed;
  if (!isConditionalExpression(parent)) return false;
  const other = parent.whenTrue === signed ? parent.whenFalse : parent.whenTrue;
  return isPrefixUnaryExpression(other) !== isPrefixUnaryExpression(signed);
}

function ofSql(node: Node, text: string, sites: Site[]): void {
  // The interpolated expressions of the SQL are visited separately.
  const holes: (readonly [number, number])[] = [];
  const note = (child: Node): void => {
    if (child.kind === SyntaxKind.TemplateSpan)
      holes.push([child.pos, child.forEachChild((each) => each)?.end ?? child.pos]);
    child.forEachChild(note);
  };
  node.forEachChild(note);
  const written = text.slice(node.pos, node.end);
  for (const [found, by] of SQL) {
    for (const { index, 0: match } of written.matchAll(found)) {
      const start = node.pos + index;
      if (holes.some(([from, to]) => start >= from && start < to)) continue;
      sites.push({ operator: `sql ${match.trim()} to ${by.trim()}`, start, end: start + match.length, text: by });
    }
  }
}

/** Whether the condition is a comparison, which is mutated as a site of its own. */
const isDecided = (condition: Expression): boolean =>
  isBinaryExpression(condition) && DECIDED.some((token) => token === operatorOf(condition));

const operatorOf = (node: BinaryExpression): string | undefined =>
  Object.entries({
    [SyntaxKind.LessThanToken]: "<",
    [SyntaxKind.LessThanEqualsToken]: "<=",
    [SyntaxKind.GreaterThanToken]: ">",
    [SyntaxKind.GreaterThanEqualsToken]: ">=",
    [SyntaxKind.EqualsEqualsEqualsToken]: "===",
    [SyntaxKind.ExclamationEqualsEqualsToken]: "!==",
  }).find(([kind]) => Number(kind) === node.operatorToken.kind)?.[1];

const ENDS = [
  SyntaxKind.ReturnStatement,
  SyntaxKind.ThrowStatement,
  SyntaxKind.ContinueStatement,
  SyntaxKind.BreakStatement,
];

function endsEarly(statement: Node): boolean {
  if (!isBlock(statement)) return ENDS.includes(statement.kind);
  const last = statement.statements.at(-1);
  return last !== undefined && ENDS.includes(last.kind);
}

const ASSIGNED = [SyntaxKind.EqualsToken, SyntaxKind.PlusEqualsToken, SyntaxKind.MinusEqualsToken];

/** A call, an awaited call, an assignment or an increment. */
function isEffect(node: Node): boolean {
  if (isCallExpression(node)) return true;
  if (isBinaryExpression(node)) return ASSIGNED.includes(node.operatorToken.kind);
  return [
    SyntaxKind.AwaitExpression,
    SyntaxKind.VoidExpression,
    SyntaxKind.PostfixUnaryExpression,
    SyntaxKind.PrefixUnaryExpression,
    SyntaxKind.YieldExpression,
  ].includes(node.kind);
}

function isTelling(node: Node): boolean {
  // Only shown in the API reference.
  if (isPropertyAssignment(node)) return isIdentifier(node.name) && /^(refusals|tag)$/.test(node.name.text);
  if (isNewExpression(node)) return isIdentifier(node.expression) && /Error$/.test(node.expression.text);
  if (isVariableDeclaration(node)) return isIdentifier(node.name) && node.name.text === "facts";
  if (!isCallExpression(node)) return isExpressionStatement(node) && isTelling(node.expression);
  const callee = node.expression;
  if (isPropertyAccessExpression(callee)) return TELLING.test(callee.name.text);
  return isIdentifier(callee) && TELLING.test(callee.text);
}

/** The offset of the first character after white space and comments. */
function skipSpace(text: string, from: number): number {
  const space = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  space.lastIndex = from;
  space.exec(text);
  return space.lastIndex;
}
