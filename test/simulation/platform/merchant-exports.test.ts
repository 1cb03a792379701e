// Nightly exports must be complete and readable for any merchant, even if their runs crash. A damaged export must be refused.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { ImportError } from "../../../scripts/import-export/import-error.ts";
import { importMerchants } from "../../../scripts/import-export/import-merchants.ts";
import { localTarget } from "../../../scripts/import-export/target.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { exportMerchants } from "../../../src/platform/merchant-exports/export-merchants.ts";
import { EXPORTED, WITHOUT_ROWID } from "../../../src/platform/merchant-exports/tables.ts";
import { type MemoryBucket, memoryBucket } from "../../support/export-bucket.ts";
import { triesOf } from "../../support/property-runs.ts";
import { CAMPAIGN_LIMIT_MS } from "../engine/campaign.ts";
import { migratedDatabase, savepoints, sqliteD1, statementCache } from "../engine/sqlite-d1.ts";
import { anyWorld, fill, NOW_MS, type World } from "./export-worlds.ts";

const DATE = "2026-11-23";
const TRIES = triesOf({ usual: 25, deep: 3_000 });

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-export-"));
  folders.push(folder);
  return folder;
}

interface Faults {
  /** Called before each storage call; may throw, or change the database. */
  before?: () => void;
  readonly characters?: number;
}

/** Runs the job until nothing is left, and again after each fault. */
async function exportAll(sqlite: DatabaseSync, { before = () => {}, characters = 16_000_000 }: Faults = {}) {
  const bucket = memoryBucket(before);
  const effect = async <T>(_: string, work: () => T) => {
    before();
    return work();
  };
  const db = openDb(sqliteD1(statementCache(sqlite), savepoints(sqlite), effect));
  const deps = { db, bucket, nowMs: NOW_MS, clock: () => NOW_MS, release: "1.0.0", keepDays: 30, report: () => {} };
  for (let runs = 0; runs < 5_000; runs++) {
    try {
      const left = await exportMerchants({ ...deps, bounds: { characters, statements: 600, ms: 1 } });
      if (left === "nothing") return bucket;
    } catch (error) {
      // drizzle wraps what its driver throws.
      if (!(error instanceof Error && [error, error.cause].some((each) => each instanceof Died))) throw error;
    }
  }
  throw new Error("the export did not end");
}

class Died extends Error {}

function folderOf(bucket: MemoryBucket): string {
  const folder = newFolder();
  for (const [key, content] of bucket.objects) {
    mkdirSync(dirname(join(folder, key)), { recursive: true });
    writeFileSync(join(folder, key), content);
  }
  return join(folder, `exports/${DATE}`);
}

async function importAll(
  sqlite: DatabaseSync,
  folder: string,
  progressFolder = newFolder(),
): Promise<readonly string[]> {
  const lines: string[] = [];
  const request = {
    folder,
    merchants: [],
    skipAddresses: 0,
    progressFolder,
    print: (line: string) => void lines.push(line),
  };
  await importMerchants(localTarget(sqlite), request);
  return lines;
}

const newWorld = (world: World) => {
  const sqlite = migratedDatabase();
  fill(sqlite, world);
  return sqlite;
};

/** All rows of the tables that are exported. */
function rowsOf(sqlite: DatabaseSync): Record<string, unknown[]> {
  const tables = [...EXPORTED].map((table) => {
    const rows = sqlite
      .prepare(`SELECT ${WITHOUT_ROWID.has(table) ? "" : "rowid, "}* FROM ${table} ORDER BY 1, 2`)
      .all();
    return [table, rows];
  });
  return Object.fromEntries(tables);
}

/** Counts each line once, because every merchant's export contains the deployment's rows. */
const linesOf = (bucket: MemoryBucket) =>
  new Set(
    [...bucket.objects].flatMap(([key, content]) =>
      key.endsWith(".gz")
        ? gunzipSync(content)
            .toString()
            .split("\n")
            .slice(0, -1)
            .map((line) => `${key.split("/")[3]?.split("-")[0]} ${line}`)
        : [],
    ),
  );

