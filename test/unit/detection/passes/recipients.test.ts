import { describe, expect, it } from "vitest";
import { RecipientBook } from "../../../../src/detection/passes/recipients.ts";

const START = 1_800_000_000_000;
const row = (address: string, cryptocurrency = "USDT") => ({ address, cryptocurrency });

describe("the list of recipients", () => {
  it("contains each address once, in order of arrival, and the watched assets", () => {
    const book = new RecipientBook(START);
    book.add([row("a"), row("b", "ETH"), row("a", "DAI")]);
    book.add([row("c"), row("b")]);
    expect([...book.addresses]).toEqual(["a", "b", "c"]);
    expect([...book.codes]).toEqual(["USDT", "ETH", "DAI"]);
  });

  it("is refreshed with changes from two minutes before the last refresh, and is read completely after an hour", () => {
    const book = new RecipientBook(START);
    expect(book.refreshFromMs).toBe(START - 120_000);
    book.noteRefresh(START + 3_000_000);
    expect(book.refreshFromMs).toBe(START + 3_000_000 - 120_000);
    expect([book.isOld(START + 3_600_000), book.isOld(START + 3_600_001)]).toEqual([false, true]);
  });
});
