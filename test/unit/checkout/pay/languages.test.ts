import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLanguage, LANGUAGES, negotiateLanguage } from "../../../../src/platform/texts/languages.ts";
import { RUNS } from "../../../support/property-runs.ts";

describe("the language of a browser", () => {
  it.each([
    [undefined, "en"],
    ["", "en"],
    ["*", "en"],
    ["de", "de"],
    ["DE-at", "de"],
    ["pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7", "pt"],
    ["zh-Hant-TW", "zh"],
    // The first language is not one that we support.
    ["nl-NL,nl;q=0.9,fr;q=0.8", "fr"],
    ["nl", "en"],
    ["en;q=0.1, ja;q=0.2", "ja"],
    ["fr;q=0.5,es;q=0.5", "fr"],
    ["fr;q=0, es;q=0.001", "es"],
    ["fr;q=0", "en"],
    ["  ru ; q=1.000 ", "ru"],
    ["fr;q=2, es;q=0.9", "es"],
    ["fr;level=1, es;q=0.9", "es"],
    ["__proto__, constructor, toString", "en"],
    ["de\u0000, tr", "tr"],
    [`${"xx,".repeat(400)}de`, "en"],
  ])("with the header %j is %s", (header, language) => {
    expect(negotiateLanguage(header)).toBe(language);
  });

  it("is always one of the checkout's languages, for any header", () => {
    const noise = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom("de", "xx", ";", "q=", "0.5", ",", "*", "-")).map((a) => a.join("")),
    );
    fc.assert(
      fc.property(noise, (header) => isLanguage(negotiateLanguage(header))),
      { numRuns: RUNS },
    );
  });

  it("is the language with the greatest weight, in any order", () => {
    const language = fc.constantFrom(...Object.keys(LANGUAGES));
    const listed = fc.uniqueArray(fc.record({ language, weight: fc.integer({ min: 1, max: 1000 }) }), {
      minLength: 1,
      selector: ({ weight }) => weight,
    });
    fc.assert(
      fc.property(listed, (wanted) => {
        const header = wanted.map(({ language, weight }) => `${language};q=${(weight / 1000).toFixed(3)}`).join(", ");
        const best = wanted.reduce((a, b) => (b.weight > a.weight ? b : a));
        expect(negotiateLanguage(header)).toBe(best.language);
      }),
      { numRuns: RUNS },
    );
  });
});

it("the checkout has ten languages, English first, one of them written from right to left", () => {
  expect(Object.keys(LANGUAGES)).toEqual(["en", "es", "pt", "fr", "de", "tr", "ru", "ar", "zh", "ja"]);
  const fromRight = Object.entries(LANGUAGES).filter(([, { direction }]) => direction === "rtl");
  expect(fromRight.map(([name]) => name)).toEqual(["ar"]);
  for (const { locale } of Object.values(LANGUAGES)) {
    expect(Intl.NumberFormat.supportedLocalesOf(locale)).toHaveLength(1);
    // Amounts are copied into wallets, which accept only ASCII digits.
    expect(new Intl.NumberFormat(locale).format(1234567890)).toMatch(/^[\d.,\s\u00a0\u202f]+$/);
  }
});
