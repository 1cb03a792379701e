// The list in architecture.md "Room to grow" shows what would have to be split for a second database, so it must be complete.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { joinsIn, tablesIn } from "../../support/joined-tables.ts";

const ROOT = join(import.meta.dirname, "../../..");
const sources = new Map(
  readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => `src/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => [path, readFileSync(join(ROOT, path), "utf8")] as const),
);
const page = readFileSync(join(ROOT, "docs/design/architecture.md"), "utf8");
const [, section = ""] = page.split("\n## Room to grow\n");
const [statements = "", batches = ""] = (section.split("\n## ")[0] ?? "").split("**Batches.**");

/** The functions in the page's tables, as `path#name`. The first column has paths, the second has names. */
function listed(text: string): readonly string[] {
  const rows = [...text.matchAll(/^\| `([\w/.-]+\.tsx?)` \| ([^|]+) \|/gm)];
  return rows.flatMap(([, path, names = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `${path}#${name}`));
}

/** The tables of accounts and cursors, which the page calls shared. */
const shared = [...(/Shared tables: ([^.]+)\./.exec(statements)?.[1] ?? "").matchAll(/`(\w+)`/g)].map(
  ([, name = ""]) => name,
);

describe("the section about room to grow", () => {
  it("names only tables that exist", () => {
    const tables = [...tablesIn(sources).values()];
    expect(shared.length).toBeGreaterThan(10);
    expect(shared.filter((name) => !tables.includes(name))).toEqual([]);
  });

  it("lists exactly the store functions that join merchants' tables with shared ones", () => {
    expect([...listed(statements)].sort()).toEqual(joinsIn(sources, shared));
  });

  it("names functions that exist, in the files it names", () => {
    expect(listed(batches).length).toBeGreaterThan(5);
    const missing = listed(batches).filter((each) => {
      const [path, name] = each.split("#");
      return !new RegExp(`\\b(function|const) ${name}\\b`).test(sources.get(`src/${path}`) ?? "");
    });
    expect(missing).toEqual([]);
  });
});
