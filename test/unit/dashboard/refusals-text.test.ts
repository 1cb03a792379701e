// The text about selected invoices that could not be cancelled.
import { expect, it } from "vitest";
import { ApiError } from "../../../dashboard/src/api/errors.ts";
import { refusalsText } from "../../../dashboard/src/invoices/refusals-text.ts";

const refusal = (name: string) => ({ name, error: new Error("It is paid.") });

it("the text about refused cancellations names each invoice, with the reason", () => {
  expect(refusalsText([])).toBeUndefined();
  expect(refusalsText([refusal("A\u202e"), refusal("B")])).toBe(
    "“A” was not cancelled: It is paid. “B” was not cancelled: It is paid.",
  );
});

it("the text about refused cancellations states only the number of those after the third", () => {
  const of = (names: string) => refusalsText([...names].map(refusal));
  expect(of("ABCD")).toMatch(/“C” was not cancelled: It is paid\. 1 more was not cancelled\.$/);
  expect(of("ABCDE")).toMatch(/ 2 more were not cancelled\.$/);
});

it("the text about a refused cancellation shows the id by which the request can be found in the logs", () => {
  const error = new ApiError(409, { code: "X", message: "Not now.", requestId: "req_1" });
  expect(refusalsText([{ name: "A", error }])).toContain("(req_1)");
});
