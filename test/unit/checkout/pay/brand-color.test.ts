import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BACKGROUNDS, brandColors, contrast, INK } from "../../../../src/checkout/pay/brand-color.ts";
import { RUNS } from "../../../support/property-runs.ts";

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, "0")}`);
const SCHEMES = ["light", "dark"] as const;

describe("contrast", () => {
  it.each([
    ["#000000", "#ffffff", 21],
    ["#ffffff", "#ffffff", 1],
    // A common test: two grays whose contrast on white is just above and just below 4.5.
    ["#767676", "#ffffff", 4.54],
    ["#777777", "#ffffff", 4.48],
    ["#ff0000", "#ffffff", 4],
  ])("of %s and %s is %d, in either order", (one, other, ratio) => {
    expect(contrast(one, other)).toBeCloseTo(ratio, 2);
    expect(contrast(other, one)).toBe(contrast(one, other));
  });
});

describe("the colours of a brand", () => {
  it("have readable text on every brand colour, and readable links and visible edges on every background", () => {
    fc.assert(
      fc.property(color, (brand) => {
        const colors = brandColors(brand);
        expect(colors.brand).toBe(brand);
        expect(contrast(colors.onBrand, brand)).toBeGreaterThanOrEqual(4.5);
        for (const scheme of SCHEMES) {
          for (const background of BACKGROUNDS[scheme]) {
            expect(contrast(colors[scheme].text, background)).toBeGreaterThanOrEqual(4.5);
            expect(contrast(colors[scheme].edge, background)).toBeGreaterThanOrEqual(3);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("are the brand's own if the contrast is sufficient", () => {
    expect(brandColors("#0f766e")).toMatchObject({ onBrand: "#ffffff", light: { text: "#0f766e", edge: "#0f766e" } });
    expect(brandColors("#ffe600")).toMatchObject({ onBrand: "#000000", dark: { text: "#ffe600", edge: "#ffe600" } });
    expect(brandColors("#ffe600").light).toEqual({ text: INK.light, edge: INK.light });
    expect(brandColors("#AABBCC").brand).toBe("#aabbcc");
  });

  it.each([null, "", "red", "#fff", "#12345g", "#123456;}", "#123456\n", "url(//evil.example)"])(
    "are the default colours for %j, which is not a colour, because they are written into a style sheet",
    (given) => {
      expect(brandColors(given)).toEqual(brandColors("#2f5bd8"));
    },
  );

  it("use the same background and text colours as style.css", () => {
    const [light = "", dark = ""] = readFileSync("src/checkout/pay/style.css", "utf8").split("@media");
    expect(SCHEMES).toHaveLength(2);
    for (const [scheme, style] of [["light", light] as const, ["dark", dark] as const]) {
      expect(style).toContain(`--page: ${BACKGROUNDS[scheme][0]};`);
      expect(style).toContain(`--card: ${BACKGROUNDS[scheme][1]};`);
      expect(style).toContain(`--ink: ${INK[scheme]};`);
    }
  });
});
