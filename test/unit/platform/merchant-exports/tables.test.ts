// Every table must be exported, or omitted for a reason, so that a new table is not forgotten.
import { describe, expect, it } from "vitest";
import { parseExportDays } from "../../../../src/platform/merchant-exports/keep-days.ts";
import { nightOf, oldNights } from "../../../../src/platform/merchant-exports/manifest.ts";
import {
  CLOSING,
  EXPORTED,
  LEFT_OUT,
  OPENING,
  WALKS,
  WITHOUT_ROWID,
} from "../../../../src/platform/merchant-exports/tables.ts";
import { migratedDatabase } from "../../../simulation/engine/sqlite-d1.ts";

const sqlite = migratedDatabase();
const tables = sqlite
  .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
  .all()
  .map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));

describe("the tables of the schema", () => {
  it("are each exported, or omitted for a reason", () => {
    const decided = [...EXPORTED, ...Object.keys(LEFT_OUT)];
    expect(decided.toSorted()).toEqual(tables.map(({ name }) => name));
    expect(Object.values(LEFT_OUT).filter((why) => why.length < 10)).toEqual([]);
  });

  it("are correctly listed as having rowids or not", () => {
    const without = tables.filter(({ name, sql }) => EXPORTED.has(name) && /WITHOUT ROWID/i.test(sql));
    expect([...WITHOUT_ROWID].toSorted()).toEqual(without.map(({ name }) => name));
    // A column with that name would hide the rowid.
    const named = sqlite.prepare(
      "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE c.name = 'rowid'",
    );
    expect(named.all()).toEqual([]);
  });

  it("have no binary column, which a line of JSON could not contain", () => {
    const blobs = sqlite.prepare(
      "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND lower(c.type) NOT IN ('text', 'integer')",
    );
    expect(blobs.all()).toEqual([]);
  });
});

describe("the exported columns whose names suggest a secret", () => {
  // A column that may contain a secret may be exported only if its values are hashed, encrypted or public.
  const KNOWN: Readonly<Record<string, string>> = {
    "api_keys.hash": "SHA-256 under a key of the deployment",
    "api_keys.previous_hash": "the same",
    "backup_codes.mac": "HMAC",
    "backup_codes.mac_key_id": "an id",
    "deployment_keys.mac": "HMAC",
    "deployment_keys.mac_key_id": "an id",
    "invitations.token_hash": "SHA-256",
    "passkeys.public_key": "public",
    "users.totp_secret": "sealed",
    "wallets.key_hash": "SHA-256 of a public key",
    "wallets.mac": "HMAC",
    "wallets.mac_key_id": "an id",
    "payment_methods.is_from_public_key": "yes or no",
    "payment_methods.mac": "HMAC",
    "payment_methods.mac_key_id": "an id",
    "customers.email_key": "an address to compare",
    "invitations.email_key": "an address to compare",
    "users.email_key": "an address to compare",
    "webhook_secrets.sealed": "sealed",
  };

  it("are all listed with what they contain", () => {
    const found = [...EXPORTED].flatMap((table) =>
      sqlite
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => `${table}.${name}`),
    );
    const suspicious = found.filter((name) =>
      /secret|token|hash$|_key|\.key|mac|sealed|password|code/.test(name.split(".")[1] ?? ""),
    );
    const chain = new Set([
      "payments.tx_hash",
      "payments.block_hash",
      "payment_claims.tx_hash",
      "network_cursors.hash",
    ]);
    expect(suspicious.filter((name) => !chain.has(name)).toSorted()).toEqual(Object.keys(KNOWN).toSorted());
  });
});

describe("the statements of an export", () => {
  it("read each merchant's rows through an index", () => {
    // A scan would read the rows of all merchants once per merchant. Small tables of the deployment are read as a whole.
    const plans = [
      ...WALKS.map(({ table, from = `${table} t`, scope = "t.merchant_id", key, where = "true" }) => {
        const keys = key.map((column) => `t.${column}`).join();
        const after = `(${keys}) > (${key.map(() => "1").join()})`;
        return [
          table,
          `SELECT ${keys} FROM ${from} WHERE ${scope} = 'a' AND ${where} AND ${after} ORDER BY ${keys} LIMIT 5`,
        ];
      }),
      ...WALKS.flatMap(({ companions = [] }) =>
        companions.map(({ table, from }) => [
          table,
          `WITH page AS MATERIALIZED (SELECT 'a' AS id UNION SELECT 'b') SELECT c.* FROM page CROSS JOIN ${from}`,
        ]),
      ),
      ...CLOSING.map(({ table, from }) => [table, `SELECT c.* FROM ${from.replace("?", "'a'")}`]),
    ];
    const scans = plans.flatMap(([table, sql]) =>
      sqlite
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .filter(({ detail }) => /^SCAN (?!page|CONSTANT|\d)/.test(String(detail)) && !/^SCAN w$/.test(String(detail)))
        .map(({ detail }) => `${table}: ${detail}`),
    );
    expect(scans).toEqual([]);
    expect(OPENING.map(({ table }) => table)).toEqual(["network_cursors", "deployment_keys"]);
  });
});

describe("a night of exports", () => {
  it("starts at 02:00 UTC", () => {
    expect(nightOf(Date.UTC(2026, 10, 23, 1, 59))).toBe("2026-11-22");
    expect(nightOf(Date.UTC(2026, 10, 23, 2, 0))).toBe("2026-11-23");
  });

  it("is deleted once it is older than the setting allows, and nothing else in the bucket is deleted", () => {
    const folders = ["exports/2026-11-21/", "exports/2026-11-22/", "exports/2026-11-23/", "exports/mine/", "exports//"];
    expect(oldNights(folders, "2026-11-23", 1)).toEqual(["exports/2026-11-21/"]);
    expect(oldNights(folders, "2026-11-23", 30)).toEqual([]);
  });

  it.each([
    ["", 30],
    [" 7 ", 7],
    ["3650", 3650],
    ["0", null],
    ["-1", null],
    ["1.5", null],
    ["3651", null],
    ["x", null],
  ])("is kept for the number of days in the setting %j: %s (null if refused)", (text, days) => {
    const parsed = parseExportDays(text);
    expect(parsed.ok ? parsed.value : null).toBe(days);
  });
});
