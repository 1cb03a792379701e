// The schema's comments on tables and columns: `/** ... */` before each.

export interface TableComments {
  /** The table's comment; empty if it has none. */
  readonly text: string;
  /** By column name. */
  readonly columns: ReadonlyMap<string, string>;
}

const TABLE = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export const \w+ = sqliteTable\(\s*"(\w+)"/g;
const COLUMN = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?\b\w+: \w+(?:<[^()]*>)?\(\s*"(\w+)"/g;

/** By table name; `sources` are the texts of the schema's files. */
export function schemaComments(sources: readonly string[]): ReadonlyMap<string, TableComments> {
  return new Map(sources.flatMap(commentsIn));
}

function commentsIn(source: string): readonly (readonly [string, TableComments])[] {
  const tables = [...source.matchAll(TABLE)];
  return tables.map(({ index, 0: head, 1: comment = "", 2: name = "" }, n) => {
    const body = source.slice(index + head.length, tables[n + 1]?.index);
    const columns = [...body.matchAll(COLUMN)].map(([, text = "", column = ""]) => [column, plain(text)] as const);
    return [name, { text: plain(comment), columns: new Map(columns) }];
  });
}

/** A comment's text in one line, for a table cell. */
function plain(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*\s?/, "").trim());
  return lines.join(" ").trim().replaceAll("|", "\\|");
}
