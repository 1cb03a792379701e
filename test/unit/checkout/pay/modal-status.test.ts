import { expect, it } from "vitest";
import { modalStatus } from "../../../../src/checkout/pay/modal-status.ts";
import { STAGES } from "../../../support/checkout-views.ts";

it("a shop's plugin gets BTCPay's status at each stage, and nothing while that is New", () => {
  expect(Object.fromEntries(STAGES.map((stage) => [stage, modalStatus(stage)]))).toEqual({
    unavailable: undefined,
    choose: undefined,
    pay: undefined,
    partial: undefined,
    checking: undefined,
    seen: "Processing",
    paid: "Settled",
    overpaid: "Settled",
    underpaid: "Expired",
    expired: "Expired",
    cancelled: "Invalid",
  });
});
