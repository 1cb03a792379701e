// A new allocator that reads its state from the tables must give the same amounts as the previous allocator would have given.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AmountAllocations } from "../../../../src/commerce/amounts/amount-allocations.ts";
import type { AmountRequest, StandingAmount } from "../../../../src/commerce/amounts/amount-request.ts";
import { UNPROVEN } from "../../../../src/commerce/ranks/rank.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/lib/time.ts";
import { PLACE } from "../../../support/amount-model.ts";
import { memoryStorage } from "../../../support/object-storage.ts";
import { RUNS } from "../../../support/property-runs.ts";

const anyAsk = fc.record({
  invoice: fc.nat({ max: 9 }),
  priceUnits: fc.bigInt({ min: 2_390n, max: 2_410n }),
  isPublic: fc.boolean(),
});
type Ask = typeof anyAsk extends fc.Arbitrary<infer A> ? A : never;

const requestOf = ({ invoice, priceUnits, isPublic }: Ask): AmountRequest => ({
  invoiceId: `inv_${invoice}`,
  merchantId: `mer_${invoice % 2}`,
  priceUnits,
  isPublic,
  sharing: { rank: UNPROVEN, hasOthers: false, provenOthers: 0 },
  createdAtMs: 0,
  expiresAtMs: HOUR_MS,
  monitorUntilMs: DAY_MS,
  nowMs: 0,
});

describe("an allocator without its previous state", () => {
  it("gives every invoice its last amount again, and never another invoice's amount", () => {
    fc.assert(
      fc.property(fc.array(anyAsk, { maxLength: 20 }), fc.array(anyAsk, { maxLength: 20 }), (before, after) => {
        const old = new AmountAllocations(memoryStorage(), PLACE);
        const rows = new Map<string, StandingAmount>();
        for (const ask of before) {
          const request = requestOf(ask);
          const [answer] = old.allocate([request]);
          if (answer?.kind !== "given") continue;
          const { units, rank, heldUntilMs: untilMs } = answer;
          const { invoiceId, merchantId, priceUnits, isPublic } = request;
          rows.set(`${invoiceId} ${units}`, { units, invoiceId, merchantId, priceUnits, rank, isPublic, untilMs });
        }
        const storage = memoryStorage();
        const begun = new AmountAllocations(storage, PLACE);
        expect(begun.isNew()).toBe(true);
        begun.begin([...rows.values()]);
        begun.begin([...rows.values()]);
        expect(new AmountAllocations(storage, PLACE).isNew()).toBe(false);
        for (const { invoiceId, priceUnits, units } of rows.values()) {
          const ask = { invoice: Number(invoiceId.slice(4)), priceUnits, isPublic: false };
          expect(begun.allocate([requestOf(ask)])).toMatchObject([{ kind: "given", units }]);
        }
        const holders = new Map([...rows.values()].map(({ units, invoiceId }) => [units, invoiceId]));
        for (const ask of after) {
          const [answer] = begun.allocate([requestOf(ask)]);
          if (answer?.kind !== "given") continue;
          const holder = holders.get(answer.units) ?? `inv_${ask.invoice}`;
          expect(holder).toBe(`inv_${ask.invoice}`);
          holders.set(answer.units, holder);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
