import fc from "fast-check";
import { expect, it } from "vitest";
import { networkNamed } from "../../../../src/chains/registry/networks.ts";
import type { Transfer } from "../../../../src/chains/sources/transfer.ts";
import {
  MOST_BY_RULES,
  MOST_EVER_BY_RULES,
  MOST_PAYMENTS,
  type Payment,
} from "../../../../src/commerce/payments/payment.ts";
import { hasRoomByHand, splitByRoom } from "../../../../src/detection/matching/payment-room.ts";
import { firstSeen, transferOf } from "../../../support/payment-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const network = networkNamed("BTC");
if (network === undefined) throw new Error("BTC");
const PAYMENT = firstSeen({ network, heights: { tipHeight: 1, finalizedHeight: null }, nowMs: 1 });
const paymentsOf = (count: number, changes: Partial<Payment> = {}): readonly Payment[] =>
  Array.from({ length: count }, (_, n) => ({ ...PAYMENT, txHash: `tx${n}`, outputIndex: "0", ...changes }));
/** Payments from other transactions than the new transfers. */
const othersOf = (count: number, changes: Partial<Payment>) => paymentsOf(count, { txHash: "gone", ...changes });
const creditOf = (n: number): { readonly transfer: Transfer } => ({
  transfer: transferOf({ txHash: `tx${n}`, outputIndex: "0" }),
});

it("transfers of known payments are always credited, and new transfers until the invoice has 200 payments; the others are returned separately", () => {
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

it("payments that left the chain count only toward an invoice's overall limit of 600 payments", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: MOST_BY_RULES + 50 }),
      fc.integer({ min: 0, max: MOST_EVER_BY_RULES }),
      fc.constantFrom("DROPPED", "REORGED"),
      (count, gone, status) => {
        const payments = [...paymentsOf(count), ...othersOf(gone, { status })];
        const credits = Array.from({ length: 250 }, (_, n) => creditOf(1_000 + n));
        const room = Math.min(MOST_BY_RULES - count, MOST_EVER_BY_RULES - count - gone);
        expect(splitByRoom(payments, "BTC", credits).taken).toHaveLength(Math.max(0, room));
      },
    ),
    { numRuns: RUNS },
  );
});

it("users can assign payments until the invoice has 400, or until they have assigned 250 after 600 payments left the chain", () => {
  const flood = othersOf(MOST_EVER_BY_RULES, { status: "DROPPED" });
  const byHand = (count: number) => othersOf(count, { resolution: "{}" });
  expect(hasRoomByHand([...flood, ...byHand(249)])).toBe(true);
  expect(hasRoomByHand([...flood, ...byHand(250)])).toBe(false);
  expect(hasRoomByHand(byHand(MOST_PAYMENTS - 1))).toBe(true);
  expect(hasRoomByHand(byHand(MOST_PAYMENTS))).toBe(false);
  expect(hasRoomByHand([...paymentsOf(MOST_BY_RULES), ...byHand(MOST_PAYMENTS - MOST_BY_RULES)])).toBe(false);
});

it("a payment on another network does not make a transfer known", () => {
  const { beyond } = splitByRoom(paymentsOf(MOST_BY_RULES), "LTC", [creditOf(0)]);
  expect(beyond).toEqual([creditOf(0)]);
});
