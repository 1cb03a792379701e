import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { JsonOf } from "../../lib/typed-json.ts";
import type { Db } from "../db/client.ts";
import { deploymentKeys, keyWalks } from "../db/schema/deployment-keys.ts";
import { type Cells, DAMAGED, type KeyedRows, type MacRows, type SealedRows } from "./keyed-rows.ts";
import type { KeyringName } from "./keyrings.ts";

export type DeploymentKey = typeof deploymentKeys.$inferSelect;
export type KeyWalk = typeof keyWalks.$inferSelect;

export function selectKeys(db: Db) {
  return db.select().from(deploymentKeys);
}

export function selectKeysOf(db: Db, keyring: KeyringName) {
  return db
    .select()
    .from(deploymentKeys)
    .where(and(eq(deploymentKeys.keyring, keyring), isNotNull(deploymentKeys.kept)));
}

/** Inserts a key, or applies `changes` to the existing one. */
export function recordKey(
  db: Db,
  row: DeploymentKey,
  changes: Partial<Pick<DeploymentKey, "kept" | "mac" | "macKeyId" | "leftAtMs" | "unusedSinceMs">>,
) {
  const target = [deploymentKeys.keyring, deploymentKeys.keyId];
  return db.insert(deploymentKeys).values(row).onConflictDoUpdate({ target, set: changes });
}

/** Deletes the kept peppers that have left their keyring and under which no backup code is left. */
export function forgetUnusedPeppers(db: Db) {
  return db
    .update(deploymentKeys)
    .set({ kept: null })
    .where(
      sql`keyring = 'CODE_PEPPER' and kept is not null and left_at_ms is not null
        and key_id not in (select backup_codes.mac_key_id from backup_codes)`,
    );
}

/** Clears the times at which keys were found unused, because another rotation has begun; the next walk checks all keys again. */
export function resetUnused(db: Db) {
  return db.update(deploymentKeys).set({ unusedSinceMs: null }).where(isNotNull(deploymentKeys.unusedSinceMs));
}

/** `sinceMs`: when the key was found unused, null if it is in use. An earlier stored time is kept. */
export function noteUnused(
  db: Db,
  of: { readonly keyring: KeyringName; readonly keyId: string; readonly sinceMs: number | null },
) {
  const { sinceMs } = of;
  return db
    .update(deploymentKeys)
    .set({ unusedSinceMs: sinceMs === null ? null : sql`coalesce(unused_since_ms, ${sinceMs})` })
    .where(and(eq(deploymentKeys.keyring, of.keyring), eq(deploymentKeys.keyId, of.keyId)));
}

export function selectWalk(db: Db, name: string) {
  return db.select().from(keyWalks).where(eq(keyWalks.name, name));
}

export function saveWalk(db: Db, walk: KeyWalk) {
  return db.insert(keyWalks).values(walk).onConflictDoUpdate({ target: keyWalks.name, set: walk });
}

/** A stretch of a table, in the order of its rowids. */
export interface Stretch {
  readonly after: number;
  /** The number of rows in the stretch. */
  readonly length: number;
  /** Ids of the keys whose rows are wanted. */
  readonly keyIds: readonly string[];
  readonly nowMs: number;
}

/** The rowid of the stretch's last row; no row if the table ends within it. */
export function selectEnd(db: Db, rows: KeyedRows, { after, length }: Pick<Stretch, "after" | "length">) {
  return db
    .select({ end: sql<number>`rowid`.as("end") })
    .from(sql.raw(rows.table))
    .where(sql`rowid > ${after}`)
    .orderBy(sql`rowid`)
    .limit(1)
    .offset(length - 1);
}

