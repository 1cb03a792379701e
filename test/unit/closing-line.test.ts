import { expect, it } from "vitest";
import { againLine } from "../support/closing-line.ts";

const FAILED = {
  project: "unit",
  file: "test/unit/a.test.ts",
  test: "is (at most) 5 $",
  error: new Error("no"),
};

it("a failed test is listed with the command that runs it again", () => {
  expect(againLine(FAILED)).toMatch(
    /^ {2}Again: \S.*vitest run --project unit test\/unit\/a\.test\.ts -t 'is \\\(at most\\\) 5 \\\$'$/,
  );
  expect(againLine({ ...FAILED, test: "the payer's page" })).toContain(`-t 'the payer'\\''s page'`);
});

it("a failed property is run again with its seed", () => {
  const error = new Error(
    'Property failed after 3 tests\n{ seed: -12, path: "2:0:1", endOnFailure: true }\nCounterexample: [5]',
  );
  expect(againLine({ ...FAILED, error })).toMatch(/^ {2}Again: PROPERTY_SEED=-12 \S/);
});
