import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeMacText, codeOf, pendingIdentityIn } from "../../../../src/accounts/email-codes/email-code.ts";
import { RUNS } from "../../../support/property-runs.ts";

describe("codeOf", () => {
  test.each([
    [0, "00000000"],
    [1, "00000001"],
    [99_999_999, "99999999"],
    [100_000_000, "00000000"],
    [4_199_999_999, "99999999"],
  ])("turns the random number %i into %s", (random, code) => {
    expect(codeOf(random)).toBe(code);
  });

  test.each([4_200_000_000, 4_294_967_295])(
    "rejects the random number %i, which would make some codes more likely",
    (random) => {
      expect(codeOf(random)).toBeUndefined();
    },
  );

  test("always returns 8 digits", () => {
    const draw = fc.integer({ min: 0, max: 4_199_999_999 });
    fc.assert(
      fc.property(draw, (random) => {
        expect(codeOf(random)).toMatch(/^\d{8}$/);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("codeMacText", () => {
  test("differs whenever any part differs, even if the concatenated parts are the same", () => {
    const part = fc.string({ maxLength: 6 });
    const purpose = fc.constantFrom("SIGN_IN" as const, "SECOND_FACTOR" as const, "STEP_UP" as const);
    const place = fc.record({ id: part, purpose, emailKey: part, boundTo: part, code: part });
    fc.assert(
      fc.property(place, place, (a, b) => {
        const isSame = JSON.stringify(Object.values(a)) === JSON.stringify(Object.values(b));
        expect(codeMacText(a) === codeMacText(b)).toBe(isSame);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("pendingIdentityIn", () => {
  test("reads a stored identity or null, and throws for anything else", () => {
    const identity = { provider: "github", subject: "1", email: null };
    expect(pendingIdentityIn(JSON.stringify(identity))).toEqual(identity);
    expect(pendingIdentityIn(null)).toBeUndefined();
    for (const bad of ["{}", "[]", '{"provider":"gitlab","subject":"1","email":null}'])
      expect(() => pendingIdentityIn(bad)).toThrow();
  });
});
