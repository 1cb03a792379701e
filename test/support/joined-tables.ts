// Which stores join tables of merchants with tables of accounts or cursors (architecture.md "Room to grow"), found in syntax trees: a declaration
// names the tables that it, and whatever it uses of stores, has as values or in SQL.
import { posix } from "node:path";
import { parseAst } from "vitest/node";
import type { Sources } from "./syntax-tree.ts";

const TABLE = /export const (\w+) = sqliteTable\(\s*"(\w+)"/g;
const IN_SQL = /\b(?:from|join|into|update)\s+"?(\w+)/gi;
const SCHEMA = "src/platform/db/schema/";
/** Types name tables too, and read nothing. */
const TYPES = /^TS(TypeAnnotation|TypeParameter)/;
/** A user's rows of these lie with accounts, a merchant's with the merchant. */
const EITHER = ["operations", "assertions", "audit_events"];

interface Declaration {
  readonly isExported: boolean;
  /** Other declarations, as `path#name`. */
  readonly uses: Set<string>;
  readonly tables: Set<string>;
}

// biome-ignore lint/suspicious/noExplicitAny: nodes of every type
type Node = any;

/** The exported declarations of stores that join, as `path#name` below src. `shared`: the tables of accounts and cursors. */
export function joinsIn(sources: Sources, shared: readonly string[]): readonly string[] {
  const tables = tablesIn(sources);
  const names = new Set(tables.values());
  const declared = new Map<string, Declaration>();
  for (const [path, text] of sources) {
    if (isStore(path)) declare(path, parseAst(text, { lang: "ts" }, path), { names, declared });
  }
  const tablesOf = (key: string, seen = new Set<string>()): ReadonlySet<string> => {
    const table = tables.get(key);
    if (table !== undefined) return new Set([table]);
    if (seen.has(key)) return new Set();
    seen.add(key);
    const { tables: own = [], uses = [] } = declared.get(key) ?? {};
    return new Set([...own, ...[...uses].flatMap((use) => [...tablesOf(use, seen)])]);
  };
  const joins = [...declared].filter(([key, { isExported }]) => {
    const found = [...tablesOf(key)].filter((table) => !EITHER.includes(table));
    return isExported && new Set(found.map((table) => shared.includes(table))).size === 2;
  });
  return joins.map(([key]) => key.replace("src/", "")).sort();
}

/** Names of tables by the declaration of each, as `path#name`. */
export function tablesIn(sources: Sources): ReadonlyMap<string, string> {
  const schemas = [...sources].filter(([path]) => path.startsWith(SCHEMA));
  return new Map(
    schemas.flatMap(([path, text]) =>
      [...text.matchAll(TABLE)].map(([, name, table = ""]) => [`${path}#${name}`, table]),
    ),
  );
}

function isStore(path: string): boolean {
  return path.endsWith("/store.ts");
}

function declare(
  path: string,
  tree: Node,
  { names, declared }: { readonly names: ReadonlySet<string>; readonly declared: Map<string, Declaration> },
): void {
  const known = new Map<string, string>();
  const found: [string, Node, boolean][] = [];
  for (const statement of tree.body) {
    const isExported = statement.type === "ExportNamedDeclaration";
    const of = isExported ? statement.declaration : statement;
    if (statement.type === "ImportDeclaration") {
      const from = posix.join(posix.dirname(path), statement.source.value);
      for (const each of statement.specifiers) known.set(each.local.name, `${from}#${each.imported?.name}`);
    }
    if (of?.type === "FunctionDeclaration") found.push([of.id.name, of, isExported]);
    if (of?.type === "VariableDeclaration")
      for (const each of of.declarations) found.push([each.id.name, each, isExported]);
  }
  for (const [name] of found) known.set(name, `${path}#${name}`);
  for (const [name, node, isExported] of found) {
    const declaration: Declaration = { isExported, uses: new Set(), tables: new Set() };
    visit(node, (each) => {
      const use = each.type === "Identifier" ? known.get(each.name) : undefined;
      if (use !== undefined) declaration.uses.add(use);
      const text = each.type === "TemplateElement" ? each.value.raw : each.value;
      if (typeof text !== "string") return;
      for (const [, table = ""] of text.matchAll(IN_SQL)) if (names.has(table)) declaration.tables.add(table);
    });
    declared.set(`${path}#${name}`, declaration);
  }
}

function visit(node: Node, see: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, see);
  else if (typeof node === "object" && node !== null && !TYPES.test(node.type ?? "")) {
    see(node);
    visit(Object.values(node), see);
  }
}
