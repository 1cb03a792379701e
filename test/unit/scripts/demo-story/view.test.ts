import { describe, expect, test } from "vitest";
import type { Ending } from "../../../../scripts/demo-story/story.ts";
import { lineView, type Scene, tableOf, tableView } from "../../../../scripts/demo-story/view.ts";
import { anInvoice, aPayment } from "./invoice.ts";

const ENDING: Ending = { path: ["AWAITING_PAYMENT", "PENDING_CONFIRMATION"], payments: 1, receivedPercent: 100 };
const STORY = { title: "paid exactly", pair: { cryptocurrency: "USDT", network: "ETH" }, usd: 10, ending: ENDING };

const waiting: Scene = { story: STORY, invoice: anInvoice(["AWAITING_PAYMENT"]), note: "" };
const pending: Scene = {
  story: STORY,
  invoice: anInvoice(ENDING.path, { amountReceived: "10.000000", payments: [aPayment("DETECTED", 1)] }),
  note: "one block deep",
};

function written(): { readonly texts: string[]; readonly write: (text: string) => void } {
  const texts: string[] = [];
  return { texts, write: (text) => void texts.push(text) };
}

describe("the view without a terminal", () => {
  test("writes one plain line for each change, and nothing without a change", () => {
    const { texts, write } = written();
    const view = lineView(write);
    view.show([waiting], 0);
    view.show([waiting], 1);
    view.show([pending], 12);
    view.show([pending], 13);
    expect(texts).toEqual([
      "   0 s  paid exactly: AWAITING_PAYMENT (USDT on ETH, 0.00 of 10.00 USD)\n",
      "  12 s  paid exactly: PENDING_CONFIRMATION (USDT on ETH, 10.00 of 10.00 USD): one block deep\n",
    ]);
  });
});

describe("the table", () => {
  test("shows a story's coin, received percentage, confirmations and statuses, and marks a story that has ended", () => {
    expect(tableOf([waiting], 3).join("\n")).toContain("· paid exactly  USDT on ETH    0 % of 10.00 USD\n");
    expect(tableOf([pending], 3).join("\n")).toMatch(
      /✓ paid exactly {2}USDT on ETH {2}100 % of 10\.00 USD {2}1\/3\n {4}AWAITING_PAYMENT → PENDING_CONFIRMATION {2}\(one block deep\)\n/,
    );
  });

  test("is drawn over the previous table, with each line cleared to its end and cut at the terminal's width", () => {
    const { texts, write } = written();
    const view = tableView(write, () => 40);
    view.show([pending], 1);
    view.show([waiting], 2);
    const drawn = texts[0]?.split("\n").slice(0, -1) ?? [];
    expect(drawn.every((line) => line.endsWith("\x1b[K") && line.length - 3 < 40)).toBe(true);
    expect(texts[1]?.startsWith(`\x1b[${drawn.length}A`)).toBe(true);
  });

  test("clears the remaining lines of a longer previous table", () => {
    const { texts, write } = written();
    const view = tableView(write, () => 200);
    view.show([pending, waiting], 1);
    view.show([waiting], 2);
    expect(texts[1]?.endsWith("\x1b[J")).toBe(true);
  });

  test("shows the end of a long list of statuses within 80 columns", () => {
    const usual = ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"] as const;
    const lines = tableOf([{ ...pending, invoice: anInvoice([...usual, ...usual]) }], 1);
    expect(lines).toContain("    … → AWAITING_PAYMENT → PENDING_CONFIRMATION → PAID  (one block deep)");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
  });
});
