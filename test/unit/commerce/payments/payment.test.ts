import { expect, it, test } from "vitest";
import { isSeen, PAYMENT_STATUSES } from "../../../../src/commerce/payments/payment.ts";

test.each(PAYMENT_STATUSES)("isSeen is true for DETECTED and CONFIRMED only: %s", (status) => {
  expect(isSeen({ status })).toBe(["DETECTED", "CONFIRMED"].includes(status));
});

it("a payment has one of the six statuses of decisions 5", () => {
  expect(PAYMENT_STATUSES).toEqual(["DETECTED", "CONFIRMED", "DROPPED", "REORGED", "UNMATCHED", "IGNORED"]);
});
