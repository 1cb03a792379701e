// The sentence about a claimed transaction. It depends on what the transaction means for an invoice of 10 USDT on Ethereum.
import { describe, expect, it } from "vitest";
import { checkoutView } from "../../../../src/checkout/pay/view.ts";
import { CLAIM_STANDINGS, standingOf } from "../../../../src/detection/claims/standing.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { MINUTE_MS } from "../../../../src/lib/time.ts";
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
  it("states what was received and what is still due when they differ", () => {
    expect(viewOf({}, [free]).claim).toMatchObject({ text: "claimDiffers", sent: "4 USDT", asked: "10 USDT" });
    const partly = { receivedMicros: 3_000_000n } as const;
    expect(viewOf({ invoice: partly }, [free]).claim).toMatchObject({ text: "claimDiffers", asked: "7 USDT" });
  });

  it("does not compare the amounts if they are equal, if other coins were sent, or if nothing is due", () => {
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

  it("adds up the outputs of a transaction, without those that pay another invoice", () => {
    const other = { ...free, invoiceId: makeId("inv", "1".repeat(26)), status: "CONFIRMED" } as const;
    expect(viewOf({}, [free, free, other]).claim).toMatchObject({ text: "claimDiffers", sent: "8 USDT" });
    expect(viewOf({}, [other]).claim).toMatchObject({ text: "claimOtherOrder", sent: "" });
  });

  it("is a success message only for a payment that counts", () => {
    expect(viewOf({ payments: [{}] }).claim).toMatchObject({ text: "claimCredited", isGood: true });
    expect(viewOf({ payments: [{ isLate: true }] }).claim).toMatchObject({ text: "claimLate", isGood: false });
    expect(viewOf({ payments: [{ status: "REORGED" }] }).claim).toMatchObject({ text: "claimReorged", isGood: false });
  });

  it("is updated even if the rest of the page no longer changes, unless the payment already counts", () => {
    const seconds = (given: Given, others: NonNullable<Given["payments"]> = []) => {
      const { pollSeconds, isLive } = viewOf({ status: "CANCELLED", ...given }, others);
      return [pollSeconds, isLive];
    };
    expect([seconds({}, [free]), seconds({ payments: [{}] })]).toEqual([
      [30, false],
      [0, false],
    ]);
  });

  it("says what is likely wrong after half an hour, if the network was read after the claim", () => {
    const textOf = (
      minutes: number,
      passedMinutes: number | undefined,
      others: NonNullable<Given["payments"]> = [],
    ) => {
      const { file, ...facts } = viewFacts({ tipHeight: 1, nowMs: NOW + minutes * MINUTE_MS });
      const passed = passedMinutes === undefined ? [] : [{ passedMs: NOW + passedMinutes * MINUTE_MS }];
      const cursors = passed.flatMap((each) => file.cursors.map((cursor) => ({ ...cursor, ...each })));
      const claimed = viewFacts({ payments: others }).file.payments;
      const made = { ...claim, outcome: "NOT_FOUND", createdAtMs: NOW };
      return checkoutView({ ...facts, file: { ...file, cursors }, claim: made, claimed }).claim?.text;
    };
    expect(textOf(29, 29)).toBe("claimNotFound");
    expect(textOf(30, 1)).toBe("claimStillNotFound");
    // Nobody has looked at the network since.
    expect([textOf(30, -1), textOf(30, undefined)]).toEqual(["claimNotFound", "claimNotFound"]);
    expect(textOf(30, 1, [free])).toBe("claimDiffers");
  });

  it("has a text for every possible relation, and none for an outcome that never occurs", () => {
    const over = { claim: { ...claim, outcome: "UNAVAILABLE" }, claimed: [], nowMs: EXPIRES + 90_000_000 };
    const { invoice, payments } = viewFacts({ status: "EXPIRED" }).file;
    expect(standingOf({ ...over, invoice, payments }).standing).toBe("OVER");
    expect(CLAIM_STANDINGS).toHaveLength(new Set(CLAIM_STANDINGS).size);
    const own = viewOf({}).claim?.text ?? "payTo";
    expect(en[own]).toBe(en.claimNotFound);
  });
});
