import { env } from "cloudflare:workers";

/** A statement as drizzle builds it. */
interface BuiltQuery {
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}

/** How SQLite runs a query: one line per step, with its index. */
export async function planOf(query: BuiltQuery): Promise<string> {
  const { sql, params } = query.toSQL();
  const { results } = await env.DB.prepare(`explain query plan ${sql}`)
    .bind(...params)
    .all<{ detail: string }>();
  return results.map(({ detail }) => detail).join("\n");
}
