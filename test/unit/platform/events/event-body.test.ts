import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeId, newUlid } from "../../../../src/lib/ids.ts";
import { EVENT_TYPES, eventText } from "../../../../src/platform/events/event.ts";
import { RUNS } from "../../../support/property-runs.ts";

const ulid = fc
  .tuple(fc.nat(2 ** 47), fc.uint8Array({ minLength: 16, maxLength: 16 }))
  .map(([ms, bytes]) => newUlid(ms, bytes));

describe("an event's text", () => {
  test("contains every member that webhooks.md lists, in a fixed order, and the data unchanged", () => {
    const data = '{"b":1,"a":[ "x" ],"n":"1.000000"}';
    const row = { id: "evt_1", merchantId: "mer_1", type: "invoice.paid", sequence: 3, data, createdAtMs: 0 } as const;
    expect(eventText(row)).toBe(
      `{"id":"evt_1","type":"invoice.paid","event":"invoice.paid","timestamp":"1970-01-01T00:00:00.000Z","apiVersion":"v1","merchantId":"mer_1","sequence":3,"data":${data}}`,
    );
  });

  test("is JSON with the values of the row, for any values", () => {
    fc.assert(
      fc.property(
        fc.record({
          id: ulid.map((text) => makeId("evt", text)),
          merchantId: ulid.map((text) => makeId("mer", text)),
          type: fc.constantFrom(...EVENT_TYPES),
          sequence: fc.option(fc.nat()),
          data: fc
            .dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
            .map((value) => JSON.stringify(value)),
          createdAtMs: fc.nat(2 ** 42),
        }),
        (row) => {
          const { id, merchantId, type, sequence, createdAtMs } = row;
          const timestamp = new Date(createdAtMs).toISOString();
          const data: unknown = JSON.parse(row.data);
          const expected = { id, type, event: type, timestamp, apiVersion: "v1", merchantId, sequence, data };
          expect(JSON.parse(eventText(row))).toEqual(expected);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
