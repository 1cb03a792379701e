// What is said about invoices that could not be cancelled with others.
import { expect, it } from "vitest";
import { ApiError } from "../../../dashboard/src/api/errors.ts";
import { refusalsText } from "../../../dashboard/src/invoices/refusals-text.ts";

const refusal = (name: string) => ({ name, error: new Error("It is paid.") });

it("names the invoice of each refusal, with its reason", () => {
  expect(refusalsText([])).toBeUndefined();
  expect(refusalsText([refusal("A\u202e"), refusal("B")])).toBe(
    "“A” was not cancelled: It is paid. “B” was not cancelled: It is paid.",
  );
});

it("counts those after the third", () => {
  const of = (names: string) => refusalsText([...names].map(refusal));
  expect(of("ABCD")).toMatch(/“C” was not cancelled: It is paid\. 1 more was not cancelled\.$/);
  expect(of("ABCDE")).toMatch(/ 2 more were not cancelled\.$/);
});

it("shows the request's id, by which it can be found in the logs", () => {
  const error = new ApiError(409, { code: "X", message: "Not now.", requestId: "req_1" });
  expect(refusalsText([{ name: "A", error }])).toContain("(req_1)");
});
