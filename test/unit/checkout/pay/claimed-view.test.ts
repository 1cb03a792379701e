// The sentence about a claim, by the transaction's relation to the invoice: 10 USDT on Ethereum.
import { describe, expect, it } from "vitest";
import { checkoutView } from "../../../../src/checkout/pay/view.ts";
import { CLAIM_STANDINGS, standingOf } from "../../../../src/detection/claims/standing.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { en } from "../../../../src/platform/texts/en.ts";
import { EXPIRES, type Given, HASH, NOW, viewFacts } from "../../../support/checkout-facts.ts";

const claim = {
  id: makeId("clm", "0".repeat(26)),
  network: "ETH",
  txHash: HASH,
  outcome: "FOUND",
  createdAtMs: NOW - 60_000,
};

/** `others`: the transaction's payments to other invoices. */
function viewOf(given: Given, others: NonNullable<Given["payments"]> = []) {
  const claimed = viewFacts({ payments: others }).file.payments;
  return checkoutView({ ...viewFacts(given), claim, claimed });
}

const free = { invoiceId: null, status: "UNMATCHED", amountUnits: 4_000_000n } as const;

describe("the sentence about a claim", () => {
  it("says what came and what is still due when they differ", () => {
    expect(viewOf({}, [free]).claim).toMatchObject({ text: "claimDiffers", sent: "4 USDT", asked: "10 USDT" });
    const partly = { receivedMicros: 3_000_000n } as const;
    expect(viewOf({ invoice: partly }, [free]).claim).toMatchObject({ text: "claimDiffers", asked: "7 USDT" });
  });

  it("does not compare what cannot be compared: the same amount, several coins, another coin, nothing due", () => {
    const usdc = { ...free, cryptocurrency: "USDC" };
    const cases = [
      viewOf({}, [{ ...free, amountUnits: 10_000_000n }]),
      viewOf({}, [free, usdc]),
      viewOf({}, [usdc]),
      viewOf({ status: "PAID", invoice: { receivedMicros: 10_000_000n } }, [free]),
    ];
    expect(cases.map((view) => view.claim?.text)).toEqual(new Array(4).fill("claimToDecide"));
    expect(cases[1]?.claim?.sent).toBe("4 USDT, 4 USDC");
  });

  it("adds up the outputs of a transaction, and omits payments to another order", () => {
    const other = { ...free, invoiceId: makeId("inv", "1".repeat(26)), status: "CONFIRMED" } as const;
    expect(viewOf({}, [free, free, other]).claim).toMatchObject({ text: "claimDiffers", sent: "8 USDT" });
    expect(viewOf({}, [other]).claim).toMatchObject({ text: "claimOtherOrder", sent: "" });
  });

  it("is good news only for a payment that counts", () => {
    expect(viewOf({ payments: [{}] }).claim).toMatchObject({ text: "claimCredited", isGood: true });
    expect(viewOf({ payments: [{ isLate: true }] }).claim).toMatchObject({ text: "claimLate", isGood: false });
    expect(viewOf({ payments: [{ status: "REORGED" }] }).claim).toMatchObject({ text: "claimReorged", isGood: false });
  });

  it("is followed on a page that no longer changes, except a payment that counts", () => {
    const seconds = (given: Given, others: NonNullable<Given["payments"]> = []) => {
      const { pollSeconds, isLive } = viewOf({ status: "CANCELLED", ...given }, others);
      return [pollSeconds, isLive];
    };
    expect([seconds({}, [free]), seconds({ payments: [{}] })]).toEqual([
      [30, false],
      [0, false],
    ]);
  });

  it("has a text for every possible relation, and none for an outcome that the rule never gives", () => {
    const over = { claim: { ...claim, outcome: "UNAVAILABLE" }, claimed: [], nowMs: EXPIRES + 90_000_000 };
    const { invoice, payments } = viewFacts({ status: "EXPIRED" }).file;
    expect(standingOf({ ...over, invoice, payments }).standing).toBe("OVER");
    expect(CLAIM_STANDINGS).toHaveLength(new Set(CLAIM_STANDINGS).size);
    const own = viewOf({}).claim?.text ?? "payTo";
    expect(en[own]).toBe(en.claimNotFound);
  });
});