function within({ table, where }: KeyedRows, { after, length, keyIds, nowMs }: Stretch, keyId: string) {
  const last = sql`(select rowid from ${sql.raw(table)} where rowid > ${after} order by rowid limit 1 offset ${length - 1})`;
  return sql`rowid > ${after} and rowid <= coalesce(${last}, 9223372036854775807)
    and ${sql.raw(keyId)} in (select value from json_each(${JSON.stringify(keyIds)})) and ${sql.raw(where?.(nowMs) ?? "1")}`;
}

/** The rows in the stretch whose HMAC was made with one of the keys. */
export function selectMacs(db: Db, rows: MacRows, stretch: Stretch) {
  const members = rows.columns.map((name) => `'${name}', ${name}`).join(", ");
  return db
    .select({
      rowNumber: sql<number>`rowid`.as("row_number"),
      mac: sql<string>`mac`.as("own_mac"),
      macKeyId: sql<string>`mac_key_id`.as("own_key_id"),
      cells: sql<JsonOf<Cells>>`json_object(${sql.raw(members)})`.as("cells"),
    })
    .from(sql.raw(rows.table))
    .where(within(rows, stretch, "mac_key_id"));
}

/** The key id of a sealed text, `v1.<key id>.<...>`; null for any other text. */
function sealKeyId(column: string): string {
  return `case when ${column} like 'v1.%' then substr(${column}, 4, instr(substr(${column}, 4), '.') - 1) end`;
}

export function selectSeals(db: Db, rows: SealedRows, stretch: Stretch) {
  return db
    .select({
      rowNumber: sql<number>`rowid`.as("row_number"),
      id: sql<string>`${sql.raw(rows.id)}`.as("own_id"),
      sealed: sql<string>`${sql.raw(rows.column)}`.as("own_sealed"),
      keyId: sql<string>`${sql.raw(sealKeyId(rows.column))}`.as("own_key_id"),
    })
    .from(sql.raw(rows.table))
    .where(within(rows, stretch, sealKeyId(rows.column)));
}

interface NewMac {
  readonly rowNumber: number;
  readonly was: { readonly mac: string; readonly macKeyId: string };
  readonly mac: string;
  readonly macKeyId: string;
}

/** Replaces rows' HMACs, unless they changed since they were read. */
export function replaceMacs(db: Db, { table }: MacRows, changes: readonly NewMac[]) {
  const name = sql.raw(table);
  const change = sql`update ${name} set mac = next.value ->> '$.mac', mac_key_id = next.value ->> '$.macKeyId'
    from json_each(${JSON.stringify(changes)}) next where ${name}.rowid = next.value ->> '$.rowNumber'
    and ${name}.mac = next.value ->> '$.was.mac' and ${name}.mac_key_id = next.value ->> '$.was.macKeyId'`;
  return db.run(change);
}

interface NewSeal {
  readonly rowNumber: number;
  readonly was: string;
  readonly sealed: string;
}

/** Replaces rows' sealed texts, unless they changed since they were read. */
export function replaceSeals(db: Db, { table, column }: SealedRows, changes: readonly NewSeal[]) {
  const [name, own] = [sql.raw(table), sql.raw(column)];
  const change = sql`update ${name} set ${own} = next.value ->> '$.sealed' from json_each(${JSON.stringify(changes)}) next
    where ${name}.rowid = next.value ->> '$.rowNumber' and ${name}.${own} = next.value ->> '$.was'`;
  return db.run(change);
}

/** The number of rows under each key, except rows marked as damaged. Reads the whole table. */
export function countRows(db: Db, rows: KeyedRows, nowMs: number) {
  const keyId = sql.raw("column" in rows ? sealKeyId(rows.column) : "mac_key_id");
  return db
    .select({ keyId: sql<string>`${keyId}`.as("own_key_id"), total: sql<number>`count(*)`.as("total") })
    .from(sql.raw(rows.table))
    .where(sql`${keyId} is not null and ${keyId} not like ${`${DAMAGED}%`} and ${sql.raw(rows.where?.(nowMs) ?? "1")}`)
    .groupBy(sql`1`);
}
