// Reads an export from a folder: which merchants it has, and whether each is complete. Nothing is written before everything has been checked.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import * as z from "zod";
import type { StoredRow } from "../../src/platform/merchant-exports/store.ts";
import { EXPORTED } from "../../src/platform/merchant-exports/tables.ts";
import { ImportError } from "./import-error.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const merchantId = z.string().regex(/^mer_[0-9A-Za-z]+$/);
const count = z.int().min(0);

const partSchema = z.object({
  // Must be below the merchant's folder, so that a manifest cannot name a file elsewhere.
  key: z.string().regex(/^exports\/[0-9-]+\/mer_[0-9A-Za-z]+\/[a-z_]+-[0-9]+\.jsonl\.gz$/),
  table: z.string(),
  rows: count,
  bytes: count,
  sha256: digest,
});
const manifestSchema = z.object({
  format: z.literal(1),
  release: z.string(),
  date: z.iso.date(),
  merchantId,
  begunAt: z.string(),
  endedAt: z.string(),
  rows: z.record(z.string(), count),
  parts: z.array(partSchema),
});
const indexSchema = z.object({
  format: z.literal(1),
  date: z.iso.date(),
  merchants: z.array(z.object({ merchantId, manifest: z.string(), sha256: digest })),
  failed: z.array(merchantId),
});

type CheckedManifest = z.output<typeof manifestSchema>;
type CheckedPart = z.output<typeof partSchema>;

/** A merchant's verified export. */
export interface CheckedExport {
  readonly manifest: CheckedManifest;
  /** The manifest's hash: a resumed import must find it unchanged. */
  readonly sha256: string;
  /** How many rows each table has, counting a repeated row once. */
  readonly distinct: Readonly<Record<string, number>>;
  readonly read: (part: CheckedPart) => readonly StoredRow[];
}

/** Tables whose rows may be in an export twice; the later line counts. */
const MAY_COME_TWICE = new Set(["payments", "customers"]);

/** The index of a night; undefined if the night was not finished and has none. */
export function readIndex(folder: string): z.output<typeof indexSchema> | undefined {
  const file = join(folder, "merchants.json");
  return existsSync(file) ? parsed(indexSchema, readFileSync(file, "utf8"), "merchants.json") : undefined;
}

/** `expected`: the manifest's SHA-256 in the night's index. */
export function readManifest(folder: string, wanted: string, expected?: string) {
  const file = join(folder, wanted, "manifest.json");
  if (!existsSync(file)) throw new ImportError(`${wanted} has no manifest.json: its export did not end.`);
  const content = readFileSync(file);
  const sha256 = digestOf(content);
  if (expected !== undefined && expected !== sha256) throw new ImportError(`${wanted}: manifest.json was changed.`);
  const manifest = parsed(manifestSchema, content.toString(), `${wanted}/manifest.json`);
  if (manifest.merchantId !== wanted) throw new ImportError(`${wanted}: its manifest is of ${manifest.merchantId}.`);
  return { manifest, sha256 };
}

/** Throws ImportError for an incomplete export. */
export function checkExport(folder: string, wanted: string, expected: string | undefined): CheckedExport {
  const { manifest, sha256 } = readManifest(folder, wanted, expected);
  const own = join(folder, wanted);
  const distinct: Record<string, number> = {};
  const ids = new Map<string, Set<string>>();
  const numbers: Record<string, number> = {};
  for (const part of manifest.parts) {
    demandNext(part, manifest, numbers);
    const rows = rowsOf(readPart(own, part), part);
    if (!MAY_COME_TWICE.has(part.table)) {
      distinct[part.table] = (distinct[part.table] ?? 0) + rows.length;
      continue;
    }
    const seen = ids.get(part.table) ?? new Set();
    ids.set(part.table, seen);
    for (const { id } of rows) seen.add(String(id));
  }
  for (const [table, seen] of ids) distinct[table] = seen.size;
  demandCounts(manifest);
  return { manifest, sha256, distinct, read: (part) => rowsOf(readPart(own, part), part) };
}

/** The parts of each table are numbered from 1, each once, in order. */
function demandNext(part: CheckedPart, { date, merchantId }: CheckedManifest, numbers: Record<string, number>): void {
  const number = (numbers[part.table] ?? 0) + 1;
  numbers[part.table] = number;
  const key = `exports/${date}/${merchantId}/${part.table}-${number}.jsonl.gz`;
  if (part.key !== key) throw new ImportError(`${merchantId}: part ${part.key} is where ${key} should be.`);
  if (!EXPORTED.has(part.table))
    throw new ImportError(`${merchantId}: this release does not know the table ${part.table}.`);
}

function demandCounts({ merchantId, rows, parts }: CheckedManifest): void {
  const found: Record<string, number> = {};
  for (const part of parts) found[part.table] = (found[part.table] ?? 0) + part.rows;
  for (const table of new Set([...Object.keys(rows), ...Object.keys(found)])) {
    if (rows[table] !== found[table])
      throw new ImportError(`${merchantId}: ${table} has not as many rows as its manifest says.`);
  }
  if (found.merchants !== 1) throw new ImportError(`${merchantId}: the merchant itself is not in the export.`);
}

function readPart(folder: string, part: CheckedPart): Buffer {
  const file = join(folder, fileOf(part));
  if (!existsSync(file)) throw new ImportError(`${part.key} is missing.`);
  const content = readFileSync(file);
  if (content.length !== part.bytes || digestOf(content) !== part.sha256)
    throw new ImportError(`${part.key} was changed.`);
  return content;
}

function fileOf({ key }: Pick<CheckedPart, "key">): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

function rowsOf(content: Buffer, part: CheckedPart): readonly StoredRow[] {
  const lines = gunzipSync(content).toString().split("\n").slice(0, -1);
  if (lines.length !== part.rows)
    throw new ImportError(`${part.key} has ${lines.length} rows instead of ${part.rows}.`);
  const rows = lines.map((line): StoredRow => JSON.parse(line));
  // Column names become part of SQL statements, so unusual ones are refused.
  const odd = rows.flatMap((row) => Object.keys(row)).find((column) => !/^[a-z][a-z0-9_]*$/.test(column));
  if (odd !== undefined) throw new ImportError(`${part.key} has a column ${JSON.stringify(odd)}.`);
  return rows;
}

export function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function parsed<S extends z.ZodType>(schema: S, text: string, what: string): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ImportError(`${what} is not JSON.`);
  }
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  throw new ImportError(`${what}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`);
}
