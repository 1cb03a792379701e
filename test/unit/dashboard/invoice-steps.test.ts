// The timeline that the console shows for an invoice, and when it offers to cancel.
import { describe, expect, it } from "vitest";
import type { Invoice } from "../../../dashboard/src/api/operations.ts";
import { isCancellable } from "../../../dashboard/src/invoices/states.ts";
import { stepsOf } from "../../../dashboard/src/invoices/steps.ts";

describe("the timeline of an invoice", () => {
  const state = (time: string, paymentStatus: Invoice["status"]) => ({
    id: `tli_${time}`,
    invoiceId: "inv_1",
    paymentStatus,
    time,
  });
  const decision = (at: string) => ({
    action: "ASK_FOR_REST" as const,
    reason: "A fee",
    actor: "usr_1",
    at,
    txHash: null,
  });
  const at = (minute: number) => `2026-11-29T12:0${minute}:00.000Z`;
  const invoiceTimeline = [state(at(1), "AWAITING_PAYMENT"), state(at(2), "UNDERPAID"), state(at(4), "PAID")];
  const kinds = (resolution: ReturnType<typeof decision> | null) =>
    stepsOf({ invoiceTimeline, resolution }).map((step) => step.state ?? "decision");

  it("shows a decision at its time, before states that were reached later", () => {
    expect(kinds(decision(at(3)))).toEqual(["AWAITING_PAYMENT", "UNDERPAID", "decision", "PAID"]);
    expect(kinds(decision(at(5))).at(-1)).toBe("decision");
  });

  it("shows a state before a decision of the same time", () => {
    expect(kinds(decision(at(4))).slice(-2)).toEqual(["PAID", "decision"]);
  });

  it("shows only states if nothing was decided", () => {
    expect(kinds(null)).toEqual(["AWAITING_PAYMENT", "UNDERPAID", "PAID"]);
  });
});

describe("cancelling", () => {
  it.each([
    ["AWAITING_PAYMENT", "0.000000", true],
    ["AWAITING_PAYMENT", "0.000001", false],
    ["EXPIRED", "0.000000", false],
  ] as const)("is offered for an invoice that is %s and has received %s: %s", (status, amountReceived, expected) => {
    expect(isCancellable({ status, amountReceived } as Invoice)).toBe(expected);
  });
});
