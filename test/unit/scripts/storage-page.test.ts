// Compares the storage page with the schema, the migrations, the sources and wrangler.toml. Every table must be described, and its example must be
// valid.
import { globSync, readFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import { KEPT } from "../../../scripts/storage/kept.ts";
import { OBJECTS, type ObjectTable } from "../../../scripts/storage/objects.ts";
import { schemaComments } from "../../../scripts/storage/schema-comments.ts";
import { writersIn } from "../../../scripts/storage/writers.ts";
import {
  commentsOfSchema,
  EXAMPLE_ROWS,
  STORAGE_PAGE,
  statementOf,
  storagePage,
  storedValues,
  writingSources,
} from "../../../scripts/write-storage.ts";
import { migratedDatabase } from "../../simulation/engine/sqlite-d1.ts";

const RESTORES = "commerce/restores";
const migrated = migratedDatabase();
const TABLES = migrated
  .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
  .all()
  .map(({ name }) => String(name));
const comments = commentsOfSchema();
const writers = writersIn(writingSources());
const objectTables = Object.entries(OBJECTS).flatMap(([object, { tables }]) =>
  tables.map((table) => ({ ...table, object })),
);

it("the storage page is what `npm run docs:storage` writes", () => {
  expect(readFileSync(STORAGE_PAGE, "utf8")).toBe(storagePage());
});

describe("the database's tables", () => {
  it("are those of the migrations, each with a comment, a retention time and code that inserts its rows", () => {
    expect(TABLES.length).toBeGreaterThan(50);
    expect([...comments.keys()].toSorted()).toEqual(TABLES);
    expect(TABLES.filter((table) => comments.get(table)?.text === "")).toEqual([]);
    expect(Object.keys(KEPT).toSorted()).toEqual(TABLES);
    const inserted = (table: string) => [...(writers.get(table)?.values() ?? [])].flat().includes("inserts");
    expect(TABLES.filter((table) => !inserted(table))).toEqual([]);
  });

  it("each have an example, except the table that is always empty", () => {
    const names = EXAMPLE_ROWS.map(({ table }) => getTableConfig(table).name);
    expect(names.toSorted()).toEqual(TABLES.filter((name) => name !== "assertions"));
  });

  it.each(EXAMPLE_ROWS.map((row) => ({ row, name: getTableConfig(row.table).name })))(
    "accept the example of $name, with values of their columns' types",
    ({ row, name }) => {
      const { columns } = getTableConfig(row.table);
      const stored = storedValues(row);
      expect([...stored.keys()].filter((column) => columns.every((each) => each.name !== column))).toEqual([]);
      const kinds = insertedKinds(migrated, name, stored);
      const wrong = columns.filter((column) => {
        const kind = kinds[column.name];
        const value = stored.get(column.name);
        const isListed =
          column.enumValues === undefined || value === undefined || column.enumValues.includes(String(value));
        return !isListed || (kind !== column.getSQLType() && (column.notNull || kind !== "null"));
      });
      expect(wrong.map((column) => column.name)).toEqual([]);
    },
  );

  it("keep rows indefinitely if and only if nothing but a restore deletes them", () => {
    const isDeleted = (table: string) =>
      [...(writers.get(table) ?? [])].some(([by, writes]) => by !== RESTORES && writes.includes("deletes"));
    const withoutEnd = TABLES.filter((table) => /^(without end(?!, unless)|never)/.test(KEPT[table]?.kept ?? ""));
    expect(withoutEnd).toEqual(TABLES.filter((table) => !isDeleted(table)));
  });
});

describe("the page's Durable Objects", () => {
  it("are exactly the classes in wrangler.toml", () => {
    const classes = [...readFileSync("wrangler.toml", "utf8").matchAll(/class_name = "(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(Object.keys(OBJECTS).toSorted()).toEqual(classes.toSorted());
  });

  it("have exactly the tables that files in src create", () => {
    const made = globSync("src/**/*.ts").flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/create table if not exists (\w+)/gi)].map(
        ([, name]) => `${path.replaceAll("\\", "/")} ${name}`,
      ),
    );
    const listed = new Set(objectTables.map(({ madeIn, name }) => `${madeIn} ${name}`));
    expect([...listed].toSorted()).toEqual(made.toSorted());
  });

  it.each(objectTables)(
    "accept the example of $object's $name, with values of their columns' types",
    (table: ObjectTable) => {
      const sqlite = new DatabaseSync(":memory:");
      sqlite.exec(statementOf(table));
      const kinds = insertedKinds(sqlite, table.name, new Map(Object.entries(table.example)));
      const columns = sqlite.prepare(`select name, lower(type) as type from pragma_table_info('${table.name}')`).all();
      expect(columns.length).toBeGreaterThan(0);
      const wrong = columns.filter(({ name, type }) => ![type, "null"].includes(kinds[String(name)] ?? ""));
      expect(wrong).toEqual([]);
    },
  );
});

/** The types that SQLite gives to the values of the inserted row, by column. */
function insertedKinds(
  sqlite: DatabaseSync,
  table: string,
  row: ReadonlyMap<string, SQLInputValue>,
): Readonly<Record<string, string>> {
  const columns = sqlite.prepare(`select name from pragma_table_info('${table}')`).all();
  const kinds = columns.map(({ name }) => `typeof("${name}") as "${name}"`);
  const names = [...row.keys()].map((name) => `"${name}"`);
  const marks = names.map(() => "?");
  const insert = `insert into "${table}" (${names.join()}) values (${marks.join()}) returning ${kinds.join()}`;
  const found = sqlite.prepare(insert).get(...row.values()) ?? {};
  return Object.fromEntries(Object.entries(found).map(([name, kind]) => [name, String(kind)]));
}

describe("the page's inputs", () => {
  it("include writes through builders, whole rows, SQL and triggers, but not those in comments", () => {
    const found = writersIn(
      new Map([
        ["src/platform/db/schema/a.ts", 'export const things = sqliteTable("all_things", {\n'],
        ["src/commerce/a/store.ts", "db.insert(things); // delete from all_things"],
        ["src/commerce/a/by/store.ts", "const put = preparedInsert(things, []); db.update(things)"],
        ["src/detection/b/store.ts", "sql`delete from all_things where id = 1`"],
        ["migrations/0.sql", "INSERT INTO `all_things` VALUES (1);"],
      ]),
    );
    expect([...(found.get("all_things") ?? [])]).toEqual([
      ["a trigger", ["inserts"]],
      ["commerce/a", ["inserts", "updates"]],
      ["detection/b", ["deletes"]],
    ]);
  });

  it("include tables without a comment, and the comments of columns", () => {
    const source = `/** Of others. */
const other = 1;
export const bare = sqliteTable("bare", { id: text("id") });
/**
 * Things | more.
 */
export const things = sqliteTable(
  "things",
  {
    id: text("id").$type<Id<"a">>().primaryKey(),
    /** When. */
    atMs: integer("at_ms").notNull(),
  },
);`;
    const found = schemaComments([source]);
    expect(found.get("bare")?.text).toBe("");
    expect(found.get("things")?.text).toBe("Things \\| more.");
    expect([...(found.get("things")?.columns ?? [])]).toEqual([
      ["id", ""],
      ["at_ms", "When."],
    ]);
  });
});
