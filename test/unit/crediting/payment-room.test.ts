import fc from "fast-check";
import { expect, it } from "vitest";
import { networkNamed } from "../../../src/chains/networks.ts";
import { splitByRoom } from "../../../src/crediting/payment-room.ts";
import { MOST_BY_RULES, type Payment } from "../../../src/payments/payment.ts";
import type { Transfer } from "../../../src/payments/transfer.ts";
import { firstSeen, transferOf } from "../../support/payment-facts.ts";
import { RUNS } from "../../support/property-runs.ts";

const network = networkNamed("BTC");
if (network === undefined) throw new Error("BTC");
const PAYMENT = firstSeen({ network, heights: { tipHeight: 1, finalizedHeight: null }, nowMs: 1 });
const paymentsOf = (count: number): readonly Payment[] =>
  Array.from({ length: count }, (_, n) => ({ ...PAYMENT, txHash: `tx${n}`, outputIndex: "0" }));
const creditOf = (n: number): { readonly transfer: Transfer } => ({
  transfer: transferOf({ txHash: `tx${n}`, outputIndex: "0" }),
});

it("takes every transfer that the invoice has, and of the others the first up to 200 payments in all; loses none", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: MOST_BY_RULES + 50 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { maxLength: 100 }),
      (count, numbers) => {
        const credits = numbers.map(creditOf);
        const { taken, beyond } = splitByRoom(paymentsOf(count), "BTC", credits);
        const isKnown = (n: number) => n < count;
        const fresh = numbers.filter((n) => !isKnown(n));
        const room = Math.max(0, MOST_BY_RULES - count);
        const expected = new Set([...numbers.filter(isKnown), ...fresh.slice(0, room)]);
        expect(taken).toEqual(numbers.filter((n) => expected.has(n)).map(creditOf));
        expect(beyond).toEqual(fresh.slice(room).map(creditOf));
      },
    ),
    { numRuns: RUNS },
  );
});

it("does not take a transfer of another network for one that the invoice has", () => {
  const { beyond } = splitByRoom(paymentsOf(MOST_BY_RULES), "LTC", [creditOf(0)]);
  expect(beyond).toEqual([creditOf(0)]);
});
