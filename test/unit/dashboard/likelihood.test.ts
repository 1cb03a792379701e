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

it("a candidate is shown with the reasons why it is listed: entered by a payer, amount, time", () => {
  expect(likelihood("40", { ...far, isNamed: true }, words)).toEqual([
    "This transaction was entered on its payment page.",
    "The amount is 50% less than the 80 requested.",
    "The invoice was created 10 min before the payment.",
  ]);
  expect(likelihood("80.4", { ...far, amountDiffersPercent: "0.50", madeBeforeSeconds: -120 }, words)).toEqual([
    "The amount is 0.5% more than the 80 requested.",
    "The invoice was created 2 min after the payment.",
  ]);
});

it("a candidate with the same amount is distinguished from one with nearly the same amount", () => {
  const same = { ...far, amountDiffersPercent: "0.00", madeBeforeSeconds: null };
  expect(likelihood("80", same, words)).toEqual(["The amount is exactly what the invoice asked for."]);
  expect(likelihood("80.000001", same, words)).toEqual(["The amount is less than 0.01% off the 80 requested."]);
});

it("a candidate that asked for no amount in this coin is shown without a sentence about the amount", () => {
  expect(likelihood("40", { ...far, askedAmount: null, amountDiffersPercent: null }, words)).toEqual([
    "The invoice was created 10 min before the payment.",
  ]);
});
