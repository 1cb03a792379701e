import { describe, expect, it } from "vitest";
import {
  batchConflict,
  d1Messages,
  describeConflict,
  isConflictOn,
  isContention,
  throwUnlessContention,
} from "../../../../src/platform/db/conflict.ts";

// Errors of D1 as drizzle 0.45 passes them on: a batch throws D1's error, a single statement throws drizzle's error with D1's as its cause.
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
    ["a different check", d1("CHECK constraint failed: other: SQLITE_CONSTRAINT"), undefined],
    ["a missing value", d1("NOT NULL constraint failed: operations.id"), undefined],
    ["a lost connection", new Error("Network connection lost."), undefined],
    ["a value that is not an error", "UNIQUE constraint failed: operations.id", undefined],
  ])("is found in an error and its causes, and not seen in other errors: %s", (_, error, conflict) => {
    expect(batchConflict(error)).toEqual(conflict);
  });

  it("is never read from a bound value", () => {
    expect(
      batchConflict(drizzle("Network connection lost.", "UNIQUE constraint failed: operations.id")),
    ).toBeUndefined();
  });

  it("is distinguished by table and columns", () => {
    const conflict = batchConflict(d1(POSITION));
    expect(isConflictOn(conflict, "timeline_items")).toBe(true);
    expect(isConflictOn(conflict, "timeline_items", ["invoice_id", "position"])).toBe(true);
    expect(isConflictOn(conflict, "timeline_items", ["position"])).toBe(false);
    expect(isConflictOn(conflict, "events")).toBe(false);
    expect(isConflictOn({ kind: "assertion" }, "assertions")).toBe(false);
    expect(isConflictOn(undefined, "events")).toBe(false);
  });

  it("has log messages without bound values, even if its causes form a cycle", () => {
    expect(d1Messages(drizzle(POSITION)).join()).not.toContain("secret");
    const circular = new Error("a");
    circular.cause = circular;
    expect(d1Messages(circular)).toHaveLength(8);
  });
});

describe("a refused batch", () => {
  const unique = (table: string, ...columns: string[]) => ({ kind: "unique", table, columns }) as const;

  it.each([
    ["an invoice's event that another writer wrote first", unique("events", "invoice_id", "sequence"), true],
    ["a customer that another writer created first", unique("customers", "merchant_id", "email_key"), true],
    ["an external id that another writer took first", unique("invoices", "merchant_id", "external_id"), true],
    ["a wallet for a pair that just got one", unique("wallets", "merchant_id", "cryptocurrency", "network"), true],
    ["a fact that no longer holds", { kind: "assertion" } as const, true],
    ["an id of an event", unique("events", "id"), false],
    ["an id of an invoice", unique("invoices", "id"), false],
    ["an id of a customer", unique("customers", "id"), false],
    ["a position on a timeline", unique("timeline_items", "invoice_id", "position"), false],
    ["a payment method", unique("payment_methods", "invoice_id", "cryptocurrency", "network"), false],
    ["part of a contended key", unique("events", "invoice_id"), false],
    ["a contended key in another order", unique("customers", "email_key", "merchant_id"), false],
    ["a contended key of another table", unique("invoices", "merchant_id", "email_key"), false],
  ])("that conflicts on %s (%j) is a lost race and not a bug: %s", (_, conflict, isLost) => {
    expect(isContention(conflict)).toBe(isLost);
  });

  it("causes an error with the constraint's name if no other writer can have made it fail", () => {
    for (const none of [undefined, { kind: "assertion" } as const, unique("members", "merchant_id")])
      expect(() => throwUnlessContention("a ping", none)).not.toThrow();
    expect(() => throwUnlessContention("a ping", unique("events", "id"))).toThrow("a ping met events(id)");
  });

  it("is described by the constraint's name only", () => {
    expect(describeConflict(unique("events", "invoice_id", "sequence"))).toBe("events(invoice_id, sequence)");
    expect(describeConflict(unique("operations", "id"))).toBe("operations(id)");
    expect(describeConflict({ kind: "assertion" })).toBe("an assertion");
    const read = batchConflict(drizzle(POSITION, "a value nobody may log"));
    expect(read && describeConflict(read)).toBe("timeline_items(invoice_id, position)");
  });
});
