// Rules for migrations, so that every splitter of statements, D1's own included, runs them as they were written.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { migratedDatabase } from "../../../simulation/engine/sqlite-d1.ts";

/**
 * Tables that are sorted by their key and have no row number: a row of them is one entry and not two. Drizzle has no word for it, so it stands
 * in the migrations by hand, and a migration that makes one of them anew must say it again.
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

/** The statements without their comments. */
function codeOf(file: string): string {
  return readFileSync(join(FOLDER, file), "utf8")
    .replaceAll(/--.*$/gm, "")
    .replaceAll(/\/\*.*?\*\//gs, "");
}

describe("the migrations", () => {
  it("create the tables without row numbers that are written for each invoice and paged by their keys", () => {
    const tables = migratedDatabase().prepare("select name from pragma_table_list where wr = 1 order by name").all();
    expect(tables.map(({ name }) => name)).toEqual(WITHOUT_ROW_NUMBER);
  });

  it("exist, and contain triggers", () => {
    expect(files.length).toBeGreaterThanOrEqual(1);
    expect(files.map(codeOf).join("\n")).toMatch(/CREATE TRIGGER/);
  });

  it.each(files)("%s has no CASE, whose END D1's splitter would take for the end of a trigger", (file) => {
    expect(codeOf(file)).not.toMatch(/\bCASE\b/i);
  });

  it.each(files)("%s has one END for each BEGIN, each at the end of its statement", (file) => {
    const code = codeOf(file);
    expect(code.match(/\bEND\b/gi)?.length ?? 0).toBe(code.match(/\bBEGIN\b/gi)?.length ?? 0);
    expect(code.match(/\bEND\b(?!;)/gi)).toBeNull();
  });

  it("are listed in the journal, each once and in the order of their numbers", () => {
    expect(journal.entries.map(({ tag }) => `${tag}.sql`)).toEqual(files);
    expect(journal.entries.map(({ idx }) => idx)).toEqual(files.map((_, at) => at));
    expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, at) => at));
    const times = journal.entries.map(({ when }) => when);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it("have a snapshot each, which names the one before it as its predecessor", () => {
    const snapshots = files.map((name) => snapshot(`${name.slice(0, 4)}_snapshot.json`));
    expect(snapshots.slice(1).map(({ prevId }) => prevId)).toEqual(snapshots.slice(0, -1).map(({ id }) => id));
  });
});
