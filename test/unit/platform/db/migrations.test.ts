// Rules for migrations, so that every statement splitter, including D1's own, runs them as they were written.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { migratedDatabase } from "../../../simulation/engine/sqlite-d1.ts";

/**
 * Tables without rowids, which are stored in the order of their key, so that a row takes one entry instead of two. Drizzle cannot express this, so
 * the migrations say it by hand, and a migration that recreates such a table must repeat it.
 */
const WITHOUT_ROW_NUMBER = [
  "address_proofs",
  "audit_events",
  "checkouts",
  "customer_locations",
  "customers",
  "invoices",
  "method_amounts",
  "operations",
  "public_holds",
  "report_buckets",
  "search_words",
  "timeline_items",
];

const FOLDER = join(import.meta.dirname, "../../../../migrations");

interface Entry {
  readonly idx: number;
  readonly when: number;
  readonly tag: string;
}

const files = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".sql"))
  .sort();
const journal: { readonly entries: readonly Entry[] } = JSON.parse(
  readFileSync(join(FOLDER, "meta/_journal.json"), "utf8"),
);
const snapshot = (name: string): { readonly id: string; readonly prevId: string } =>
  JSON.parse(readFileSync(join(FOLDER, "meta", name), "utf8"));

/** The text without comments. */
function codeOf(file: string): string {
  return readFileSync(join(FOLDER, file), "utf8")
    .replaceAll(/--.*$/gm, "")
    .replaceAll(/\/\*.*?\*\//gs, "");
}

/**
 * Statement splitters like those that wrangler and D1 have had, including their mistakes: they recognised the end of a trigger by the characters
 * after END, by its case, or by counting words even in comments (workers-sdk 14991, 15162, 15178). Each statement is executed separately.
 */
const SPLITTERS: Readonly<Record<string, (text: string) => readonly string[]>> = {
  "counting all words": (text) => splitAt(text, /\b(?:BEGIN|CASE)\b/i, /\bEND\b/i),
  "an END before a semicolon or a space": (text) => splitAt(text, /\bBEGIN\b/i, /\bEND(?=[;\s])/i),
  "upper case only": (text) => splitAt(text, /\bBEGIN\b/, /\bEND\b/),
  "an END at the end of a line": (text) => splitAt(text, /\bBEGIN\b/i, /\bEND;?(?=\r?$)/im),
};

function splitAt(text: string, begin: RegExp, end: RegExp): readonly string[] {
  const statements: string[] = [];
  const word = new RegExp(`(${begin.source})|(${end.source})|;`, begin.flags.includes("i") ? "gim" : "gm");
  let depth = 0;
  let from = 0;
  for (const { 0: found, 1: opens, 2: closes, index } of text.matchAll(word)) {
    if (opens !== undefined) depth += 1;
    else if (closes !== undefined) depth = Math.max(0, depth - 1);
    if (depth > 0 || !found.endsWith(";")) continue;
    statements.push(text.slice(from, index + found.length));
    from = index + found.length;
  }
  return [...statements, text.slice(from)];
}

const schemaOf = (database: Pick<DatabaseSync, "prepare">) =>
  database
    .prepare(
      "select type, name, replace(sql, char(13), '') sql from sqlite_schema where name not like 'sqlite_%' order by type, name",
    )
    .all()
    .map((row) => ({ ...row }));

describe("the migrations", () => {
  it("create without rowids those tables that are written for each invoice and paged by key", () => {
    const tables = migratedDatabase().prepare("select name from pragma_table_list where wr = 1 order by name").all();
    expect(tables.map(({ name }) => name)).toEqual(WITHOUT_ROW_NUMBER);
  });

  it("exist, and contain triggers", () => {
    expect(files.length).toBeGreaterThanOrEqual(1);
    expect(files.map(codeOf).join("\n")).toMatch(/CREATE TRIGGER/);
  });

  it.each(files)("%s has no CASE, whose END a splitter would take for the end of a trigger", (file) => {
    expect(codeOf(file)).not.toMatch(/\bCASE\b/i);
  });

  it.each(files)("%s has one END for each BEGIN, each at the end of its statement", (file) => {
    const code = codeOf(file);
    expect(code.match(/\bEND\b/gi)?.length ?? 0).toBe(code.match(/\bBEGIN\b/gi)?.length ?? 0);
    expect(code.match(/\bEND\b(?!;)/gi)).toBeNull();
  });

  it.each(files)(
    "%s has no semicolon and no BEGIN, CASE or END in its comments, which would confuse a statement splitter",
    (file) => {
      const comments =
        readFileSync(join(FOLDER, file), "utf8").match(/--(?!> statement-breakpoint).*$|\/\*[\s\S]*?\*\//gm) ?? [];
      for (const comment of comments) expect(comment).not.toMatch(/\b(BEGIN|CASE|END)\b|;/i);
    },
  );

  describe.each(Object.entries(SPLITTERS))("split by %s", (_, split) => {
    it.each([
      ["with Unix line breaks", "\n"],
      ["with Windows line breaks", "\r\n"],
    ])("create the same schema, %s", (_, end) => {
      const database = new DatabaseSync(":memory:");
      for (const file of files) {
        const text = readFileSync(join(FOLDER, file), "utf8").replaceAll("\n", end);
        for (const statement of split(text)) database.exec(statement);
      }
      expect(schemaOf(database)).toEqual(schemaOf(migratedDatabase()));
    });
  });

  it("are listed in the journal, each once and in the order of their numbers", () => {
    expect(journal.entries.map(({ tag }) => `${tag}.sql`)).toEqual(files);
    expect(journal.entries.map(({ idx }) => idx)).toEqual(files.map((_, at) => at));
    expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, at) => at));
    const times = journal.entries.map(({ when }) => when);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it("each have a snapshot that names the previous one as its predecessor", () => {
    const snapshots = files.map((name) => snapshot(`${name.slice(0, 4)}_snapshot.json`));
    expect(snapshots.slice(1).map(({ prevId }) => prevId)).toEqual(snapshots.slice(0, -1).map(({ id }) => id));
  });
});
