import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { newSetUpLink } from "../../../scripts/new-setup-link.ts";
import { isRedeemable, linkHashOf } from "../../../src/accounts/set-up/set-up-link.ts";
import { migratedDatabase } from "../../simulation/engine/sqlite-d1.ts";

const ORIGIN = "https://pay.example";
const LINK = /^https:\/\/pay\.example\/setup#([A-Za-z0-9_-]{43})$/;
const tokenOf = (link: string) => LINK.exec(link)?.[1] ?? "";
const linksIn = (database: DatabaseSync) =>
  database
    .prepare("SELECT token_hash AS tokenHash, expires_at_ms AS expiresAtMs, used_at_ms AS usedAtMs FROM set_up_links")
    .all();

describe("a new set-up link", () => {
  test("has 32 random bytes in its fragment, and a different token each time", () => {
    const tokens = Array.from({ length: 100 }, () => tokenOf(newSetUpLink(ORIGIN).link));
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(Buffer.from(token, "base64url").length).toBe(32);
  });

  test("is stored as a hash, for 24 hours, without its token", () => {
    const database = migratedDatabase();
    const { link, sql } = newSetUpLink(ORIGIN);
    expect(sql).not.toContain(tokenOf(link));
    database.exec(sql);
    const [row] = linksIn(database);
    expect(row).toMatchObject({ tokenHash: linkHashOf(tokenOf(link)), usedAtMs: null });
    const endMs = Number(row?.expiresAtMs);
    expect(Math.abs(endMs - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
    const stored = { tokenHash: "", expiresAtMs: endMs, usedAtMs: null };
    expect([isRedeemable(stored, endMs - 1), isRedeemable(stored, endMs)]).toEqual([true, false]);
  });

  test("replaces unused links, keeps used ones, and is in the audit log", () => {
    const database = migratedDatabase();
    const [used, unused, last] = [newSetUpLink(ORIGIN), newSetUpLink(ORIGIN), newSetUpLink(ORIGIN)];
    database.exec(used.sql);
    database.exec("UPDATE set_up_links SET used_at_ms = 1");
    database.exec(unused.sql);
    database.exec(last.sql);
    const hashes = linksIn(database).map(({ tokenHash }) => tokenHash);
    expect(new Set(hashes)).toEqual(new Set([used, last].map(({ link }) => linkHashOf(tokenOf(link)))));
    const entries = database.prepare("SELECT id, action, actor_kind AS actor FROM audit_events").all();
    expect(entries).toMatchObject(Array.from({ length: 3 }, () => ({ action: "setup_link.created", actor: "SYSTEM" })));
  });

  test("is not required by a deployment that had users before such links existed, because the migration counts it as set up", () => {
    const before = new DatabaseSync(":memory:");
    const [first = "", ...later] = migrationsInOrder();
    before.exec(first);
    before.exec(
      "INSERT INTO users (id, email, email_key, created_at_ms, updated_at_ms) VALUES ('usr_1', 'a', 'a', 1, 1)",
    );
    for (const migration of later) before.exec(migration);
    expect(before.prepare("SELECT id, origin FROM deployment").all()).toEqual([{ id: 1, origin: null }]);
    expect(migratedDatabase().prepare("SELECT * FROM deployment").all()).toEqual([]);
    expect(() => before.exec("INSERT INTO deployment (id, set_up_at_ms) VALUES (2, 1)")).toThrow(/deployment_is_one/);
  });
});

const folder = mkdtempSync(join(tmpdir(), "edgetill-setup-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("npm run setup-link", () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["scripts/setup-link.ts", ...args], {
      encoding: "utf8",
      env: { ...process.env, EDGETILL_HOME: folder, PORT: "9123" },
    });

  test("stores a link in the database of this machine's server, and prints it", () => {
    const databases = join(folder, "state/v3/d1/miniflare-D1DatabaseObject");
    mkdirSync(databases, { recursive: true });
    const file = new DatabaseSync(join(databases, `${"0".repeat(64)}.sqlite`));
    for (const migration of migrationsInOrder()) file.exec(migration);
    const { status, stdout } = run();
    expect(status).toBe(0);
    const token = /http:\/\/localhost:9123\/setup#([\w-]{43})/.exec(stdout)?.[1] ?? "";
    expect(linksIn(file)).toMatchObject([{ tokenHash: linkHashOf(token) }]);
    file.close();
  });

  test.each([
    [["--remote"], /--remote needs --origin/],
    [["--remote", "--origin", "http://pay.example"], /--origin must be https/],
    [["--nowhere"], /Usage: npm run setup-link/],
  ])("with %j says what is missing, and changes nothing", (args, message) => {
    const { status, stderr, stdout } = run(...args);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(message);
  });
});

describe("npm run setup-link -- --remote", () => {
  /** Runs the script with a stand-in for wrangler that records its commands and exits with this status. */
  function runBeside(status: number, ...args: string[]) {
    const place = mkdtempSync(join(folder, "remote-"));
    mkdirSync(join(place, "node_modules/wrangler/bin"), { recursive: true });
    const standIn = `import { writeFileSync } from "node:fs";
      writeFileSync("asked.json", JSON.stringify(process.argv.slice(2)));
      console.error("the stand-in's own words");
      process.exit(${status});`;
    writeFileSync(join(place, "node_modules/wrangler/bin/package.json"), '{"type":"module"}');
    writeFileSync(join(place, "node_modules/wrangler/bin/wrangler.js"), standIn);
    const ended = spawnSync(process.execPath, [resolve("scripts/setup-link.ts"), ...args], {
      encoding: "utf8",
      cwd: place,
    });
    return { ...ended, asked: JSON.parse(readFileSync(join(place, "asked.json"), "utf8")) as readonly string[] };
  }

  test("has wrangler store the hash in one command, and prints the link for the given origin", () => {
    const { status, stdout, asked } = runBeside(
      0,
      "--remote",
      "--origin",
      "https://pay.example/console",
      "--config",
      "own.toml",
    );
    expect(status).toBe(0);
    const [, token = ""] = /\bhttps:\/\/pay\.example\/setup#([\w-]{43})\b/.exec(stdout) ?? [];
    expect(asked.slice(0, -1)).toEqual([
      "d1",
      "execute",
      "DB",
      "--remote",
      "--yes",
      "--config",
      "own.toml",
      "--command",
    ]);
    expect(asked.at(-1)).toContain(linkHashOf(token));
    expect(asked.join(" ")).not.toContain(token);
  });

  test("prints wrangler's output and what to check, but no link, when wrangler fails", () => {
    const { status, stdout, stderr } = runBeside(1, "--remote", "--origin", "https://pay.example");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/the stand-in's own words[\s\S]*wrangler -- login/);
  });
});

/** The texts of all migrations, beginning with the first release's. */
function migrationsInOrder(): readonly string[] {
  const names = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
  return names.sort().map((name) => readFileSync(`migrations/${name}`, "utf8"));
}
