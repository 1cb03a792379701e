import { expect, it } from "vitest";
import { modalStatus } from "../../../../src/checkout/pay/modal-status.ts";
import { STAGES } from "../../../support/checkout-views.ts";

it("a shop's plugin gets the invoice's BTCPay status at each stage, but no status while it would be New", () => {
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
