import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it, test } from "vitest";
import { StartError } from "../../../scripts/settings.ts";
import { COMPATIBILITY_FLAGS, migrate } from "../../../scripts/wrangler.ts";

test("the development server has the compatibility flags of a deployment, and one more", () => {
  const [, list = ""] = /^compatibility_flags = (\[.*\])$/m.exec(readFileSync("wrangler.toml", "utf8")) ?? [];
  const deployed: string[] = JSON.parse(list);
  expect([...COMPATIBILITY_FLAGS]).toEqual([...deployed, "queue_consumer_no_wait_for_wait_until"]);
});

describe("a home folder of another release", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** A home folder whose database has one migration, with this name. */
  function homeMigratedBy(name: string) {
    const path = mkdtempSync(join(tmpdir(), "edgetill-home-"));
    folders.push(path);
    const home = { path, state: join(path, "state") };
    const folder = join(home.state, "v3/d1/miniflare-D1DatabaseObject");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${"a".repeat(64)}.sqlite`);
    const database = new DatabaseSync(file);
    database.exec(`CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE merchants (id TEXT)`);
    database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").run(name);
    database.close();
    return { home, file };
  }

  it("is refused with the command that deletes its state, and its database remains unchanged", async () => {
    const { home, file } = homeMigratedBy("0000_foundation.sql");
    const before = readFileSync(file);
    const refusal = await migrate(home).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StartError);
    expect(String(refusal)).toContain("another release of Edgetill: this one has no migration 0000_foundation.sql");
    expect(String(refusal)).toContain(`rm -r ${home.state}`);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});
