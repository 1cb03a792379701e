// The events of a change contain the same invoice. It is stored only once, but every event must be read as it was recorded.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { derivedId, type InvoiceId, type MerchantId, newUlid } from "../../../../src/lib/ids.ts";
import { commit } from "../../../../src/platform/db/batch.ts";
import { openDb } from "../../../../src/platform/db/client.ts";
import { events } from "../../../../src/platform/db/schema/events.ts";
import type { OutboxEvent } from "../../../../src/platform/events/event.ts";
import { eventData, forgetOldEvents, recordOutbox } from "../../../../src/platform/events/store.ts";
import { migratedDatabase, savepoints, sqliteD1, statementCache } from "../../../simulation/engine/sqlite-d1.ts";
import { RUNS } from "../../../support/property-runs.ts";

const MERCHANT: MerchantId = "mer_1";
const INVOICE: InvoiceId = "inv_1";

function outbox() {
  const sqlite = migratedDatabase();
  const db = openDb(sqliteD1(statementCache(sqlite), savepoints(sqlite), async (_, work) => work()));
  const whole = () =>
    db
      .select({ id: events.id, data: eventData("events").as("whole") })
      .from(events)
      .orderBy(events.sequence);
  const stored = () => sqlite.prepare("select data, head_length from events order by sequence").all();
  return { db, whole, stored, clear: () => sqlite.exec("delete from events") };
}

/** The events of one change: each starts with `head`, and continues with its own `members`. */
function eventsOf(head: string, members: readonly string[], of: { readonly nowMs: number; readonly from?: number }) {
  const { nowMs, from = 1 } = of;
  const operationId = newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16)));
  return members.map(
    (more, n): OutboxEvent => ({
      id: derivedId("evt", operationId, n),
      merchantId: MERCHANT,
      type: "invoice.updated",
      invoiceId: INVOICE,
      sequence: from + n,
      data: more === "" ? `${head}}` : `${head},${more}}`,
      headLength: head.length,
      createdAtMs: nowMs,
    }),
  );
}

const NUL = /\0/g;
const texts = fc
  .oneof(fc.string({ unit: "binary" }), fc.constantFrom("ü€👋", "a".repeat(3_000), "}{,"))
  .map((text) => text.replace(NUL, "").toWellFormed());
const heads = texts.map((text) => JSON.stringify({ invoice: text }).slice(0, -1));
const members = texts.map((text) => (text === "" ? "" : JSON.stringify({ payment: text }).slice(1, -1)));

describe("the events of one change", () => {
  test("are read as they were recorded, although only the first is stored in full", async () => {
    const { db, whole, stored, clear } = outbox();
    await fc.assert(
      fc.asyncProperty(heads, fc.array(members, { minLength: 1, maxLength: 4 }), async (head, all) => {
        clear();
        const rows = eventsOf(head, all, { nowMs: 1_000 });
        await commit(db, recordOutbox(db, rows));
        expect(await whole()).toEqual(rows.map(({ id, data }) => ({ id, data })));
        expect(stored().map((row) => row.head_length)).toEqual(rows.map((_, n) => (n === 0 ? null : head.length)));
      }),
      { numRuns: RUNS / 5 },
    );
  });

  test("are read as they were recorded, after any sequence of changes", async () => {
    const { db, whole, clear } = outbox();
    const changes = fc.array(fc.tuple(heads, fc.array(members, { minLength: 1, maxLength: 3 })), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(changes, fc.nat(2), async (history, apartMs) => {
        clear();
        const recorded: OutboxEvent[] = [];
        for (const [n, [head, all]] of history.entries()) {
          const rows = eventsOf(head, all, { nowMs: 1_000 + n * apartMs, from: 1 + recorded.length });
          await commit(db, recordOutbox(db, rows));
          recorded.push(...rows);
        }
        expect(await whole()).toEqual(recorded.map(({ id, data }) => ({ id, data })));
      }),
      { numRuns: RUNS / 5 },
    );
  });

  test("are stored in full if their data start differently, or if they would not be deleted together", async () => {
    const { db, whole, stored } = outbox();
    const [one, two, three] = eventsOf('{"a":1', ["", '"b":2', '"b":3'], { nowMs: 1_000 });
    if (one === undefined || two === undefined || three === undefined) throw new Error("no events");
    const rows = [one, { ...two, data: '{"a":2,"b":2}' }, { ...three, createdAtMs: 1_001 }];
    await commit(db, recordOutbox(db, rows));
    expect(stored().map((row) => row.head_length)).toEqual([null, null, null]);
    expect((await whole()).map(({ data }) => data)).toEqual(rows.map(({ data }) => data));
  });

  test("stay readable until they are deleted, even if a deletion pass deletes only some of them", async () => {
    const { db, whole, clear } = outbox();
    for (let limit = 1; limit <= 9; limit++) {
      clear();
      // Three changes with three events each. Two of the changes happened in the same millisecond.
      const changes = [1_000, 1_000, 1_001].map((nowMs, n) =>
        eventsOf(`{"n":${n}`, ["", '"b":2', '"b":3'], { nowMs, from: 1 + n * 3 }),
      );
      for (const rows of changes) await commit(db, recordOutbox(db, rows));
      const data = new Map<string, string>(changes.flat().map((row) => [row.id, row.data]));
      for (let passes = 0; passes < 9; passes++) {
        await forgetOldEvents(db, { beforeMs: 2_000, limit });
        for (const row of await whole()) expect(row.data).toBe(data.get(row.id));
      }
      expect(await whole()).toEqual([]);
    }
  });
});
