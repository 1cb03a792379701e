import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { newUlid } from "../../../src/lib/ids.ts";
import {
  decodeCursor,
  encodeCursor,
  listQuery,
  pageBody,
  pageOf,
  pageRequest,
  pageToRead,
} from "../../../src/lib/pagination.ts";
import { RUNS } from "../../support/property-runs.ts";

const POSITION = { createdAtMs: 1_795_220_000_123, id: "inv_01ARYZ6S41TSV4RRFFQ69G5FAV" };
const query = z.object(listQuery());

const position = fc.record({
  createdAtMs: fc.integer({ min: 0, max: 8_640_000_000_000_000 }),
  id: fc
    .tuple(
      fc.constantFrom("inv", "wal", "evt"),
      fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
    )
    .map(([prefix, ms, bytes]) => `${prefix}_${newUlid(ms, bytes)}`),
});

describe("a cursor", () => {
  it("decodes to the position that it was encoded from, and needs no escaping in a URL", () => {
    fc.assert(
      fc.property(position, (of) => {
        const cursor = encodeCursor(of);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(cursor.length).toBeLessThanOrEqual(200);
        expect(decodeCursor(cursor)).toEqual({ ok: true, value: of });
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["a page number", "2"],
    ["not base64", "%%%"],
    ["letters outside Latin-1", "ключ"],
    ["encoded from another text", btoa("hello")],
    ["without a time", btoa(`.${POSITION.id}`)],
    ["made with a negative time", btoa(`-1.${POSITION.id}`)],
    ["made with a fraction as its time", btoa(`1.5.${POSITION.id}`)],
    ["made with a time too long to be exact", btoa(`12345678901234567.${POSITION.id}`)],
    ["without an id", btoa("1.")],
    ["made with a malformed id", btoa("1.inv_1")],
    ["carrying SQL", btoa("1.inv_1' OR 1=1 --")],
    ["followed by a space after the id", btoa(`1.${POSITION.id} `)],
    ["followed by a line break after the id", btoa(`1.${POSITION.id}\n`)],
    ["truncated", encodeCursor(POSITION).slice(0, -4)],
  ])("that is %s is refused", (_, cursor) => {
    expect(decodeCursor(cursor)).toEqual({ ok: false, error: "NOT_A_CURSOR" });
    expect(pageRequest({ cursor })).toEqual({ ok: false, error: "NOT_A_CURSOR" });
  });

  it("made from any text is accepted or refused without an exception", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(["boolean"]).toContain(typeof decodeCursor(text).ok);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a list", () => {
  const asked: readonly [string, Parameters<typeof pageRequest>[0], object][] = [
    ["nothing: the first page, counted", {}, { limit: 20, offset: 0, page: 1, after: undefined }],
    ["a limit: the first page, counted", { limit: 7 }, { limit: 7, offset: 0, page: 1, after: undefined }],
    [
      "an empty cursor: the first page, not counted",
      { cursor: "", limit: 7 },
      { limit: 7, offset: 0, page: undefined, after: undefined },
    ],
    [
      "an empty cursor and a page: the page",
      { cursor: "", page: 2, limit: 7 },
      { limit: 7, offset: 7, page: 2, after: undefined },
    ],
    ["a page: counted", { page: 3 }, { limit: 20, offset: 40, page: 3, after: undefined }],
    [
      "a page and a limit: counted",
      { page: 1_000, limit: 100 },
      { limit: 100, offset: 99_900, page: 1_000, after: undefined },
    ],
    [
      "a cursor: not counted",
      { cursor: encodeCursor(POSITION) },
      { limit: 20, offset: 0, page: undefined, after: POSITION },
    ],
    [
      "a cursor and a page: the cursor",
      { cursor: encodeCursor(POSITION), page: 9, limit: 5 },
      { limit: 5, offset: 0, page: undefined, after: POSITION },
    ],
  ];
  it.each(asked)("requested with %s", (_, request, expected) => {
    expect(pageRequest(request)).toEqual({ ok: true, value: expected });
  });

  it.each([
    ["limit", "1", 1],
    ["limit", "99", 99],
    ["limit", "100", 100],
    ["page", "1", 1],
    ["page", "999", 999],
    ["page", "1000", 1_000],
  ])("accepts %s=%s", (name, text, value) => {
    expect(query.parse({ [name]: text })).toEqual({ [name]: value });
  });

  it.each([
    ["limit", ["0", "101", "-1", "1.5", "1e1", "", " 1", "01", "0x1", "NaN", "１", "1000"]],
    ["page", ["0", "1001", "-1", "1.5", "", "010", "9999", "Infinity"]],
  ])("refuses a %s that is not a whole number within its bounds", (name, texts) => {
    expect(texts.filter((text) => query.safeParse({ [name]: text }).success)).toEqual([]);
  });

  it("has a cursor for the next page if and only if there is one", () => {
    const rows = Array.from({ length: 5 }, (_, at) => ({
      createdAtMs: 100 - at,
      id: `inv_${newUlid(at, new Uint8Array(16))}`,
    }));
    expect(pageOf(rows, 4)).toEqual({ rows: rows.slice(0, 4), nextCursor: encodeCursor(rows[3] ?? POSITION) });
    expect(pageOf(rows, 5)).toEqual({ rows, nextCursor: null });
    expect(pageOf([], 5)).toEqual({ rows: [], nextCursor: null });
  });

  it("reads one row more than it shows, and no row if its query is invalid", () => {
    expect(pageToRead({ limit: 7 })).toEqual({ limit: 8, offset: 0, after: undefined, page: 1 });
    expect(pageToRead({ page: 3 })).toEqual({ limit: 21, offset: 40, after: undefined, page: 3 });
    const nothing = { limit: 0, offset: 0, after: undefined, page: undefined };
    expect([pageToRead(undefined), pageToRead({ cursor: "2" })]).toEqual([nothing, nothing]);
  });

  it("contains the total unless requested by cursor, and refuses an invalid cursor", () => {
    const rows = [POSITION, { ...POSITION, createdAtMs: 5 }];
    const answer = (query: Parameters<typeof pageBody>[1]) =>
      pageBody({ rows, total: 21 }, query, (row) => ({ at: row.createdAtMs }));
    const first = { at: POSITION.createdAtMs };
    expect(answer({})).toEqual({
      ok: true,
      value: { data: [first, { at: 5 }], nextCursor: null, pagination: { page: 1, limit: 20, total: 21, lastPage: 2 } },
    });
    const nextCursor = encodeCursor(POSITION);
    expect(answer({ limit: 1, cursor: "" })).toEqual({ ok: true, value: { data: [first], nextCursor } });
    const pagination = { page: 1, limit: 1, total: 21, lastPage: 21 };
    expect(answer({ limit: 1 })).toEqual({ ok: true, value: { data: [first], nextCursor, pagination } });
    expect(answer({ cursor: "2" })).toEqual({
      ok: false,
      error: { code: "VALIDATION_FAILED", details: [{ path: "cursor", message: "is not a cursor of this list" }] },
    });
  });
});
