// Reads the rows for an export. Tables are known only by name, so that a new column is exported without a change here.
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { merchants } from "../db/schema/merchants.ts";
import type { Statement } from "../db/statement.ts";
import { type Walk, type Whole, WITHOUT_ROWID } from "./tables.ts";

/** A row as it is stored, with its rowid if it has one. */
export type StoredRow = Readonly<Record<string, string | number | null>>;
export type RowKey = readonly (string | number)[];

/** The merchant after the given one; no row after the last. */
export function selectNextMerchant(db: Db, afterId: string) {
  return db.select({ id: merchants.id }).from(merchants).where(sql`id > ${afterId}`).orderBy(merchants.id).limit(1);
}

export function selectWhole(db: Db, { table, from }: Whole, merchantId: string): Statement<StoredRow[]> {
  const [before = "", after] = from.split("?");
  const ofMerchant = after === undefined ? sql.raw(before) : sql`${sql.raw(before)}${merchantId}${sql.raw(after)}`;
  return db.all(sql`select ${columnsOf(table, "c")} from ${ofMerchant}`);
}

export interface Page {
  readonly merchantId: string;
  readonly cutMs: number;
  /** The key of the last row that was read; null at the start. */
  readonly after: RowKey | null;
  readonly limit: number;
}

/** The last key of a page, with the number of rows that were read; no row if the page is empty. */
export function selectPageEnd(db: Db, walk: Walk, page: Page): Statement<StoredRow[]> {
  const last = walk.key.map((_, at) => `k${at} desc`).join();
  return db.all(
    sql`${pageOf(walk, page)} select (select count(*) from page) as page_rows, page.* from page order by ${sql.raw(last)} limit 1`,
  );
}

/** The rows on a page, in the order of its keys. */
export function selectPageRows(db: Db, walk: Walk, page: Page): Statement<StoredRow[]> {
  const { table, key, filter = "true" } = walk;
  const same = key.map((column, at) => `t.${column} = page.k${at}`).join(" and ");
  const order = key.map((_, at) => `page.k${at}`).join();
  return db.all(sql`${pageOf(walk, page)} select ${columnsOf(table, "t")} from page cross join ${sql.raw(table)} t on t.merchant_id = ${page.merchantId}
      and ${sql.raw(same)} where ${sql.raw(filter)} order by ${sql.raw(order)}`);
}

export function selectCompanions(
  db: Db,
  walk: Walk,
  page: Page,
): readonly (readonly [string, Statement<StoredRow[]>])[] {
  return (walk.companions ?? []).map(({ table, from }) => [
    table,
    db.all(sql`${pageOf(walk, page)} select ${columnsOf(table, "c")} from page cross join ${sql.raw(from)}`),
  ]);
}

function columnsOf(table: string, alias: string): SQL {
  return sql.raw(WITHOUT_ROWID.has(table) ? `${alias}.*` : `${alias}.rowid as rowid, ${alias}.*`);
}

/** The keys of the page as k0, k1 and so on; a key `id` also under its own name, for companions. */
function pageOf(walk: Walk, { merchantId, cutMs, after, limit }: Page): SQL {
  const { table, from = `${table} t`, scope = "t.merchant_id", key, endsAtCut = false, where } = walk;
  const columns = key.map((column, at) => `t.${column} as k${at}`);
  const named = key.includes("id") ? [...columns, "t.id as id"] : columns;
  const conditions = [sql`${sql.raw(scope)} = ${merchantId}`];
  if (endsAtCut) conditions.push(sql`t.created_at_ms <= ${cutMs}`);
  if (where !== undefined) conditions.push(sql.raw(where));
  if (after !== null) {
    const values = sql.join(
      after.map((value) => sql`${value}`),
      sql`, `,
    );
    conditions.push(sql`(${sql.raw(key.map((column) => `t.${column}`).join())}) > (${values})`);
  }
  const order = sql.raw(key.map((column) => `t.${column}`).join());
  return sql`with page as materialized (select ${sql.raw(named.join())} from ${sql.raw(from)} where ${sql.join(conditions, sql` and `)}
    order by ${order} limit ${limit})`;
}