describe("an export that is read back", { timeout: CAMPAIGN_LIMIT_MS }, () => {
  it("gives the same rows, and an export of these rows is the same again, even if runs of the first export crashed", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyWorld,
        fc.array(fc.nat({ max: 60 }), { maxLength: 5 }),
        fc.integer({ min: 1, max: 60_000 }),
        async (world, dies, characters) => {
          const source = newWorld(world);
          let calls = 0;
          const deaths = [...dies];
          const before = () => {
            if (calls++ !== deaths[0]) return;
            deaths.shift();
            calls = 0;
            throw new Died();
          };
          const bucket = await exportAll(source, { before, characters });
          const target = migratedDatabase();
          await importAll(target, folderOf(bucket));
          expect(rowsOf(target)).toEqual(rowsOf(source));
          expect(linesOf(await exportAll(target))).toEqual(linesOf(bucket));
        },
      ),
      { numRuns: TRIES },
    );
  });

  it("continues after a failed call, and does nothing once it is done", async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, fc.nat({ max: 3 }), fc.boolean(), async (world, failAt, isDone) => {
        const source = newWorld(world);
        const folder = folderOf(await exportAll(source));
        const target = migratedDatabase();
        const progressFolder = newFolder();
        const good = localTarget(target);
        let calls = 0;
        const failing = {
          ...good,
          execute: async (statements: readonly string[]) => {
            const isFailing = calls++ === failAt;
            // The answer may be lost after the work was done.
            if (!isFailing || isDone) await good.execute(statements);
            if (isFailing) throw new ImportError("lost");
          },
        };
        const request = { folder, merchants: [], skipAddresses: 0, progressFolder, print: () => {} };
        await importMerchants(failing, request).catch((error) => expect(error).toBeInstanceOf(ImportError));
        await importAll(target, folder, progressFolder);
        expect(rowsOf(target)).toEqual(rowsOf(source));
        const again = await importAll(target, folder, progressFolder);
        expect(again.slice(1)).toEqual(world.merchants.map((_, at) => `mer_${at}: was imported before.`));
      }),
      { numRuns: TRIES },
    );
  });
});

const LARGE: World = {
  texts: ["a"],
  integers: [7],
  merchants: [
    { invoices: 200, others: 1 },
    { invoices: 120, others: 2 },
  ],
};

describe("an invoice that changes while it is exported", () => {
  it("is exported with all its dependents, in its state at one moment", async () => {
    const source = newWorld(LARGE);
    let at = 0;
    const pay = () => {
      const id = `inv_0x${(at++ * 37) % 200}`;
      const [row] = source
        .prepare("UPDATE invoices SET event_sequence = event_sequence + 1 WHERE id = ? RETURNING event_sequence")
        .all(id);
      const sequence = Number(row?.event_sequence);
      source
        .prepare("INSERT INTO events VALUES (?, 'mer_0', 'x', ?, ?, '{}', ?, NULL, NULL)")
        .run(`evt_${id}y${sequence}`, id, sequence, NOW_MS);
    };
    const bucket = await exportAll(source, { before: pay, characters: 20_000 });
    const target = migratedDatabase();
    await importAll(target, folderOf(bucket));
    const torn = `SELECT id FROM invoices i WHERE event_sequence <> (SELECT count(*) FROM events WHERE invoice_id = i.id)
      OR event_sequence <> (SELECT max(sequence) FROM events WHERE invoice_id = i.id)`;
    expect(at).toBeGreaterThan(50);
    expect(target.prepare(torn).all()).toEqual([]);
    expect(target.prepare("SELECT count(*) AS n FROM invoices").get()).toEqual({ n: 320 });
    // The two databases differ, because the invoices were read at different moments.
    expect(target.prepare("SELECT count(*) AS n FROM events").get()).not.toEqual(
      source.prepare("SELECT count(*) AS n FROM events").get(),
    );
  });

  it("keeps a payment that is assigned to an invoice during any call", async () => {
    const world: World = { texts: ["a"], integers: [7], merchants: [{ invoices: 60, others: 0 }] };
    let total = 0;
    await exportAll(newWorld(world), { before: () => void total++ });
    expect(total).toBeGreaterThan(20);
    for (let at = 0; at < total; at++) {
      const source = newWorld(world);
      let calls = 0;
      const before = () => {
        if (calls++ === at) source.exec("UPDATE payments SET invoice_id = 'inv_0x3' WHERE id = 'pay_0x0'");
      };
      const lines = [...linesOf(await exportAll(source, { before }))];
      expect([at, lines.some((line) => line.startsWith("payments ") && line.includes('"pay_0x0"'))]).toEqual([
        at,
        true,
      ]);
    }
  });
});

