import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { derivedId, type IdPrefix, makeId, newUlid, parseId, ulidHead, ulidTime } from "../../../src/lib/ids.ts";
import { RUNS } from "../../support/property-runs.ts";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SHAPE = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const LAST_MS = 2 ** 48 - 1;

const time = fc.integer({ min: 0, max: LAST_MS });
const random = fc.uint8Array({ minLength: 14, maxLength: 14 });
const operation = fc.tuple(time, random).map(([ms, bytes]) => newUlid(ms, bytes));
const prefix = fc.constantFrom<IdPrefix>("inv", "evt", "cus", "itl", "wal", "pay");

describe("a ULID", () => {
  it("encodes its time like the example in the ULID specification (github.com/ulid/spec)", () => {
    expect(ulidTime(1_469_918_176_385)).toBe("01ARYZ6S41");
    expect(ulidTime(0)).toBe("0000000000");
    // The largest ULID in the specification: 7ZZZZZZZZZZZZZZZZZZZZZZZZZ, at 281474976710655 ms.
    expect(ulidTime(281_474_976_710_655)).toBe("7ZZZZZZZZZ");
    expect(newUlid(281_474_976_710_655, new Uint8Array(14).fill(255))).toBe("7ZZZZZZZZZ00ZZZZZZZZZZZZZZ");
  });

  it("has 26 characters of Crockford's base32: 10 for the time, 00 for the only database, and 14 random characters", () => {
    fc.assert(
      fc.property(time, random, (ms, bytes) => {
        const ulid = newUlid(ms, bytes);
        expect(ulid).toMatch(SHAPE);
        expect([...ulid.slice(0, 10)].reduce((read, letter) => read * 32 + CROCKFORD.indexOf(letter), 0)).toBe(ms);
        expect(ulid.slice(10, 12)).toBe("00");
        expect(ulid.slice(12)).toBe([...bytes].map((byte) => CROCKFORD[byte % 32]).join(""));
      }),
      { numRuns: RUNS },
    );
  });

  it("sorts by time, with any random part", () => {
    fc.assert(
      fc.property(time, time, random, random, (a, b, one, other) => {
        fc.pre(a !== b);
        expect(newUlid(a, one) < newUlid(b, other)).toBe(a < b);
      }),
      { numRuns: RUNS },
    );
  });

  it("has equally probable letters in its random part", () => {
    const counts = new Map<string, number>();
    for (let byte = 0; byte < 256; byte++) {
      const letter = newUlid(0, new Uint8Array(14).fill(byte)).slice(-1);
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect([...counts.keys()].sort().join("")).toBe(CROCKFORD);
    expect(new Set(counts.values())).toEqual(new Set([8]));
  });

  it("cannot be made from too few random bytes", () => {
    expect(() => newUlid(0, new Uint8Array(13))).toThrow(/14 random bytes, got 13/);
  });
});

describe("an id derived from an operation", () => {
  it("is always the same, so that a retry creates the same rows", () => {
    fc.assert(
      fc.property(operation, prefix, fc.nat(2_000), (id, kind, n) => {
        expect(derivedId(kind, id, n)).toBe(derivedId(kind, id, n));
        expect(derivedId(kind, id)).toBe(derivedId(kind, id, 0));
      }),
      { numRuns: RUNS },
    );
  });

  it("consists of its prefix, the operation's time and database, and 14 characters of the SHA-256 of operation, prefix and number", () => {
    const id = "01ARYZ6S41TSV4RRFFQ69G5FAV";
    const digest = createHash("sha256").update(`${id}|evt|7`).digest();
    const expected = [...digest.subarray(0, 14)].map((byte) => CROCKFORD[byte % 32]).join("");
    expect(derivedId("evt", id, 7)).toBe(`evt_01ARYZ6S41TS${expected}`);
  });

  it("is in the same database as the row that it was created with", () => {
    const beside = makeId("mer", "01ARYZ6S417ZV4RRFFQ69G5FAV");
    expect(ulidHead(0, beside)).toBe("00000000007Z");
    expect(derivedId("evt", `${ulidHead(0, beside)}|ETH`)).toMatch(/^evt_00000000007Z[0-9A-HJKMNP-TV-Z]{14}$/);
  });

  it.each(["", "01ARYZ6S41", "01ARYZ6S41|mer_1", "81ARYZ6S4100"])(
    "cannot be derived from %j, which contains no time and database",
    (text) => {
      expect(() => derivedId("evt", text)).toThrow("no time and database");
    },
  );

  it("differs from every other id of its operation, and shares only the time and the database with the operation's id", () => {
    const id = "01ARYZ6S41TSV4RRFFQ69G5FAV";
    const kinds: readonly IdPrefix[] = ["inv", "evt", "cus", "itl", "pay"];
    const tails = kinds.flatMap((kind) => Array.from({ length: 400 }, (_, n) => derivedId(kind, id, n).slice(16)));
    expect(new Set(tails).size).toBe(2_000);
    expect(tails).not.toContain(id.slice(12));
    // Two random parts have a letter in common with probability 1 in 32. Many more common letters would mean that one reveals something about the
    // other.
    const alike = kinds.map((kind) => [...derivedId(kind, id).slice(16)].filter((c, at) => id[12 + at] === c).length);
    expect(Math.max(...alike)).toBeLessThan(6);
  });

  it("differs between operations of the same millisecond", () => {
    fc.assert(
      fc.property(time, random, random, prefix, (ms, one, other, kind) => {
        const [a, b] = [newUlid(ms, one), newUlid(ms, other)];
        fc.pre(a !== b);
        expect(derivedId(kind, a)).not.toBe(derivedId(kind, b));
        expect(derivedId(kind, a).slice(0, 16)).toBe(derivedId(kind, b).slice(0, 16));
      }),
      { numRuns: RUNS },
    );
  });
});

describe("parsing an id", () => {
  it("returns the same id, and only for its own prefix", () => {
    fc.assert(
      fc.property(operation, (ulid) => {
        const id = makeId("inv", ulid);
        expect(parseId("inv", id)).toBe(id);
        expect(parseId("wal", id)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });

  it("accepts a derived id", () => {
    fc.assert(
      fc.property(operation, prefix, (ulid, kind) => {
        expect(parseId(kind, derivedId(kind, ulid))).toBe(derivedId(kind, ulid));
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    "",
    "inv",
    "inv_",
    "inv_01ARYZ6S41TSV4RRFFQ69G5FA",
    "inv_01ARYZ6S41TSV4RRFFQ69G5FAVV",
    "inv_01aryz6s41tsv4rrffq69g5fav",
    "inv_81ARYZ6S41TSV4RRFFQ69G5FAV",
    "inv_01ARYZ6S41TSV4RRFFQ69G5FAI",
    "inv_01ARYZ6S41TSV4RRFFQ69G5FAL",
    "inv_01ARYZ6S41TSV4RRFFQ69G5FAO",
    "inv_01ARYZ6S41TSV4RRFFQ69G5FAU",
    "inv_01ARYZ6S41TSV4RRFFQ69G5FA\n",
    "inv_01ARYZ6S41TSV4RRFFQ69G5FAV\n",
    " inv_01ARYZ6S41TSV4RRFFQ69G5FAV",
    "INV_01ARYZ6S41TSV4RRFFQ69G5FAV",
    "inv-01ARYZ6S41TSV4RRFFQ69G5FAV",
    "01ARYZ6S41TSV4RRFFQ69G5FAV",
    "inv_inv_01ARYZ6S41TSV4RRFFQ69G5FAV",
    "inv_%30ARYZ6S41TSV4RRFFQ69G5FAV",
  ])("refuses %j", (text) => {
    expect(parseId("inv", text)).toBeUndefined();
  });
});
