// Which feature writes rows to which table, found in their sources: drizzle's builders, whole rows inserted by prepared statements, and SQL text.
// Triggers in the migrations also write rows.
import { tablesIn } from "../../test/support/joined-tables.ts";

const WRITES = ["inserts", "updates", "deletes"] as const;
type Write = (typeof WRITES)[number];

/** The writes of each writer. A writer is a feature (`district/feature`), a file in `scripts`, or `a trigger`. Sorted by name. */
export type Writers = ReadonlyMap<string, readonly Write[]>;

const BUILDER = /\.(insert|update|delete)\(\s*(\w+)\s*\)/g;
const PREPARED = /\bprepared(Insert)\(\s*(\w+)/g;
const TEXT = /\b(insert into|update|delete from)\s+["`]?(\w+)/gi;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*$|^--.*$/gm;

/** The writers by table name. `sources`: the texts of `src`, `scripts` and `migrations` by their paths below the root. */
export function writersIn(sources: ReadonlyMap<string, string>): ReadonlyMap<string, Writers> {
  const byDeclaration = new Map([...tablesIn(sources)].map(([key, table]) => [key.split("#")[1] ?? "", table]));
  const found = [...sources].flatMap(([path, text]) =>
    writesIn(text.replaceAll(COMMENT, ""), byDeclaration).map((each) => ({ ...each, by: writerOf(path) })),
  );
  return new Map(
    [...byDeclaration.values()].map((table) => [table, writersOf(found.filter((each) => each.table === table))]),
  );
}

function writersOf(found: readonly { readonly write: Write; readonly by: string }[]): Writers {
  const names = [...new Set(found.map(({ by }) => by))].toSorted();
  const does = (name: string, write: Write) => found.some((each) => each.by === name && each.write === write);
  return new Map(names.map((name) => [name, WRITES.filter((write) => does(name, write))]));
}

function writesIn(
  text: string,
  byDeclaration: ReadonlyMap<string, string>,
): readonly { readonly table: string; readonly write: Write }[] {
  const tables = new Set(byDeclaration.values());
  const builders = [...text.matchAll(BUILDER), ...text.matchAll(PREPARED)].map(([, verb = "", name = ""]) => ({
    table: byDeclaration.get(name) ?? "",
    write: writeOf(verb),
  }));
  const texts = [...text.matchAll(TEXT)].map(([, verb = "", table = ""]) => ({ table, write: writeOf(verb) }));
  return [...builders, ...texts].filter(({ table }) => tables.has(table));
}

function writeOf(verb: string): Write {
  const word = verb.toLowerCase();
  if (word.startsWith("insert")) return "inserts";
  return word.startsWith("update") ? "updates" : "deletes";
}

function writerOf(path: string): string {
  const [root, ...rest] = path.split("/");
  if (root === "migrations") return "a trigger";
  return root === "src" ? rest.slice(0, -1).slice(0, 2).join("/") : path;
}
