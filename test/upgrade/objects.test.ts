// For some minutes after a deploy, the new Worker calls objects that still run the previous release, and vice versa.
import { describe, expect, it } from "vitest";
import { ADDED_METHODS } from "../support/added-methods.ts";
import { methodsOfObjects, PREVIOUS_RELEASE, whyMissing } from "./previous-release.ts";

describe("the objects of this release", () => {
  it("have every method of the previous release, and all methods that were added are listed", ({ skip }) => {
    const missing = whyMissing(PREVIOUS_RELEASE);
    skip(missing !== undefined, missing);
    const before = methodsOfObjects(PREVIOUS_RELEASE);
    const now = methodsOfObjects(undefined);
    expect(before).toContain("MERCHANT_OBJECT.reserve");
    expect(before.filter((method) => !now.includes(method))).toEqual([]);
    expect(now.filter((method) => !before.includes(method))).toEqual([...ADDED_METHODS]);
  });
});
