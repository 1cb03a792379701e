// The data of an invoice's event is stored deflated, and read back byte for byte.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DICTIONARY, packData, unpackData } from "../../../../src/platform/events/packed-data.ts";
import { RUNS } from "../../../support/property-runs.ts";

/** JSON objects: with any members, and some that repeat the dictionary or themselves. */
const objects = fc
  .oneof(
    fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
    fc.record({ invoice: fc.string({ unit: "grapheme" }), again: fc.constantFrom("ü€👋".repeat(999), DICTIONARY, "") }),
  )
  .map((value) => JSON.stringify(value));
/** How much of a text its rest is packed after. */
const parts = fc.tuple(objects, fc.nat()).map(([text, n]) => ({ text, at: n % (text.length + 1) }));

describe("the data of an event", () => {
  test("is read back as packed", () => {
    fc.assert(
      fc.property(objects, (text) => {
        expect(unpackData(packData(text))).toBe(text);
      }),
      { numRuns: RUNS },
    );
  });

  test("is read back if it was packed after the beginning of another event", () => {
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

  test("is always packed with one dictionary: what is stored cannot be read with another one", () => {
    expect(createHash("sha256").update(DICTIONARY).digest("hex")).toBe(
      "47d6d0497534de323ed752e6a7632837aa55749272ac50c08a47122e492bcc68",
    );
  });
});
