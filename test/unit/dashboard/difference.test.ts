import { expect, it } from "vitest";
import { differenceOf } from "../../../dashboard/src/payments/difference.ts";

it.each([
  ["0.01", "0.01425715", { amount: "0.00425715", is: "less" }],
  ["1", "0.999999999999999999", { amount: "0.000000000000000001", is: "more" }],
  ["100000000000000000000.5", "0.5", { amount: "100000000000000000000", is: "more" }],
  ["1.50", "1.5", { amount: "0", is: "equal" }],
])("the payment %s compared with the invoice's %s has the exact difference %o", (paid, asked, difference) => {
  expect(differenceOf(paid, asked)).toEqual(difference);
});

it.each(["", "1e3", "-1", "1.", "0.1234567890123456789", "NaN"])(
  "an invalid amount, such as %j, gives no difference",
  (text) => {
    expect(differenceOf(text, "1")).toBeUndefined();
    expect(differenceOf("1", text)).toBeUndefined();
  },
);
