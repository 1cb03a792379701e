import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { needsSecondSource } from "../../../../src/commerce/payments/quorum.ts";
import { RUNS } from "../../../support/property-runs.ts";

const micros = fc.bigInt({ min: 0n, max: 10n ** 15n });

describe("two sources must agree on a payment", () => {
  it.each([
    ["never where the merchant set no amount", null, 10n, 10n, false],
    ["from the amount on, by the invoice", 10n, 10n, 0n, true],
    ["from the amount on, by the payment", 10n, 0n, 10n, true],
    ["not below it", 10n, 9n, 9n, false],
    ["of a payment whose worth is not known, by the invoice alone", 10n, 9n, null, false],
    ["for a part of a large invoice", 10n, 11n, 1n, true],
  ] as const)("%s", (_, quorumAboveMicros, askedMicros, paidMicros, needed) => {
    expect(needsSecondSource({ quorumAboveMicros, askedMicros, paidMicros })).toBe(needed);
  });

  it("the more it is worth, the sooner; the higher the merchant's amount, the later", () => {
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
