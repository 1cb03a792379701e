// Finds stores that join tables of merchants with tables of accounts or cursors (architecture.md "Room to grow"). It reads syntax trees. A
// declaration's tables are those that it names as values or in SQL, and those of all store declarations that it uses.
import { posix } from "node:path";
import { type Node, nameOf, nodes, parse, type Sources, sourceOf, visit } from "./syntax-tree.ts";

const TABLE = /export const (\w+) = sqliteTable\(\s*"(\w+)"/g;
const IN_SQL = /\b(?:from|join|into|update)\s+"?(\w+)/gi;
const SCHEMA = "src/platform/db/schema/";
/** Types name tables too, but read nothing. */
const TYPES = /^TS(TypeAnnotation|TypeParameter)/;
/** Tables that may be joined with both kinds: a user's rows are stored with the accounts, and a merchant's rows with the merchant. */
const EITHER = ["operations", "assertions", "audit_events"];

interface Declaration {
  readonly isExported: boolean;
  /** Other declarations that it uses, as `path#name`. */
  readonly uses: Set<string>;
  readonly tables: Set<string>;
}

/** Exported store declarations that join, as `path#name` below src. `shared`: the tables of accounts and cursors. */
export function joinsIn(sources: Sources, shared: readonly string[]): readonly string[] {
  const tables = tablesIn(sources);
  const names = new Set(tables.values());
  const declared = new Map<string, Declaration>();
  for (const [path, text] of sources) {
    if (isStore(path)) declare(path, parse(path, text), { names, declared });
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

/** Table names by declaration, as `path#name`. */
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
  for (const statement of nodes(tree.body)) {
    const isExported = statement.type === "ExportNamedDeclaration";
    const [of] = isExported ? nodes([statement.declaration]) : [statement];
    if (statement.type === "ImportDeclaration") {
      const from = posix.join(posix.dirname(path), sourceOf(statement) ?? "");
      for (const each of nodes(statement.specifiers))
        known.set(nameOf(each.local) ?? "", `${from}#${nameOf(each.imported)}`);
    }
    if (of?.type === "FunctionDeclaration") found.push([nameOf(of.id) ?? "", of, isExported]);
    if (of?.type === "VariableDeclaration")
      for (const each of nodes(of.declarations)) found.push([nameOf(each.id) ?? "", each, isExported]);
  }
  for (const [name] of found) known.set(name, `${path}#${name}`);
  for (const [name, node, isExported] of found) {
    const declaration: Declaration = { isExported, uses: new Set(), tables: new Set() };
    const look = (each: Node) => {
      const use = each.type === "Identifier" ? known.get(nameOf(each) ?? "") : undefined;
      if (use !== undefined) declaration.uses.add(use);
      for (const [, table = ""] of textOf(each).matchAll(IN_SQL)) if (names.has(table)) declaration.tables.add(table);
    };
    visit(node, look, ({ type }) => TYPES.test(type));
    declared.set(`${path}#${name}`, declaration);
  }
}

/** The text of a literal or of a template's part; empty for other nodes. */
function textOf({ type, value }: Node): string {
  const text: unknown = type === "TemplateElement" ? Object(value).raw : value;
  return typeof text === "string" ? text : "";
}
