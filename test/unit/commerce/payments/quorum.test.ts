import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { needsSecondSource } from "../../../../src/commerce/payments/quorum.ts";
import { RUNS } from "../../../support/property-runs.ts";

const micros = fc.bigInt({ min: 0n, max: 10n ** 15n });

describe("a second source must agree on a payment", () => {
  it.each([
    ["never when the merchant set no threshold", null, 10n, 10n, false],
    ["when the invoice reaches the threshold", 10n, 10n, 0n, true],
    ["when the payment reaches the threshold", 10n, 0n, 10n, true],
    ["not below the threshold", 10n, 9n, 9n, false],
    ["depending only on the invoice when the payment's value is unknown", 10n, 9n, null, false],
    ["even for a small part of a large invoice", 10n, 11n, 1n, true],
  ] as const)("%s", (_, quorumAboveMicros, askedMicros, paidMicros, needed) => {
    expect(needsSecondSource({ quorumAboveMicros, askedMicros, paidMicros })).toBe(needed);
  });

  it("whenever one must agree on a smaller payment, for a smaller invoice or at a higher threshold", () => {
    fc.assert(
      fc.property(micros, micros, micros, micros, (quorumAboveMicros, askedMicros, paidMicros, more) => {
        const needed = needsSecondSource({ quorumAboveMicros, askedMicros, paidMicros });
        const of = { quorumAboveMicros, askedMicros, paidMicros };
        if (needed) expect(needsSecondSource({ ...of, paidMicros: paidMicros + more })).toBe(true);
        if (needed) expect(needsSecondSource({ ...of, askedMicros: askedMicros + more })).toBe(true);
        if (!needed) expect(needsSecondSource({ ...of, quorumAboveMicros: quorumAboveMicros + more })).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});
