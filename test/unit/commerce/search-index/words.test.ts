import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { customerText, folded, invoiceText, wordsIn, wordsOf } from "../../../../src/commerce/search-index/words.ts";

/** Half of the texts have any characters, the other half have characters that need special handling. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(..."aAbBéÉßıİςσΣ0019 -/#@.ﬀＡæŁ\u0301\u0307青いガト\u0000"), maxLength: 60 }),
);

describe("the words of a text", () => {
  it.each([
    ["Blue winter jacket, size M", ["blue", "winter", "jacket", "size", "m"]],
    ["ORD-2026_00123/A", ["ord", "2026", "00123", "a"]],
    ["CAFÉ Cafe\u0301 ｃａｆé", ["cafe"]],
    ["STRASSE Straße", ["strasse"]],
    ["DİYARBAKIR diyarbakır", ["diyarbakir"]],
    ["Ærø Łódź Đorđe", ["aero", "lodz", "dorde"]],
    ["ΣΟΦΟΣ σοφός σοφόσ", ["σοφοσ"]],
    ["ﬀ ① ²", ["ff", "1", "2"]],
    ["青いガラス", ["青い", "いカ", "カラ", "ラス", "ス"]],
    ["iPhone15ケース", ["iphone15", "ケー", "ース", "ス"]],
    ["%_*'\"\\ \u0000 💶 \ud800", []],
    ["", []],
  ])("of %j are %j", (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it("are the same in upper and lower case, in every normal form and after folding the text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const words = wordsOf(text);
        expect(wordsOf(folded(text))).toEqual(words);
        for (const form of ["NFC", "NFD", "NFKC", "NFKD"] as const)
          expect(wordsOf(text.normalize(form))).toEqual(words);
        expect(wordsOf(text.normalize("NFKC").toUpperCase())).toEqual(words);
      }),
    );
  });

  it("are at most 16, each of at most 32 letters, and contain no field marker", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: "grapheme", minLength: 200, maxLength: 400 })), (text) => {
        const words = wordsOf(text);
        expect(words.length).toBeLessThanOrEqual(16);
        for (const word of words) expect([...word].length).toBeLessThanOrEqual(32);
        expect(words.join("")).not.toMatch(/[ #]/);
        expect(new Set(words).size).toBe(words.length);
      }),
    );
  });
});

describe("the search index text", () => {
  it("has the words of both fields, each after its field's marker, and numbers without their prefixes", () => {
    const text = invoiceText({ name: "Order 0042", externalId: "INV00123" });
    expect(text).toBe(" order 0042 42#inv00123#00123#123");
    expect(wordsIn(text)).toEqual(["order", "0042", "42", "inv00123", "00123", "123"]);
    expect(invoiceText({ name: "!", externalId: null })).toBe("");
    expect(wordsIn("")).toEqual([]);
    expect(customerText({ name: null, email: "Ann@Shop.example" })).toBe("#ann#shop#example");
    expect(customerText({ name: "Ann", email: null })).toBe(" ann");
    expect(wordsIn(customerText({ name: "Ann", email: "ann@ann.example" }))).toEqual(["ann", "example"]);
  });

  it("contains every word of a field, so that a stored text can be found by searching for it", () => {
    fc.assert(
      fc.property(anyText, anyText, (name, externalId) => {
        const text = invoiceText({ name, externalId });
        for (const word of wordsOf(name)) expect(text).toContain(` ${word}`);
        for (const word of wordsOf(externalId)) expect(text).toContain(`#${word}`);
      }),
    );
  });
});
