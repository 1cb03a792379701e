// Copies the test Worker's whole database and restores the copy later, like a restore to an earlier minute. Durable Objects are not changed.
import { env } from "cloudflare:workers";

type Row = Record<string, string | number | null>;

const rowsOf = async (sql: string) => (await env.DB.prepare(sql).all<Row>()).results;

/** All tables as they are now, for a later restore. */
export async function copyDatabase(): Promise<() => Promise<void>> {
  const tables = await rowsOf(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'",
  );
  const copies = new Map<string, readonly Row[]>();
  for (const { name } of tables) copies.set(String(name), await rowsOf(`select * from ${name}`));
  return async () => {
    // The rows already contain the triggers' effects, so they are restored without triggers.
    const triggers = await rowsOf("select name, sql from sqlite_master where type = 'trigger'");
    for (const { name } of triggers) await env.DB.prepare(`drop trigger ${name}`).run();
    for (const [name, rows] of copies) {
      const inserts = rows.map((row) => {
        const columns = Object.keys(row);
        const into = `insert into ${name} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;
        return env.DB.prepare(into).bind(...Object.values(row));
      });
      await env.DB.batch([env.DB.prepare(`delete from ${name}`), ...inserts]);
    }
    for (const { sql } of triggers) await env.DB.prepare(String(sql)).run();
  };
}
