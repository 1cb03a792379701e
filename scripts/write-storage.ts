// Writes docs/design/storage.md (`npm run docs:storage`): every table of D1 and of the Durable Objects, from the schema, its comments, the
// sources that write it, and scripts/storage/.
import { globSync, readFileSync } from "node:fs";
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { LEFT_OUT } from "../src/platform/merchant-exports/tables.ts";
import { keepGenerated } from "./generated-file.ts";
import type { ExampleRow } from "./storage/example-row.ts";
import { KEPT, type Kept } from "./storage/kept.ts";
import { OBJECTS, type ObjectTable } from "./storage/objects.ts";
import { ACCOUNT_ROWS } from "./storage/rows/accounts.ts";
import { COMMERCE_ROWS } from "./storage/rows/commerce.ts";
import { OPERATION_ROWS } from "./storage/rows/operations.ts";
import { schemaComments, type TableComments } from "./storage/schema-comments.ts";
import { type Writers, writersIn } from "./storage/writers.ts";

export const STORAGE_PAGE = "docs/design/storage.md";
const COMMAND = "npm run docs:storage";
const SCHEMA = "src/platform/db/schema/*.ts";

/** An example row for each table that is not always empty. */
export const EXAMPLE_ROWS: readonly ExampleRow[] = [...ACCOUNT_ROWS, ...COMMERCE_ROWS, ...OPERATION_ROWS];

const GROUPS: readonly (readonly [string, readonly ExampleRow[]])[] = [
  ["Users, merchants, teams and keys", ACCOUNT_ROWS],
  ["Wallets, invoices and payments", COMMERCE_ROWS],
  ["Events, chains and the deployment", OPERATION_ROWS],
];

/**
 * The texts that `writersIn` reads. From a migration only the triggers are read, because everything else in it writes rows only once. Scripts that
 * write to a deployment's database are included; the others only fill a development database.
 */
export function writingSources(): ReadonlyMap<string, string> {
  const paths = globSync(["src/**/*.ts", "scripts/new-setup-link.ts", "migrations/*.sql"]).map((path) =>
    path.replaceAll("\\", "/"),
  );
  return new Map(
    paths.toSorted().map((path) => {
      const text = readFileSync(path, "utf8");
      const triggers = [...text.matchAll(/^CREATE TRIGGER[^\n]*\nBEGIN\n([\s\S]*?)^END;/gm)].map(([, body]) => body);
      return [path, path.startsWith("migrations/") ? triggers.join("\n") : text];
    }),
  );
}

/** The schema's comments, by table name. */
export function commentsOfSchema(): ReadonlyMap<string, TableComments> {
  return schemaComments(globSync(SCHEMA).map((path) => readFileSync(path, "utf8")));
}

/** The `CREATE TABLE` of an object's table, as in its file. */
export function statementOf({ name, madeIn }: Pick<ObjectTable, "name" | "madeIn">): string {
  const begin = new RegExp(`["\`](create table if not exists ${name} \\([^"\`]*)["\`]`, "i");
  const [, statement] = begin.exec(readFileSync(madeIn, "utf8")) ?? [];
  if (statement === undefined) throw new Error(`${madeIn} makes no table ${name}`);
  return statement.replaceAll(/\s+/g, " ");
}

export function storagePage(): string {
  const facts = { comments: commentsOfSchema(), writers: writersIn(writingSources()) };
  const count = facts.comments.size;
  const groups = GROUPS.map(([title, rows]) =>
    [`## ${title}`, ...rows.map((row) => tableText(row, facts))].join("\n\n"),
  );
  const contents = GROUPS.map(([title, rows]) => contentsOf(title, rows)).join("\n\n");
  const objects = Object.entries(OBJECTS).map(([name, object]) => objectText(name, object));
  return `<!-- Written by \`${COMMAND}\` from the schema and the sources; do not edit. -->
# Storage

Everything that a deployment stores: ${count} tables in D1, declared in \`src/platform/db/schema/\`, and what ${objects.length} classes of Durable Objects store
themselves. [Architecture](architecture.md#where-state-is-stored) says why it is where it is. Nightly exports of merchants lie in a bucket, if one is bound
([Exports](../operations/export.md)).

Of each table: what a row is, which features of \`src/\` write it, how long a row is kept and which file decides that, whether it is in the export of its
merchant, and an example. A column without an example is null there, or has its default. Examples are of one fictional shop; hashes and what is sealed
are made up. Amounts in \`..._units\` are base units as decimal text, \`..._micros\` millionths of a currency unit, \`..._ms\` milliseconds since 1970.

${contents}

${groups.join("\n\n")}

### \`assertions\`

${facts.comments.get("assertions")?.text ?? ""}

- **Written by** ${facts.writers.get("assertions")?.size ?? 0} features, in batches that depend on facts that they do not change.
- **Kept**: ${KEPT.assertions?.kept ?? ""}.

## Durable Objects

${objects.join("\n\n")}
`;
}

