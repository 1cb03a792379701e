import { sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { batch, commit } from "../../../../src/platform/db/batch.ts";
import { openDb } from "../../../../src/platform/db/client.ts";
import { assertions } from "../../../../src/platform/db/schema/operations.ts";
import { withNews, withRevocations } from "../../../../src/platform/db/statement.ts";
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
  it("publishes the ids that the statements of a batch announce, each id once, and nothing for other statements", async () => {
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
        const results = await commit(db, [first, ...more]);
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

  it("publishes nothing for a batch that was rolled back", async () => {
    const { db, heard } = listeningDb();
    const one = () => withNews(db.select({ id: sql<string>`'a'` }).from(sql`(select 1)`), () => ({ wake: ["a"] }));
    const failing = db.insert(assertions).values({ name: "a fact", holds: 0 });
    await expect(commit(db, [one(), failing])).rejects.toThrow("assertion_holds");
    expect(heard).toEqual([]);
    await commit(db, [one()]);
    expect(heard).toEqual([["wake", ["a"]]]);
  });

  it("stores revocations before the batch is sent, and sends no batch if they cannot be stored", async () => {
    const sqlite = migratedDatabase();
    const steps: string[] = [];
    const d1 = sqliteD1(statementCache(sqlite), savepoints(sqlite), async (_, work) => {
      steps.push("sent");
      return work();
    });
    const revocation = { owner: "mer_1", kind: "WALLET", target: "wal_1", columns: {} } as const;
    let isKept = true;
    const db = openDb(d1, {
      keep: async ([first]) => {
        steps.push(`kept ${first?.target}`);
        if (!isKept) throw new Error("the object does not answer");
      },
    });
    const change = () => withRevocations(db.select({ id: sql<string>`'a'` }).from(sql`(select 1)`), [revocation]);
    expect(await commit(db, [change()])).toEqual([[{ id: "a" }]]);
    isKept = false;
    await expect(commit(db, [change()])).rejects.toThrow("the object does not answer");
    expect(steps).toEqual(["kept wal_1", "sent", "kept wal_1"]);
  });

  it("never sends a statement that has effects, except by `commit`", async () => {
    const { db, heard } = listeningDb();
    const effect = withNews(db.select({ id: sql<string>`'a'` }).from(sql`(select 1)`), () => ({ wake: ["a"] }));
    // The compiler refuses `await effect`. This test catches code that bypasses the compiler.
    await expect(Promise.resolve(effect)).rejects.toThrow("an effect is committed, not awaited");
    // @ts-expect-error: only `commit` accepts a statement with effects.
    await expect(batch(db, [effect])).rejects.toThrow();
    expect(heard).toEqual([]);
  });
});
