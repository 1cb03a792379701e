import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Invoice } from "../../../../scripts/demo-story/shop.ts";
import { EVM_STORIES, LITECOIN_STORY } from "../../../../scripts/demo-story/stories.ts";
import { differences, type Ending, isAtEnd, percentReceived } from "../../../../scripts/demo-story/story.ts";
import { formatMicros } from "../../../../src/lib/money.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { anInvoice, aPayment } from "./invoice.ts";

const PAID: Ending = { path: ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"], payments: 1, receivedPercent: 100 };

const paid = (changes: Partial<Invoice> = {}) =>
  anInvoice(PAID.path, { amountReceived: "10.000000", payments: [aPayment("CONFIRMED")], ...changes });

describe("the ending of a story", () => {
  test("matches an invoice with the same ending", () => {
    expect(differences(PAID, paid())).toEqual([]);
    expect(isAtEnd(PAID, paid())).toBe(true);
  });

  const wrong: readonly (readonly [string, Invoice, string])[] = [
    ["a status was skipped", anInvoice(["AWAITING_PAYMENT", "PAID"], paid()), "status"],
    ["another status followed", anInvoice([...PAID.path, "AWAITING_PAYMENT"], paid()), "now"],
    ["its payment was reorganized away", paid({ payments: [aPayment("REORGED")] }), "payments"],
    ["it was credited twice", paid({ payments: [aPayment("CONFIRMED"), aPayment("DETECTED")] }), "payments"],
    ["too little was received", paid({ amountReceived: "9.999999" }), "received"],
    ["its payment came late", paid({ isLate: true }), "late"],
  ];
  test.each(wrong)("does not match the invoice when %s", (_, invoice, what) => {
    expect(differences(PAID, invoice).join()).toContain(`${what}: expected`);
    expect(isAtEnd(PAID, invoice)).toBe(false);
  });

  test("uses a received percentage that is rounded down", () => {
    const micros = fc.bigInt({ min: 1n, max: 10n ** 12n });
    fc.assert(
      fc.property(micros, micros, (asked, received) => {
        const percent = percentReceived({ rawAmount: formatMicros(asked), amountReceived: formatMicros(received) });
        const share = BigInt(percent) * asked;
        expect(share <= received * 100n && received * 100n < share + asked).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the stories", () => {
  const stories = [...EVM_STORIES, LITECOIN_STORY];

  test("each have their own title, and start with AWAITING_PAYMENT", () => {
    expect(new Set(stories.map(({ title }) => title)).size).toBe(stories.length);
    for (const { ending } of stories) expect(ending.path[0]).toBe("AWAITING_PAYMENT");
  });

  test("together cover paid, underpaid, overpaid, expired, late and reorganized payments", () => {
    const ends = stories.map(({ ending }) => ending.path.at(-1));
    expect(ends).toEqual(expect.arrayContaining(["PAID", "OVERPAID", "UNDERPAID", "EXPIRED"]));
    expect(stories.some(({ ending }) => ending.isLate)).toBe(true);
    expect(
      stories.some(({ ending }) => ending.path.indexOf("PAID") < ending.path.lastIndexOf("AWAITING_PAYMENT")),
    ).toBe(true);
  });

  test("never use the same amount of a coin twice, and a coin with inexact payments is used in only one story", () => {
    const pairs = EVM_STORIES.map(({ pair, usd }) => `${pair.cryptocurrency} ${usd}`);
    expect(new Set(pairs).size).toBe(pairs.length);
    const inexact = EVM_STORIES.filter(
      ({ ending }) => ending.payments > 1 || ![0, 100].includes(ending.receivedPercent),
    );
    for (const { pair } of inexact) {
      expect(EVM_STORIES.filter((each) => each.pair.cryptocurrency === pair.cryptocurrency)).toHaveLength(1);
    }
  });
});
