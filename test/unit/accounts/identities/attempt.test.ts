import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isReturnPath, isToken, parseAttempt, proofPath } from "../../../../src/accounts/identities/attempt.ts";
import { RUNS } from "../../../support/property-runs.ts";

const ORIGIN = "https://pay.example";

describe("the path a browser returns to after signing in", () => {
  it.each(["/", "/sign-in", "/a/b?c=d&e=f#g", "/invitations?next=%2F%2Fevil.example", "/é/ü", "/.", "/@evil.example"])(
    "%s is accepted because it is on our origin",
    (path) => {
      expect(isReturnPath(path)).toBe(true);
    },
  );

  it.each([
    ["an empty text", ""],
    ["a text without a leading slash", "sign-in"],
    ["another origin", "https://evil.example/"],
    ["another origin without its scheme", "//evil.example"],
    ["another origin after a backslash", "/\\evil.example"],
    ["a backslash alone", "\\\\evil.example"],
    ["a double slash further on", "/a/..//evil.example"],
    ["a tab that parsers drop", "/\t/evil.example"],
    ["a line end that parsers drop", "/\n/evil.example"],
    ["an injected header", "/a\r\nset-cookie: session=x"],
    ["NUL", "/a\0"],
    ["a C1 control", "/a\u0085b"],
    ["a line separator", "/a\u2028b"],
    ["a lone surrogate", "/\ud800"],
    ["a scheme", "javascript:alert(1)"],
    ["a leading space", " /a"],
    ["more than 6,000 characters", `/${"a".repeat(6_000)}`],
  ])("%s is refused", (_, path) => {
    expect(isReturnPath(path)).toBe(false);
  });

  it("no accepted text leads to another origin", () => {
    const nasty = fc.string({ unit: fc.constantFrom("/", "\\", ".", ":", "@", "?", "#", "\t", "\n", "e", "%2f", " ") });
    fc.assert(
      fc.property(nasty, (text) => {
        for (const path of [text, `/${text}`]) {
          if (!isReturnPath(path)) continue;
          expect(new URL(path, ORIGIN).origin).toBe(ORIGIN);
          expect(new URL(proofPath(path, "a@example.com"), ORIGIN).origin).toBe(ORIGIN);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the return path with an email address to prove", () => {
  it.each([
    ["/sign-in", "/sign-in#proof=a%2Bb%40example.com"],
    ["/sign-in?x=1#old", "/sign-in?x=1#proof=a%2Bb%40example.com"],
  ])("for %s is %s", (returnTo, path) => {
    expect(proofPath(returnTo, "a+b@example.com")).toBe(path);
  });
});

describe("the form of a token", () => {
  it.each([
    ["a".repeat(43), true],
    [`${"A-_9".repeat(10)}abc`, true],
    ["a".repeat(42), false],
    ["a".repeat(44), false],
    [`${"a".repeat(42)}=`, false],
    [`${"a".repeat(43)}\n`, false],
    ["", false],
    [undefined, false],
  ])("%j is valid: %s", (text, isOne) => {
    expect(isToken(text)).toBe(isOne);
  });
});

describe("a stored attempt", () => {
  const attempt = {
    provider: "google",
    purpose: "SIGN_IN",
    nonce: "n",
    codeVerifier: "v",
    browserHash: "h",
    returnTo: "/",
  } as const;

  it("is read back unchanged", () => {
    expect(parseAttempt(JSON.stringify(attempt))).toEqual(attempt);
  });

  it.each([{ ...attempt, purpose: "BOTH" }, { ...attempt, provider: "gitlab" }, { ...attempt, more: 1 }, {}])(
    "cannot be read if it is not valid",
    (other) => {
      expect(() => parseAttempt(JSON.stringify(other))).toThrow();
    },
  );
});
