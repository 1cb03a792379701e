// The location of a request, as the platform's edge reports it. It may be missing or malformed, so the stored text is bounded.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { geoLocationOf } from "../../../src/lib/geo-location.ts";
import { RUNS } from "../../support/property-runs.ts";

describe("a location", () => {
  it.each([
    ["a country and a city", { country: "DE", city: "Berlin" }, { country: "DE", city: "Berlin" }],
    ["a country alone", { country: "DE" }, { country: "DE", city: null }],
    [
      "more fields than are stored",
      { country: "BR", city: "São Paulo", postalCode: "01000", latitude: "-23.5" },
      { country: "BR", city: "São Paulo" },
    ],
    [
      "Kosovo, for which ISO 3166 has no code",
      { country: "XK", city: "Pristina" },
      { country: "XK", city: "Pristina" },
    ],
    ["a city of 100 wide characters", { country: "TH", city: "🏦".repeat(100) }, thai("🏦".repeat(100))],
    ["a city of 101 characters", { country: "TH", city: "x".repeat(101) }, thai(null)],
    ["an empty city", { country: "TH", city: "" }, thai(null)],
    ["a city with a line break", { country: "TH", city: "Bang\nkok" }, thai(null)],
    ["a city with a C1 control", { country: "TH", city: "Bang\u0085kok" }, thai(null)],
    ["a city with a line separator", { country: "TH", city: "Bang\u2028kok" }, thai(null)],
    ["a city with a bidirectional override", { country: "TH", city: "Bang\u202ekok" }, thai(null)],
    ["a city with half a character", { country: "TH", city: "Bang\ud83ckok" }, thai(null)],
    ["a city that is not a string", { country: "TH", city: 7 }, thai(null)],
  ])("is read from %s", (_, cf, location) => {
    expect(geoLocationOf(cf)).toEqual(location);
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a string", "DE"],
    ["a city without a country", { city: "Berlin" }],
    ["the Tor network", { country: "T1", city: "Berlin" }],
    ["a country that the edge does not know", { country: "XX" }],
    ["lower-case letters", { country: "de" }],
    ["three letters", { country: "DEU" }],
    ["a line break", { country: "DE\n" }],
    ["no letters", { country: "" }],
    ["a number", { country: 49 }],
  ])("is unknown for %s", (_, cf) => {
    expect(geoLocationOf(cf)).toBeUndefined();
  });

  it("consists of two capital letters and a short plain text, for any report of the edge", () => {
    const text = fc.string({ unit: "binary", maxLength: 120 });
    const country = fc.oneof(fc.stringMatching(/^[A-Z]{2}$/), text, fc.anything());
    fc.assert(
      fc.property(country, fc.oneof(text, fc.anything()), (said, city) => {
        const location = geoLocationOf({ country: said, city });
        if (location === undefined) return;
        expect(Object.keys(location)).toEqual(["country", "city"]);
        expect(location.country).toBe(said);
        expect(location.country).toMatch(/^[A-Z]{2}$/);
        if (location.city === null) return;
        expect(location.city).toBe(city);
        expect(location.city).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect([...location.city].length).toBeLessThanOrEqual(100);
      }),
      { numRuns: RUNS },
    );
  });
});

function thai(city: string | null) {
  return { country: "TH", city };
}
