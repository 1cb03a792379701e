import { env } from "cloudflare:workers";

/** A statement as drizzle builds it. */
interface BuiltQuery {
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}

/** How SQLite finds the rows of a query: a line for each step, with the index that it uses. */
export async function planOf(query: BuiltQuery): Promise<string> {
  const { sql, params } = query.toSQL();
  const { results } = await env.DB.prepare(`explain query plan ${sql}`)
    .bind(...params)
    .all<{ detail: string }>();
  return results.map(({ detail }) => detail).join("\n");
}