/** A group's tables, each with how long its rows are kept. */
function contentsOf(title: string, rows: readonly ExampleRow[]): string {
  const entries = rows.map(({ table }) => {
    const { name } = getTableConfig(table);
    return `[\`${name}\`](#${name}) (kept ${KEPT[name]?.kept ?? ""})`;
  });
  return `**${title}**: ${entries.join(", ")}.`;
}

interface Facts {
  readonly comments: ReadonlyMap<string, TableComments>;
  readonly writers: ReadonlyMap<string, Writers>;
}

/** The non-null values of an example, as stored, by column name. */
export function storedValues({ table, values }: ExampleRow): ReadonlyMap<string, string | number> {
  const properties = propertiesOf(table);
  return new Map(
    getTableConfig(table).columns.flatMap((column) => {
      const given = values[properties.get(column.name) ?? ""];
      if (given === undefined || given === null) return [];
      const value: unknown = column.mapToDriverValue(given);
      return [[column.name, asStored(value)] as const];
    }),
  );
}

/** SQLite has no booleans. */
function asStored(value: unknown): string | number {
  if (typeof value === "number") return value;
  return typeof value === "boolean" ? Number(value) : String(value);
}

function tableText(row: ExampleRow, { comments, writers }: Facts): string {
  const { name, columns } = getTableConfig(row.table);
  const { text, columns: said } = comments.get(name) ?? { text: "", columns: new Map<string, string>() };
  const stored = storedValues(row);
  const rows = columns.map((column) => {
    const value = stored.get(column.name);
    const example = value === undefined ? "" : code(value);
    return `| \`${column.name}\` | ${typeOf(column)} | ${example} | ${said.get(column.name) ?? ""} |`;
  });
  const left = LEFT_OUT[name];
  return [
    `### \`${name}\``,
    text,
    [
      `- **Written by** ${writersText(writers.get(name))}.`,
      keptText(KEPT[name]),
      `- **In an export**: ${left === undefined ? "yes" : `no, ${left}`}.`,
    ].join("\n"),
    ["| column | type | example | |", "|---|---|---|---|", ...rows].join("\n"),
  ].join("\n\n");
}

/** The properties' names in the schema, by column name. */
function propertiesOf(table: SQLiteTable): ReadonlyMap<string, string> {
  const { columns } = getTableConfig(table);
  return new Map(
    Object.entries(table).flatMap(([property, value]) => {
      const column = columns.find((each) => each === value);
      return column === undefined ? [] : [[column.name, property] as const];
    }),
  );
}

function typeOf(column: SQLiteColumn): string {
  const words = [column.getSQLType(), ...(column.notNull ? [] : ["or null"])];
  const { default: value } = column;
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (isPlain) words.push(`(default ${code(typeof value === "boolean" ? Number(value) : value)})`);
  return words.join(" ");
}

function code(value: string | number): string {
  const text = String(value);
  return text === "" ? "(empty)" : `\`${text.replaceAll("|", "\\|")}\``;
}

function writersText(writers: Writers | undefined): string {
  const parts = [...(writers ?? [])].map(
    ([name, writes]) => `${name.includes("/") ? `\`${name}\`` : name} (${writes.join(", ")})`,
  );
  return parts.join(", ");
}

function keptText(kept: Kept | undefined): string {
  const { kept: text = "", decidedIn } = kept ?? {};
  return `- **Kept**: ${text}${decidedIn === undefined ? "" : ` (\`${decidedIn}\`)`}.`;
}

function objectText(name: string, { one, tables, besides }: (typeof OBJECTS)[string]): string {
  const stored = besides === "" ? "" : ` It ${tables.length === 0 ? "stores" : "also stores"} ${besides}.`;
  return [`### \`${name}\``, `One for each ${one}.${stored}`, ...tables.map(objectTableText)].join("\n\n");
}

function objectTableText(table: ObjectTable): string {
  const columns = columnsIn(statementOf(table)).map(([column, type]) => {
    const value = table.example[column];
    return `| \`${column}\` | ${type} | ${value === undefined || value === null ? "" : code(value)} |`;
  });
  const [made, kept] = [`- **Made in** \`${table.madeIn}\`.`, keptText(table)];
  return [
    `**\`${table.name}\`**: ${table.holds}`,
    [made, kept].join("\n"),
    ["| column | type | example |", "|---|---|---|", ...columns].join("\n"),
  ].join("\n\n");
}

/** Names and types of a table's columns. */
function columnsIn(statement: string): readonly (readonly [string, string])[] {
  const columns = [...statement.matchAll(/[(,] ?(\w+) (TEXT|INTEGER)\b([^,()]*)/gi)];
  return columns.map(([, name = "", type = "", rest = ""]) => {
    const isNeeded = /NOT NULL|PRIMARY KEY/i.test(rest);
    return [name, `${type.toLowerCase()}${isNeeded ? "" : " or null"}`] as const;
  });
}

if (import.meta.main) keepGenerated({ file: STORAGE_PAGE, text: storagePage(), command: COMMAND, isFormatted: true });
