import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import { insertSql, newDemo, newKey, newMerchant } from "../../../scripts/seed.ts";
import { hashApiKey } from "../../../src/accounts/auth/api-key.ts";
import { keyringOf } from "../../support/keyrings.ts";

const NOW_MS = Date.UTC(2026, 10, 21);
const MAC_KEYS = keyringOf(`dev1:${Buffer.alloc(32, 1).toString("base64")}`);
let database: DatabaseSync;

beforeEach(() => {
  database = new DatabaseSync(":memory:");
  for (const file of readdirSync("migrations")
    .filter((each) => each.endsWith(".sql"))
    .sort()) {
    database.exec(readFileSync(`migrations/${file}`, "utf8"));
  }
});

const demoSql = () => {
  const { rows, ...demo } = newDemo(MAC_KEYS, NOW_MS);
  return { ...demo, sql: insertSql(rows) };
};

describe("the seed", () => {
  test("creates one merchant with a secret key of 28 permissions and a public key of 3, stored as hashes", () => {
    const { merchant, secret, open, sql } = demoSql();
    database.exec(sql);
    expect(database.prepare("SELECT id, name FROM merchants").all()).toEqual([{ id: merchant.id, name: "Demo shop" }]);
    const keys =
      "SELECT kind, hash, json_array_length(permissions) AS held, merchant_id FROM api_keys ORDER BY kind DESC";
    expect(database.prepare(keys).all()).toEqual([
      { kind: "SECRET", hash: hashApiKey(secret.secret), held: 28, merchant_id: merchant.id },
      { kind: "PUBLIC", hash: hashApiKey(open.secret), held: 3, merchant_id: merchant.id },
    ]);
  });

  test("gives the merchant one team and one owner, whose email is verified by the first sign-in", () => {
    const { merchant, sql } = demoSql();
    database.exec(sql);
    const owners =
      "SELECT role, email, email_verified_at_ms AS verified, t.merchant_id FROM members m JOIN users u ON u.id = m.user_id JOIN teams t ON t.merchant_id = m.merchant_id";
    expect(database.prepare(owners).all()).toEqual([
      { role: "OWNER", email: "owner@example.com", verified: null, merchant_id: merchant.id },
    ]);
  });

  test("changes nothing when it runs again, and keeps later changes", () => {
    const { sql } = demoSql();
    database.exec(sql);
    database.exec("UPDATE api_keys SET revoked_at_ms = 1; UPDATE merchants SET name = 'Mine'");
    const rows = () => [
      database.prepare("SELECT * FROM merchants").all(),
      database.prepare("SELECT * FROM api_keys").all(),
    ];
    const before = rows();
    database.exec(sql);
    expect(rows()).toEqual(before);
  });

  test("writes any text unchanged", () => {
    const name = `O'Brien's "shop" ?, $1 -- \\ 漢字`;
    database.exec(insertSql({ merchants: [newMerchant(name, NOW_MS)] }));
    expect(database.prepare("SELECT name FROM merchants").all()).toEqual([{ name }]);
  });

  test.each(["My shop; X", "a\nb", "a\r\nb", "漢;字'"])(
    "writes a single statement even for a text that a splitter could split: %j",
    (name) => {
      const sql = insertSql({ merchants: [newMerchant(name, NOW_MS)] });
      expect(sql.match(/;/g)).toHaveLength(1);
      database.exec(sql);
      expect(database.prepare("SELECT name, typeof(name) AS type FROM merchants").all()).toEqual([
        { name, type: "text" },
      ]);
    },
  );

  test("refuses a text with NUL, which would end SQLite's text", () => {
    expect(() => insertSql({ merchants: [newMerchant("a\0b", NOW_MS)] })).toThrow("no SQL literal");
  });

  test("creates different keys each time", () => {
    const { id } = newMerchant("Shop", NOW_MS);
    const secrets = Array.from(
      { length: 100 },
      () => newKey(MAC_KEYS, { merchantId: id, kind: "SECRET", nowMs: NOW_MS }).secret,
    );
    expect(new Set(secrets).size).toBe(100);
  });
});
