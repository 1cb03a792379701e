// Rows as SQL for `wrangler d1 execute --file`, which takes no parameters. Each statement may be repeated: it replaces rows that were already
// inserted with equal rows.
import type { StoredRow } from "../../src/platform/merchant-exports/store.ts";

/** D1 refuses a statement of more than 100 KB. */
const MOST_CHARACTERS = 90_000;
/** A longer text is written in pieces, because one character may take eight characters in a literal. */
const MOST_OF_A_TEXT = 10_000;
/** The limit for each text of a row that is too long for one statement even without any text above the first limit. */
const MOST_OF_A_TEXT_THERE = 1_000;
/** Rows of these tables belong to the deployment, not to a merchant, and their rowids mean nothing in another database. */
const INSERTS: Readonly<Record<string, string>> = { network_cursors: "INSERT", deployment_keys: "INSERT OR IGNORE" };
export const SHARED: ReadonlySet<string> = new Set(["network_cursors", "deployment_keys"]);

export function insertsOf(table: string, rows: readonly StoredRow[]): readonly string[] {
  const own = rows.flatMap((row) => ownRow(table, row));
  const [first] = own;
  if (first === undefined) return [];
  // All rows of a table have the columns from the export, unless the deployment was upgraded meanwhile.
  const groups = Map.groupBy(own, (row) => Object.keys(row).join());
  return [...groups.values()].flatMap((group) => insertsOfGroup(table, group));
}

function insertsOfGroup(table: string, rows: readonly StoredRow[]): readonly string[] {
  const columns = Object.keys(rows[0] ?? {});
  const head = `${INSERTS[table] ?? "INSERT OR REPLACE"} INTO ${table} (${columns.join()}) VALUES\n`;
  const tail = table === "network_cursors" ? `\n${cursorTail(columns)}` : "";
  const statements: string[] = [];
  let values: string[] = [];
  let characters = 0;
  const end = () => {
    if (values.length > 0) statements.push(`${head}${values.join(",\n")}${tail};`);
    values = [];
    characters = 0;
  };
  for (const row of rows) {
    const { text, long } = shortened(row, columns);
    if (characters + text.length > MOST_CHARACTERS) end();
    values.push(text);
    characters += text.length + 2;
    if (long.length === 0) continue;
    end();
    for (const column of long) statements.push(...piecesOf(table, row, column));
  }
  end();
  return statements;
}

/** The beginning of a value, long enough to keep rows distinct in a unique column. */
const beginningOf = (value: StoredRow[string] | undefined) => [...String(value).slice(0, 300)].slice(0, 200).join("");

/** The row as values, with only the start of its long texts. */
function shortened(
  row: StoredRow,
  columns: readonly string[],
  most = MOST_OF_A_TEXT,
): { readonly text: string; readonly long: readonly string[] } {
  const long = columns.filter((column) => isLong(row[column], most));
  const text = `(${columns.map((column) => literalOf(long.includes(column) ? beginningOf(row[column]) : (row[column] ?? null))).join()})`;
  return text.length > MOST_CHARACTERS && most > MOST_OF_A_TEXT_THERE
    ? shortened(row, columns, MOST_OF_A_TEXT_THERE)
    : { text, long };
}

/** The columns about a row's search words, which are left out. A job creates the words again for rows without recorded words. */
const OF_WORDS: ReadonlySet<string> = new Set(["search_text", "indexed_at_ms"]);

/**
 * The row as it is inserted. The position of a network that was not watched is left out. If both databases have a position of a watched network, the
 * earlier one is kept, because payments would otherwise be missed.
 */
function ownRow(table: string, row: StoredRow): readonly StoredRow[] {
  if (!SHARED.has(table)) return [Object.fromEntries(Object.entries(row).filter(([name]) => !OF_WORDS.has(name)))];
  const { rowid: _, ...own } = row;
  if (table !== "network_cursors") return [own];
  return row.is_resting === 0 ? [{ ...own, progress: "{}" }] : [];
}

function cursorTail(columns: readonly string[]): string {
  const set = columns.filter((column) => column !== "network").map((column) => `${column} = excluded.${column}`);
  return `ON CONFLICT (network) DO UPDATE SET ${set.join()} WHERE network_cursors.is_resting <> 0 OR excluded.passed_ms < network_cursors.passed_ms`;
}

function isLong(value: StoredRow[string] | undefined, most: number): boolean {
  return typeof value === "string" && value.length > most;
}

/** Appends the pieces one after another, each only to the text that comes before it, so that repeating a statement changes nothing. */
function piecesOf(table: string, row: StoredRow, column: string): readonly string[] {
  const characters = [...String(row[column])];
  const { rowid, id, ...others } = row;
  const named = id === undefined || column === "id" || isLong(id, MOST_OF_A_TEXT_THERE) ? others : { id };
  const where = Object.entries(rowid === undefined ? named : { rowid })
    .filter(([name, value]) => name !== column && !isLong(value, MOST_OF_A_TEXT_THERE))
    .map(([name, value]) => `${name} IS ${literalOf(value ?? null)}`)
    .join(" AND ");
  const statements: string[] = [];
  for (let from = 0; from < characters.length; from += MOST_OF_A_TEXT) {
    const piece = literalOf(characters.slice(from, from + MOST_OF_A_TEXT).join(""));
    statements.push(`UPDATE ${table} SET ${column} = substr(${column}, 1, ${from}) || ${piece} WHERE ${where};`);
  }
  return statements;
}

/** Everything except plain characters is written as bytes, so that no program in between that splits or decodes the text can misread it. */
function literalOf(value: string | number | null): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  if (/^[\x20-\x7e]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return `CAST(X'${Buffer.from(value).toString("hex")}' AS TEXT)`;
}