describe("an export", () => {
  const SMALL: World = {
    texts: ["a", "b'"],
    integers: [1, 2],
    merchants: [
      { invoices: 3, others: 1 },
      { invoices: 1, others: 0 },
    ],
  };
  type Manifest = { parts: { key: string; rows: number }[]; rows: Record<string, number> };

  const edit = (folder: string, change: (manifest: Manifest) => void) => {
    const file = join(folder, "mer_0/manifest.json");
    const manifest: Manifest = JSON.parse(readFileSync(file, "utf8"));
    change(manifest);
    writeFileSync(file, JSON.stringify(manifest));
  };
  const damages: readonly [string, (folder: string, part: string) => void][] = [
    ["has no manifest", (folder) => rmSync(join(folder, "mer_0/manifest.json"))],
    ["lacks a part", (folder, part) => rmSync(join(folder, part))],
    [
      "has a part with a changed byte",
      (folder, part) => {
        const content = readFileSync(join(folder, part));
        content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
        writeFileSync(join(folder, part), content);
      },
    ],
    [
      "has a part with an extra line",
      (folder, part) => {
        const text = gunzipSync(readFileSync(join(folder, part))).toString();
        writeFileSync(join(folder, part), gzipSync(`${text}${text.split("\n")[0]}\n`));
      },
    ],
    [
      "has a truncated part",
      (folder, part) => writeFileSync(join(folder, part), readFileSync(join(folder, part)).subarray(0, -3)),
    ],
    ["names a part twice in the manifest", (folder) => edit(folder, ({ parts }) => parts.push(...parts.slice(0, 1)))],
    ["omits a part from the manifest", (folder) => edit(folder, ({ parts }) => parts.pop())],
    [
      "has a manifest with a wrong row count",
      (folder) =>
        edit(folder, ({ rows }) => {
          rows.invoices = 2;
        }),
    ],
    [
      "has the manifest of another merchant",
      (folder) => writeFileSync(join(folder, "mer_0/manifest.json"), readFileSync(join(folder, "mer_1/manifest.json"))),
    ],
  ];

  it.each(damages)(
    "that %s is refused before anything is written, whether all merchants or selected ones are imported",
    async (_, damage) => {
      const bucket = await exportAll(newWorld(SMALL), { characters: 500 });
      const parts = [...bucket.objects.keys()].filter((key) => key.includes("/mer_0/") && key.endsWith(".gz"));
      expect(parts.length).toBeGreaterThan(20);
      for (const key of parts) {
        const folder = folderOf(bucket);
        damage(folder, key.split("/").slice(2).join("/"));
        const target = migratedDatabase();
        const before = rowsOf(target);
        const request = { folder, skipAddresses: 0, progressFolder: newFolder(), print: () => {} };
        for (const merchants of [[], ["mer_1", "mer_0"]])
          await expect(importMerchants(localTarget(target), { ...request, merchants })).rejects.toBeInstanceOf(
            ImportError,
          );
        expect(rowsOf(target)).toEqual(before);
      }
    },
  );

  it.each([
    [
      "another merchant",
      "INSERT INTO merchants (id, name, created_at_ms, updated_at_ms) VALUES ('mer_x', 'X', 1, 1)",
      /not empty/,
    ],
    [
      "a user",
      "INSERT INTO users (id, email, email_key, created_at_ms, updated_at_ms) VALUES ('usr_x', 'a', 'a', 1, 1)",
      /not empty/,
    ],
    [
      "a different key under the same id",
      "INSERT INTO deployment_keys VALUES ('ROW_MAC_KEY', 'k1', 'other', NULL, NULL, NULL, NULL, NULL, 1)",
      /MASTER_KEY of the old one/,
    ],
    [
      "only other keys",
      "INSERT INTO deployment_keys VALUES ('ROW_MAC_KEY', 'k2', 'f2', NULL, NULL, NULL, NULL, NULL, 1)",
      /does not have the key k1/,
    ],
    ["an older schema", "ALTER TABLE invoices DROP COLUMN metadata", /no column invoices.metadata/],
  ])("is not imported into a database with %s", async (_, sql, message) => {
    const folder = folderOf(await exportAll(newWorld(SMALL)));
    const target = migratedDatabase();
    target.exec(sql);
    await expect(importAll(target, folder)).rejects.toThrow(message);
    expect(target.prepare("SELECT count(*) AS n FROM invoices").get()).toEqual({ n: 0 });
  });
});
