// The import through wrangler: its commands, and what is done with their output. wrangler itself is replaced by SQLite and a folder.
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Program, wranglerFor } from "../../../../scripts/deploy/wrangler-command.ts";
import { download } from "../../../../scripts/import-export/download.ts";
import { ImportError } from "../../../../scripts/import-export/import-error.ts";
import { importMerchants } from "../../../../scripts/import-export/import-merchants.ts";
import { digestOf } from "../../../../scripts/import-export/read-export.ts";
import { remoteTarget } from "../../../../scripts/import-export/target.ts";
import { migratedDatabase } from "../../../simulation/engine/sqlite-d1.ts";

const DATE = "2026-11-22";
const ID = "mer_a";
let root: string;
let calls: string[];
let database: DatabaseSync;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "edgetill-import-"));
  calls = [];
  database = migratedDatabase();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The file for an object of a bucket. Slashes in its key are replaced. */
const objectFile = (key: string) => join(root, key.replaceAll("/", "_"));

const put = (key: string, content: string | Buffer) => writeFileSync(objectFile(key), content);

/** A bucket with one merchant, one wallet with an extended key, and the last address index that was used. */
function fillBucket(): void {
  const tables: Record<string, object[]> = {
    wallets: [
      {
        rowid: 1,
        id: "wal_a",
        merchant_id: ID,
        wallet_type: "XPUB_WALLET",
        cryptocurrency: "BTC",
        network: "BTC",
        key_hash: "h",
        required_confirmations: 1,
        is_enabled: 1,
        next_index: 7,
        mac: "m",
        mac_key_id: "k1",
        created_at_ms: 1,
        updated_at_ms: 1,
      },
    ],
    merchants: [{ rowid: 1, id: ID, name: "Bäcker's", created_at_ms: 1, updated_at_ms: 1 }],
  };
  const parts = Object.entries(tables).map(([table, rows]) => {
    const content = gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const key = `exports/${DATE}/${ID}/${table}-1.jsonl.gz`;
    put(key, content);
    return { key, table, rows: rows.length, bytes: content.length, sha256: digestOf(content) };
  });
  const manifest = JSON.stringify({
    format: 1,
    release: "1",
    date: DATE,
    merchantId: ID,
    begunAt: "b",
    endedAt: "e",
    rows: { wallets: 1, merchants: 1 },
    parts,
  });
  put(`exports/${DATE}/${ID}/manifest.json`, manifest);
  const entry = {
    merchantId: ID,
    manifest: `exports/${DATE}/${ID}/manifest.json`,
    sha256: digestOf(Buffer.from(manifest)),
  };
  put(`exports/${DATE}/merchants.json`, JSON.stringify({ format: 1, date: DATE, merchants: [entry], failed: [] }));
}

const optionOf = (args: readonly string[], flag: string) => args[args.indexOf(flag) + 1] ?? "";

const program: Program = async (args, { onOutput }) => {
  calls.push(args.join(" "));
  if (args[0] === "r2") {
    const key = (args[3] ?? "").slice("shop-exports/".length);
    if (!existsSync(objectFile(key))) {
      onOutput("✘ [ERROR] The specified key does not exist.", "stderr");
      return false;
    }
    copyFileSync(objectFile(key), optionOf(args, "--file"));
    return true;
  }
  if (args.includes("--json")) {
    const results = database.prepare(optionOf(args, "--command")).all();
    onOutput(`▲ [WARNING] something\n\n${JSON.stringify([{ results, success: true }], null, 2)}`, "stdout");
    return true;
  }
  const file = optionOf(args, "--file");
  expect(statSync(file).mode & 0o077).toBe(0);
  database.exec(`BEGIN; ${readFileSync(file, "utf8")}; COMMIT`);
  return true;
};

const wrangler = () =>
  wranglerFor({ root, program, environment: {}, print: () => {}, notInherited: () => [], accountId: undefined });

