import type { Lab } from "./lab.ts";

/**
 * Stores thousands of copies of a row at once, without the service. `as` gives each copy its own values, as SQL over `n`, its number from 0; other
 * columns are copied.
 */
export function multiplyRows(
  lab: Lab,
  of: {
    readonly table: string;
    readonly id: string;
    readonly count: number;
    readonly as: Readonly<Record<string, string>>;
  },
): void {
  const [row] = lab.rows(`select * from ${of.table} where ${of.id} limit 1`);
  if (row === undefined) throw new Error(`no row of ${of.table} where ${of.id}`);
  const values = Object.keys(row).map((name) => of.as[name] ?? `one.${name}`);
  lab.rows(
    `with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n + 1 < ${of.count})
    insert into ${of.table} (${Object.keys(row)}) select ${values} from numbers cross join (select * from ${of.table} where ${of.id} limit 1) one`,
  );
}

/** The SQL for an id that contains the copy's number. */
export const numbered = (prefix: string, n = "n") => `'${prefix}_' || printf('%026d', ${n})`;
