import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holdsLink, linkless, subjectNaming } from "../../../../src/platform/mail/names.ts";
import { RUNS } from "../../../support/property-runs.ts";

describe("a name", () => {
  it.each([
    ["https://evil.example", "https[:]//evil[.]example"],
    ["Go to evil.example!", "Go to evil[.]example!"],
    ["www.evil.example", "www[.]evil[.]example"],
    ["xn--80ak.example", "xn--80ak[.]example"],
    ["пример.рф", "пример[.]рф"],
    ["evil\u3002example", "evil[.]example"],
    ["evil.\u202eexample", "evil[.]example"],
    ["a@b", "a[at]b"],
    ["@shop", "[at]shop"],
    ["ftp://x", "ftp[:]//x"],
    ["10.0.0.1/x", "10[.]0[.]0[.]1/x"],
  ])("with an address, %j, is omitted from a subject, and becomes %j in a body", (name, shown) => {
    expect(subjectNaming(name, (given) => `Invitation to ${given}`, "Invitation")).toBe("Invitation");
    expect(linkless(name)).toBe(shown);
  });

  it.each(["Corner Coffee", "Dr. Smith & Co.", "Shop 2.0", "U.S. Books", "24/7", "Caf\u00e9: open", "50 % off..."])(
    "without an address, %j, is unchanged",
    (name) => {
      expect(subjectNaming(name, (given) => `Invitation to ${given}`, "Invitation")).toBe(`Invitation to ${name}`);
      expect(linkless(name)).toBe(name);
    },
  );

  it("never becomes a link in a body", () => {
    const part = fc.constantFrom("evil", "com", ".", "@", "://", "/", " ", "\u3002", "\u202e", "www", "1", "\r\n", "é");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        expect(holdsLink(linkless(parts.join("")))).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});
