import { describe, expect, it } from "vitest";
import { idOf, wholeRecords } from "../../../dashboard/src/reports/records.ts";
import { monthsUntil, rangeOf, reportsSearch } from "../../../dashboard/src/reports/search.ts";

const ID = "pay_01KAH7Y3V5M2T8Q4W6E0R9S1XZ";

describe("the complete records in a part of an export", () => {
  it.each([
    ["none", "csv", "id,na", { count: 0, end: 0, last: "" }],
    ["two before an incomplete line", "csv", "a,b\r\nc,d\r\ne", { count: 2, end: 10, last: "c,d\r\n" }],
    [
      "one with line breaks between quotes",
      "csv",
      'a,"x\r\ny"\r\nb,"z\r\n',
      { count: 1, end: 10, last: 'a,"x\r\ny"\r\n' },
    ],
    [
      "one with quotes in its text",
      "csv",
      'a,"say ""hi\r\n"""\r\nb',
      { count: 1, end: 18, last: 'a,"say ""hi\r\n"""\r\n' },
    ],
    [
      "lines of JSON, whatever their quotes",
      "jsonl",
      '{"a":"\\""}\n{"b"',
      { count: 1, end: 11, last: '{"a":"\\""}\n' },
    ],
  ] as const)("are %s", (_, format, text, whole) => {
    expect(wholeRecords(format, text)).toEqual(whole);
  });
});

describe("the id of a record", () => {
  it.each([
    ["of CSV", `${ID},2026-11-01T00:00:00.000Z,inv_01KAH7Y3V5M2T8Q4W6E0R9S1XZ,x\r\n`, ID],
    ["of a statement", `PAYMENT,2026-11-01,2026-11-01T00:00:00.000Z,${ID},CONFIRMED\r\n`, ID],
    ["of JSON", `{"id":"${ID}","invoiceId":null}\n`, ID],
    ["of a header row is undefined", "\uFEFFid,receivedAt\r\n", undefined],
    ["of a sum is undefined", "COIN_TOTAL,,,,,,,,ETH,USDT,1,USD,1.000000,,,1,0\r\n", undefined],
  ])("%s", (_, record, id) => {
    expect(idOf(record)).toBe(id);
  });
});

describe("the days on the reports page", () => {
  it("are this month's, in the reader's time zone, unless the URL specifies others", () => {
    const nowMs = Date.UTC(2026, 10, 30, 23, 30);
    expect(rangeOf({}, "UTC", nowMs)).toEqual({ from: "2026-11-01", to: "2026-11-30", by: "day" });
    expect(rangeOf({}, "Europe/Berlin", nowMs)).toEqual({ from: "2026-12-01", to: "2026-12-01", by: "day" });
    const search = reportsSearch({ from: "2026-01-01", to: "2026-03-31", by: "week", other: 1 });
    expect(rangeOf(search, "UTC", nowMs)).toEqual({ from: "2026-01-01", to: "2026-03-31", by: "week" });
    expect(reportsSearch({ from: "yesterday", to: 5, by: "hour" })).toEqual({});
  });

  it("can be those of a previous month, including months of the previous year", () => {
    expect(monthsUntil("2026-02-28", 4)).toEqual(["2026-02", "2026-01", "2025-12", "2025-11"]);
  });
});
