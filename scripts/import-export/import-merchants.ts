// Reads exports back: checks all of them and the database first, then inserts table by table. The merchant's own row comes last: until it exists,
// nothing of the merchant is served, and the import is incomplete.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ImportError } from "./import-error.ts";
import { type CheckedExport, checkExport, readIndex } from "./read-export.ts";
import { insertsOf, SHARED } from "./statements.ts";
import type { Row, Target } from "./target.ts";

interface ImportRequest {
  /** A night's folder. */
  readonly folder: string;
  /** Empty for all merchants of the night. */
  readonly merchants: readonly string[];
  /** How many addresses of each extended key to skip. */
  readonly skipAddresses: number;
  /** Where the progress of imports is kept. */
  readonly progressFolder: string;
  readonly print: (line: string) => void;
}

/** The maximum number of characters in the statements of one call. */
const CALL_CHARACTERS = 8_000_000;
/** Inserted after all other tables, so that a job that runs meanwhile finds no incomplete invoice. */
const LAST = ["invoices"];
/** Inserted in the last call. */
const ENDING = ["merchants", "network_cursors"];

export async function importMerchants(target: Target, request: ImportRequest): Promise<void> {
  const { folder, print } = request;
  const index = readIndex(folder);
  const wanted =
    request.merchants.length > 0 ? request.merchants : (index?.merchants ?? []).map((each) => each.merchantId);
  if (wanted.length === 0)
    throw new ImportError("The folder has no merchants.json: name the merchants with --merchant.");
  const missing = (index?.failed ?? []).filter((each) => wanted.includes(each));
  if (missing.length > 0)
    throw new ImportError(`Not in this night, because their exports failed: ${missing.join(", ")}.`);
  const exports = wanted.map((id) =>
    checkExport(folder, id, index?.merchants.find((each) => each.merchantId === id)?.sha256),
  );
  print(`Checked ${exports.length} exports: every part is there and unchanged.`);
  const present = await demandEmpty(target, exports);
  await demandColumns(target, exports);
  if (!(await demandKeys(target, exports)))
    print("The deployment has recorded no key yet, so it is not known whether it has the MASTER_KEY of the old one.");
  for (const each of exports) {
    const { merchantId } = each.manifest;
    if (present.has(merchantId)) print(`${merchantId}: was imported before.`);
    else await importMerchant(target, each, request);
  }
}

/** Refuses rows that already exist, unless they are from an earlier run of the same import. */
async function demandEmpty(target: Target, exports: readonly CheckedExport[]): Promise<ReadonlySet<string>> {
  const ids = new Set(exports.map(({ manifest }) => manifest.merchantId));
  const users = new Set(exports.flatMap((each) => rowsIn(each, "users").map(({ id }) => id)));
  const found = await target.query(
    "SELECT 'merchant' AS kind, id FROM merchants UNION ALL SELECT 'user', id FROM users UNION ALL SELECT DISTINCT 'merchant', merchant_id FROM invoices",
  );
  const other = found.find(({ kind, id }) => !(kind === "user" ? users.has(id ?? "") : ids.has(String(id))));
  if (other !== undefined) {
    throw new ImportError(
      `The database is not empty: it has the ${other.kind} ${other.id}. Import into a new deployment, before its set-up link is opened.`,
    );
  }
  const merchants = await target.query("SELECT id FROM merchants");
  return new Set(merchants.map(({ id }) => String(id)));
}

async function demandColumns(target: Target, exports: readonly CheckedExport[]): Promise<void> {
  const tables = new Set(exports.flatMap(({ manifest }) => manifest.parts.map(({ table }) => table)));
  // Read from the schema's text, because D1 allows no pragma over all tables.
  const found = await target.query("SELECT name, sql FROM sqlite_master WHERE type = 'table'");
  const schema = new Map(found.map(({ name, sql }) => [name, String(sql)]));
  const isKnown = (table: string, column: string) =>
    column === "rowid" || new RegExp(`[\\s,("\`]${column}["\`\\s]`).test(schema.get(table) ?? "");
  for (const table of tables) {
    const columns = new Set(exports.flatMap((each) => columnsIn(each, table)));
    const unknown = [...columns].find((column) => !isKnown(table, column));
    if (unknown !== undefined)
      throw new ImportError(
        `The database has no column ${table}.${unknown}: deploy the release that wrote the export, or a later one.`,
      );
  }
}

/**
 * Rows are signed and encrypted with the deployment's keys: with other keys no wallet would be shown and no secret could be decrypted. False if the
 * deployment has recorded no keys.
 */
async function demandKeys(target: Target, exports: readonly CheckedExport[]): Promise<boolean> {
  const own = await target.query("SELECT keyring, key_id, fingerprint FROM deployment_keys");
  const print = ({ keyring, key_id, fingerprint }: Row) => `${keyring} ${key_id} ${fingerprint}`;
  for (const key of exports.flatMap((each) => rowsIn(each, "deployment_keys"))) {
    const same = own.find((each) => each.keyring === key.keyring && each.key_id === key.key_id);
    if (same !== undefined && print(same) !== print(key))
      throw new ImportError(
        `The deployment has another ${key.keyring} under the id ${key.key_id}: give it the MASTER_KEY of the old one.`,
      );
  }
  const ids = new Set(own.flatMap(({ keyring, key_id }) => (keyring === "ROW_MAC_KEY" ? [key_id] : [])));
  const needed = exports.flatMap((each) => rowsIn(each, "wallets").map(({ mac_key_id }) => mac_key_id));
  const lacking = ids.size === 0 ? undefined : needed.find((id) => !ids.has(id ?? null));
  if (lacking !== undefined)
    throw new ImportError(
      `The deployment does not have the key ${lacking}, which wallets are signed with: add it behind the comma of MASTER_KEY.`,
    );
  return ids.size > 0;
}

