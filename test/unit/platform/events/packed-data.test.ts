// The data of an invoice's event is stored deflated, and read back byte for byte.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DICTIONARY, packData, unpackData } from "../../../../src/platform/events/packed-data.ts";
import { RUNS } from "../../../support/property-runs.ts";

/** JSON objects with any members. Some contain the dictionary or repeat a text many times. */
const objects = fc
  .oneof(
    fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
    fc.record({ invoice: fc.string({ unit: "grapheme" }), again: fc.constantFrom("ü€👋".repeat(999), DICTIONARY, "") }),
  )
  .map((value) => JSON.stringify(value));
/** A text and the position at which it is split. */
const parts = fc.tuple(objects, fc.nat()).map(([text, n]) => ({ text, at: n % (text.length + 1) }));

describe("an event's data", () => {
  test("is read back unchanged", () => {
    fc.assert(
      fc.property(objects, (text) => {
        expect(unpackData(packData(text))).toBe(text);
      }),
      { numRuns: RUNS },
    );
  });

  test("is read back unchanged if it was packed as the continuation of another event's data", () => {
    fc.assert(
      fc.property(parts, objects, ({ text, at }, more) => {
        const head = text.slice(0, at);
        fc.pre(head.isWellFormed());
        const stored = `${packData(text)} ${head.length} ${packData(more, head)}`;
        expect(unpackData(stored)).toBe(head + more);
      }),
      { numRuns: RUNS },
    );
  });

  test("that was stored as JSON is read unchanged", () => {
    expect(unpackData('{"webhookId":"whk_1 2 3"}')).toBe('{"webhookId":"whk_1 2 3"}');
  });

  test("is always packed with the same dictionary, because stored data cannot be read with a different one", () => {
    expect(createHash("sha256").update(DICTIONARY).digest("hex")).toBe(
      "47d6d0497534de323ed752e6a7632837aa55749272ac50c08a47122e492bcc68",
    );
  });
});
