import { expect, it } from "vitest";
import { likelihood } from "../../../dashboard/src/payments/likelihood.ts";

const words = { coins: (amount: string) => amount, duration: (seconds: number) => `${seconds / 60} min` };
const far = {
  invoiceId: "inv_1",
  reason: "AMOUNT_DIFFERS",
  isNamed: false,
  askedAmount: "80",
  amountDiffersPercent: "-50.00",
  madeBeforeSeconds: 600,
} as const;

it("a candidate says why it is listed: named, amount, time", () => {
  expect(likelihood("40", { ...far, isNamed: true }, words)).toEqual([
    "Its payer named this transaction.",
    "The amount is 50 % less than the 80 that it asked for.",
    "It was made 10 min before the payment.",
  ]);
  expect(likelihood("80.4", { ...far, amountDiffersPercent: "0.50", madeBeforeSeconds: -120 }, words)).toEqual([
    "The amount is 0.5 % more than the 80 that it asked for.",
    "It was made 2 min after the payment.",
  ]);
});

it("a candidate of the same amount is distinguished from one that is nearly the same", () => {
  const same = { ...far, amountDiffersPercent: "0.00", madeBeforeSeconds: null };
  expect(likelihood("80", same, words)).toEqual(["The amount is exactly what it asked for."]);
  expect(likelihood("80.000001", same, words)).toEqual([
    "The amount is less than 0.01 % off the 80 that it asked for.",
  ]);
});

it("a candidate that asked for nothing in this coin says nothing about the amount", () => {
  expect(likelihood("40", { ...far, askedAmount: null, amountDiffersPercent: null }, words)).toEqual([
    "It was made 10 min before the payment.",
  ]);
});
