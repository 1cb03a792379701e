import { sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { batch } from "../../../../src/platform/db/batch.ts";
import { openDb, withNews } from "../../../../src/platform/db/client.ts";
import { assertions } from "../../../../src/platform/db/schema/operations.ts";
import { migratedDatabase, savepoints, sqliteD1, statementCache } from "../../../simulation/engine/sqlite-d1.ts";

function listeningDb() {
  const sqlite = migratedDatabase();
  const heard: [string, readonly string[]][] = [];
  const d1 = sqliteD1(statementCache(sqlite), savepoints(sqlite), async (_, work) => work());
  const db = openDb(d1, {
    wake: (ids) => void heard.push(["wake", ids]),
    tell: (ids) => void heard.push(["tell", ids]),
  });
  return { db, heard };
}

const ids = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"));
const statement = fc.record({ wake: ids, tell: ids, isNewsworthy: fc.boolean() });

describe("a database with listeners", () => {
  it("publishes what a batch's statements announce of their rows, each id once, and nothing of other statements", async () => {
    const { db, heard } = listeningDb();
    await fc.assert(
      fc.asyncProperty(fc.array(statement, { minLength: 1, maxLength: 5 }), async (wanted) => {
        heard.length = 0;
        const [first, ...more] = wanted.map(({ wake, tell, isNewsworthy }) => {
          const both = [...wake.map((id) => ["wake", id]), ...tell.map((id) => ["tell", id])];
          const rows = db
            .select({ kind: sql<string>`value ->> 0`.as("kind"), id: sql<string>`value ->> 1`.as("wake_webhook_id") })
            .from(sql`json_each(${JSON.stringify(both)})`);
          if (!isNewsworthy) return rows;
          return withNews(rows, (found) => ({
            wake: found.flatMap(({ kind, id }) => (kind === "wake" ? id : [])),
            tell: found.flatMap(({ kind, id }) => (kind === "tell" ? id : [])),
          }));
        });
        if (first === undefined) throw new Error("no statement");
        const results = await batch(db, [first, ...more]);
        expect(results.map((rows) => rows.length)).toEqual(wanted.map(({ wake, tell }) => wake.length + tell.length));
        const worthy = wanted.filter(({ isNewsworthy }) => isNewsworthy);
        const expected = (["wake", "tell"] as const).map((kind) => [
          kind,
          [...new Set(worthy.flatMap((of) => of[kind]))],
        ]);
        expect(heard).toEqual(expected.filter(([, each]) => each?.length !== 0));
      }),
      { numRuns: 100 },
    );
  });

  it("publishes nothing of a batch that was rolled back", async () => {
    const { db, heard } = listeningDb();
    const one = () => withNews(db.select({ id: sql<string>`'a'` }).from(sql`(select 1)`), () => ({ wake: ["a"] }));
    const failing = db.insert(assertions).values({ name: "a fact", holds: 0 });
    await expect(batch(db, [one(), failing])).rejects.toThrow("assertion_holds");
    expect(heard).toEqual([]);
    await batch(db, [one()]);
    expect(heard).toEqual([["wake", ["a"]]]);
  });
});
