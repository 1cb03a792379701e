import { env } from "cloudflare:workers";
import { eq, getTableName, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { batch } from "../../../src/platform/db/batch.ts";
import { baseUnits, micros } from "../../../src/platform/db/columns.ts";
import { prepared, preparedInsert } from "../../../src/platform/db/prepared-statement.ts";
import { testDb } from "../../support/worker-merchant.ts";

const boxes = sqliteTable("boxes", {
  id: text("id").primaryKey(),
  units: baseUnits("box_units").notNull(),
  worth: micros("worth"),
  isOpen: integer("is_open", { mode: "boolean" }).notNull(),
  label: text("label").notNull(),
});

type Box = Required<typeof boxes.$inferInsert>;

const boxOf = (id: string, changes: Partial<Box> = {}): Box => ({
  id,
  units: 10n ** 30n,
  worth: 7n,
  isOpen: false,
  label: "first",
  ...changes,
});

const insertBox = preparedInsert(boxes, [], { tail: " on conflict do nothing" });
const putBox = preparedInsert(boxes, [boxes.id], { keep: [boxes.label] });
const boxById = prepared(
  (id: string) => ({ id }),
  (db, of) => db.select().from(boxes).where(eq(boxes.id, of.id)),
);
const sumOf = prepared(
  (units: bigint) => ({ units: units.toString() }),
  (db, of) =>
    db
      .select({ of: { id: boxes.id }, twice: sql`${boxes.worth} * 2`.mapWith(BigInt).as("twice") })
      .from(boxes)
      .where(eq(boxes.units, of.units)),
);
/** A statement whose SQL has a placeholder without a value. */
const forgetful = prepared(
  () => ({}),
  (db) =>
    db
      .select()
      .from(boxes)
      .where(eq(boxes.id, sql.placeholder("id"))),
);

beforeEach(async () => {
  const name = getTableName(boxes);
  await env.DB.batch([
    env.DB.prepare(`drop table if exists ${name}`),
    env.DB.prepare(
      `create table ${name} (id text primary key, box_units text not null, worth integer, is_open integer not null, label text not null)`,
    ),
  ]);
});

describe("a batch", () => {
  it("can mix compiled statements with plain builders, and each result has the type and the values of its own statement", async () => {
    const [inserted, found, plain, closed, [sum]] = await batch(testDb, [
      insertBox(testDb, boxOf("a")),
      boxById(testDb, "a"),
      testDb.select({ units: boxes.units }).from(boxes),
      testDb.update(boxes).set({ isOpen: true }).where(eq(boxes.id, "a")).returning({ isOpen: boxes.isOpen }),
      sumOf(testDb, 10n ** 30n),
    ]);
    expectTypeOf(inserted).toEqualTypeOf<D1Result>();
    expectTypeOf(found).toEqualTypeOf<(typeof boxes.$inferSelect)[]>();
    expectTypeOf(plain).toEqualTypeOf<{ units: bigint }[]>();
    expectTypeOf(closed).toEqualTypeOf<{ isOpen: boolean }[]>();
    expect(inserted.meta.changes).toBe(1);
    expect(found).toEqual([boxOf("a")]);
    expect(plain).toEqual([{ units: 10n ** 30n }]);
    expect(closed).toEqual([{ isOpen: true }]);
    expect(sum).toEqual({ of: { id: "a" }, twice: 14n });
  });

  it("commits all of its statements, or none", async () => {
    const failing = testDb.insert(boxes).values(boxOf("a"));
    await expect(batch(testDb, [putBox(testDb, boxOf("a")), failing])).rejects.toThrow("UNIQUE constraint failed");
    expect(await testDb.$count(boxes)).toBe(0);
  });
});

describe("a compiled statement", () => {
  it("runs when it is awaited by itself", async () => {
    await putBox(testDb, boxOf("a", { worth: null }));
    expect(await boxById(testDb, "a")).toEqual([boxOf("a", { worth: null })]);
    expect(await boxById(testDb, "b")).toEqual([]);
  });

  it("overwrites a row of the same key, except for the columns to keep", async () => {
    await putBox(testDb, boxOf("a"));
    await putBox(testDb, boxOf("a", { units: 1n, isOpen: true, label: "second" }));
    expect(await boxById(testDb, "a")).toEqual([boxOf("a", { units: 1n, isOpen: true })]);
  });

  it("ends with the given SQL suffix", async () => {
    for (const units of [1n, 2n]) await insertBox(testDb, boxOf("a", { units }));
    expect(await boxById(testDb, "a")).toEqual([boxOf("a", { units: 1n })]);
  });

  it("is not sent without a value for each placeholder", async () => {
    await expect(forgetful(testDb)).rejects.toThrow("no value for the placeholder id");
  });

  it("shows its SQL and its values as D1 accepts them", () => {
    expect(putBox(testDb, boxOf("a")).toSQL().params).toEqual(["a", "1".padEnd(31, "0"), 7, 0, "first"]);
    const { sql: text, params } = boxById(testDb, "a").toSQL();
    expect([text.endsWith('where "boxes"."id" = ?'), params]).toEqual([true, ["a"]]);
  });
});