const bring = () =>
  download(wrangler(), { bucket: "shop-exports", date: DATE, merchants: [], folder: join(root, "night") });
const importInto = (lines: string[] = []) =>
  importMerchants(remoteTarget(wrangler(), "shop", "wrangler.shop.jsonc"), {
    folder: join(root, "night"),
    merchants: [],
    skipAddresses: 1_000,
    progressFolder: join(root, "progress"),
    print: (line) => void lines.push(line),
  });

describe("an import from a bucket into a deployment", () => {
  it("fetches and inserts a night's export and skips used addresses, and a repeated import changes nothing", async () => {
    fillBucket();
    await bring();
    const lines: string[] = [];
    await importInto(lines);
    expect(database.prepare("SELECT name FROM merchants").all()).toEqual([{ name: "Bäcker's" }]);
    expect(database.prepare("SELECT next_index FROM wallets").all()).toEqual([{ next_index: 1_007 }]);
    await importInto(lines);
    expect(database.prepare("SELECT next_index FROM wallets").all()).toEqual([{ next_index: 1_007 }]);
    expect(lines).toEqual([
      "Checked 1 exports: every part is there and unchanged.",
      "The deployment has recorded no key yet, so it is not known whether it has the MASTER_KEY of the old one.",
      `${ID}: 2 rows of b.`,
      "Checked 1 exports: every part is there and unchanged.",
      "The deployment has recorded no key yet, so it is not known whether it has the MASTER_KEY of the old one.",
      `${ID}: was imported before.`,
    ]);
    const writes = calls.filter((call) => call.startsWith("d1") && !call.includes("--json"));
    expect(writes).toEqual([
      expect.stringMatching(/^d1 execute DB --remote --yes --config wrangler.shop.jsonc --file \S+rows.sql$/),
    ]);
    // No rows of customers may remain in the temporary folder.
    expect(existsSync(optionOf((writes[0] ?? "").split(" "), "--file"))).toBe(false);
  });

  it("fetches only missing or changed objects again", async () => {
    fillBucket();
    await bring();
    const [first = ""] = readdirSync(join(root, `night/${ID}`)).filter((name) => name.startsWith("wallets"));
    writeFileSync(join(root, `night/${ID}/${first}`), "changed");
    calls = [];
    await bring();
    const objects = calls.map((call) => call.split(" ")[3]?.split("/").at(-1));
    expect(objects).toEqual(["merchants.json", "manifest.json", "wallets-1.jsonl.gz"]);
  });

  it("ends with wrangler's own message if an object is missing", async () => {
    fillBucket();
    rmSync(objectFile(`exports/${DATE}/${ID}/wallets-1.jsonl.gz`));
    await expect(bring()).rejects.toThrow(/wallets-1.jsonl.gz could not be read from the bucket[\s\S]*does not exist/);
    await expect(importInto()).rejects.toBeInstanceOf(ImportError);
    expect(database.prepare("SELECT count(*) AS n FROM merchants").get()).toEqual({ n: 0 });
  });

  it("refuses a column name that could be read as SQL", async () => {
    fillBucket();
    await bring();
    const file = join(root, `night/${ID}/merchants-1.jsonl.gz`);
    const content = gzipSync(`${JSON.stringify({ "id) VALUES (1); DROP TABLE merchants; --": 1 })}\n`);
    writeFileSync(file, content);
    const manifest = JSON.parse(readFileSync(join(root, `night/${ID}/manifest.json`), "utf8"));
    Object.assign(manifest.parts[1], { bytes: content.length, sha256: digestOf(content) });
    writeFileSync(join(root, `night/${ID}/manifest.json`), JSON.stringify(manifest));
    rmSync(join(root, "night/merchants.json"));
    const request = {
      folder: join(root, "night"),
      merchants: [ID],
      skipAddresses: 0,
      progressFolder: root,
      print: () => {},
    };
    await expect(importMerchants(remoteTarget(wrangler(), "shop", "c"), request)).rejects.toThrow(/has a column/);
  });
});
