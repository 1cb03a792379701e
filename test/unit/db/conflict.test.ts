import { describe, expect, it } from "vitest";
import { batchConflict, d1Messages, isConflictOn } from "../../../src/db/conflict.ts";

// The shapes as D1 gives them through drizzle 0.45: a batch throws D1's error, a single statement drizzle's around it.
const d1 = (text: string) => new Error(`D1_ERROR: ${text}`, { cause: new Error(text) });
const drizzle = (text: string, params = "secret") =>
  new Error(`Failed query: insert ...\nparams: ${params}`, { cause: d1(text) });
const POSITION =
  "UNIQUE constraint failed: timeline_items.invoice_id, timeline_items.position: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)";
const ON_POSITION = { kind: "unique", table: "timeline_items", columns: ["invoice_id", "position"] };

describe("a violated constraint", () => {
  it.each([
    [
      "a primary key in a batch",
      d1("UNIQUE constraint failed: operations.id: SQLITE_CONSTRAINT"),
      { kind: "unique", table: "operations", columns: ["id"] },
    ],
    ["two columns in a batch", d1(POSITION), ON_POSITION],
    ["two columns in a single statement", drizzle(POSITION), ON_POSITION],
    ["an assertion", d1("CHECK constraint failed: assertion_holds: SQLITE_CONSTRAINT"), { kind: "assertion" }],
    ["another check", d1("CHECK constraint failed: other: SQLITE_CONSTRAINT"), undefined],
    ["a missing value", d1("NOT NULL constraint failed: operations.id"), undefined],
    ["a lost connection", new Error("Network connection lost."), undefined],
    ["no error at all", "UNIQUE constraint failed: operations.id", undefined],
  ])("%s is read from the error and its causes", (_, error, conflict) => {
    expect(batchConflict(error)).toEqual(conflict);
  });

  it("is never read from a bound value", () => {
    expect(
      batchConflict(drizzle("Network connection lost.", "UNIQUE constraint failed: operations.id")),
    ).toBeUndefined();
  });

  it("is told apart by table and columns", () => {
    const conflict = batchConflict(d1(POSITION));
    expect(isConflictOn(conflict, "timeline_items")).toBe(true);
    expect(isConflictOn(conflict, "timeline_items", ["invoice_id", "position"])).toBe(true);
    expect(isConflictOn(conflict, "timeline_items", ["position"])).toBe(false);
    expect(isConflictOn(conflict, "events")).toBe(false);
    expect(isConflictOn({ kind: "assertion" }, "assertions")).toBe(false);
    expect(isConflictOn(undefined, "events")).toBe(false);
  });

  it("messages for a log hold no bound value, and a circle of causes ends", () => {
    expect(d1Messages(drizzle(POSITION)).join()).not.toContain("secret");
    const circular = new Error("a");
    circular.cause = circular;
    expect(d1Messages(circular)).toHaveLength(8);
  });
});