function columnsIn(each: CheckedExport, table: string): readonly string[] {
  const part = each.manifest.parts.find((one) => one.table === table);
  return part === undefined ? [] : Object.keys(each.read(part)[0] ?? {});
}

function rowsIn(each: CheckedExport, table: string) {
  return each.manifest.parts.filter((part) => part.table === table).flatMap((part) => each.read(part));
}

async function importMerchant(target: Target, each: CheckedExport, request: ImportRequest): Promise<void> {
  const { manifest, sha256 } = each;
  const { merchantId } = manifest;
  const { print } = request;
  const file = join(request.progressFolder, `${target.name}-${merchantId}.json`);
  const done = readProgress(file, sha256);
  if (done > 0) print(`${merchantId}: goes on after ${done} calls.`);
  let calls = 0;
  for (const statements of callsOf(each, request.skipAddresses)) {
    calls += 1;
    if (calls <= done) continue;
    await target.execute(statements);
    writeProgress(file, sha256, calls);
  }
  await demandRows(target, each);
  print(
    `${merchantId}: ${Object.values(each.distinct).reduce((sum, rows) => sum + rows, 0)} rows of ${manifest.begunAt}.`,
  );
}

/** Yields the same calls each time, because a resumed run skips as many as it has already made. */
function* callsOf(each: CheckedExport, skipAddresses: number): Generator<readonly string[]> {
  const { parts } = each.manifest;
  const rank = (table: string) => LAST.indexOf(table);
  let statements: string[] = [];
  let characters = 0;
  for (const part of parts.toSorted((a, b) => rank(a.table) - rank(b.table))) {
    if (ENDING.includes(part.table)) continue;
    for (const statement of insertsOf(part.table, each.read(part))) {
      statements.push(statement);
      characters += statement.length;
      if (characters < CALL_CHARACTERS) continue;
      yield statements;
      statements = [];
      characters = 0;
    }
  }
  yield [...statements, ...endingOf(each, skipAddresses)];
}

const ACTIVE = "status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')";

/**
 * The last call, which is atomic. It inserts the merchant with its counts of invoices, the networks' read positions, and the next index of each key.
 * The indexes skip addresses that may have been shown after the export.
 */
function endingOf(each: CheckedExport, skipAddresses: number): readonly string[] {
  const { merchantId } = each.manifest;
  const count = (origin: string) =>
    `(SELECT count(*) FROM invoices WHERE merchant_id = '${merchantId}' AND ${ACTIVE} AND origin ${origin} 'API')`;
  return [
    ...insertsOf("merchants", rowsIn(each, "merchants")),
    `UPDATE merchants SET active_invoices = ${count("=")}, public_invoices = ${count("<>")} WHERE id = '${merchantId}';`,
    `UPDATE wallets SET next_index = max(coalesce(next_index, 0), coalesce((SELECT max(address_index) + 1 FROM payment_methods WHERE wallet_id = wallets.id
      AND address_index IS NOT NULL), 0)) + ${skipAddresses} WHERE merchant_id = '${merchantId}' AND key_hash IS NOT NULL;`,
    ...insertsOf("network_cursors", rowsIn(each, "network_cursors")),
  ];
}

/** Checks the row counts. Jobs of the deployment may have added rows meanwhile, but removed none. */
async function demandRows(target: Target, { manifest, distinct }: CheckedExport): Promise<void> {
  const { merchantId } = manifest;
  const tables = Object.keys(distinct).filter((table) => !SHARED.has(table));
  // In one query, because each wrangler call takes seconds.
  const counts = tables.map((table) => {
    const where = (OF_MERCHANT[table] ?? "merchant_id = ?").replaceAll("?", `'${merchantId}'`);
    return `(SELECT count(*) FROM ${table} WHERE ${where}) AS ${table}`;
  });
  const [found] = await target.query(`SELECT ${counts.join()}`);
  const short = tables.find((table) => Number(found?.[table] ?? 0) < (distinct[table] ?? 0));
  if (short !== undefined)
    throw new ImportError(
      `${merchantId}: ${short} has ${found?.[short]} rows instead of ${distinct[short]}. Delete the database and begin again.`,
    );
}

const USER_IDS = "(SELECT user_id FROM members WHERE merchant_id = ?)";
const INVOICE_IDS = "(SELECT id FROM invoices WHERE merchant_id = ?)";
const OF_MERCHANT: Readonly<Record<string, string>> = {
  merchants: "id = ?",
  users: `id IN ${USER_IDS}`,
  passkeys: `user_id IN ${USER_IDS}`,
  identities: `user_id IN ${USER_IDS}`,
  backup_codes: `user_id IN ${USER_IDS}`,
  webhook_secrets: "webhook_id IN (SELECT id FROM webhooks WHERE merchant_id = ?)",
  timeline_items: `invoice_id IN ${INVOICE_IDS}`,
  checkouts: `invoice_id IN ${INVOICE_IDS}`,
};

function readProgress(file: string, sha256: string): number {
  if (!existsSync(file)) return 0;
  const { manifest, calls }: { readonly manifest: string; readonly calls: number } = JSON.parse(
    readFileSync(file, "utf8"),
  );
  if (manifest !== sha256)
    throw new ImportError(
      `Another export of this merchant was begun here (${file}). Delete the database and that file, and begin again.`,
    );
  return calls;
}

function writeProgress(file: string, sha256: string, calls: number): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify({ manifest: sha256, calls }), { mode: 0o600 });
}
