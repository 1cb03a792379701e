// What a payer's phone loads before the payer can pay: the page with its style, and its one script, compressed as the edge compresses them.
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { checkoutAssets } from "../../../../scripts/checkout-assets.ts";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { checkoutPage } from "../../../../src/checkout/pay/checkout-page.tsx";
import { type CheckoutView, checkoutView } from "../../../../src/checkout/pay/view.ts";
import { LANGUAGES, type Language } from "../../../../src/platform/texts/languages.ts";
import { viewFacts } from "../../../support/checkout-facts.ts";
import { chromeOf } from "../../../support/checkout-views.ts";

/** The limit for the first view, not counting the shop's logo and the product's picture. */
const MOST_BYTES = 15 * 1_024;

const { script } = await checkoutAssets();
const SCRIPT_BYTES = gzipSync(script).length;
const PAIRS = NETWORKS.filter(({ isTest }) => !isTest).flatMap(({ name, assets }) =>
  assets.map(({ code }) => ({ cryptocurrency: code, network: name })),
);
const invoice = {
  name: "Espresso beans, 1 kg, whole, with a long name",
  description: "Whole beans, roasted this week and sent tomorrow, with a note on how to grind them. ".repeat(6),
};
const brand = { name: "Harbour Coffee", color: "#0f766e", logo: "a".repeat(64), supportUrl: "https://a.example" };
const settings = { brand: JSON.stringify(brand) };

/** The bytes of the first view in the language in which it is largest, compressed. */
function heaviest(view: CheckoutView): number {
  const pages = Object.keys(LANGUAGES).map((language) => {
    const html = String(checkoutPage({ chrome: chromeOf(language as Language), view, note: null }));
    // A page without its style would be small enough, but broken.
    expect(html).toContain("prefers-color-scheme");
    return gzipSync(html).length;
  });
  return Math.max(...pages) + SCRIPT_BYTES;
}

describe("a first view", () => {
  it("for choosing a method has at most 15 KiB with every coin on every network", () => {
    const estimates = Object.fromEntries(
      PAIRS.map(({ cryptocurrency, network }) => [`${cryptocurrency}_${network}`, "57.2814"]),
    );
    const view = checkoutView(viewFacts({ active: [], available: PAIRS, estimates, invoice, settings }));
    expect(view.choices.flatMap(({ ways }) => ways).length).toBeGreaterThan(25);
    expect(heaviest(view)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it.each(PAIRS.map((pair) => [pair.cryptocurrency, pair.network] as const))(
    "for paying %s on %s has at most 15 KiB, with both QR codes",
    (cryptocurrency, network) => {
      const view = checkoutView(viewFacts({ active: [{ cryptocurrency, network }], invoice, settings }));
      expect(view.stage).toBe("pay");
      expect(heaviest(view)).toBeLessThanOrEqual(MOST_BYTES);
    },
  );

  it("for paying a remainder, with three payments shown, has at most 15 KiB", () => {
    const payments = [1, 2, 3].map((n) => ({ txHash: `0x${`${n}f`.repeat(32)}` }));
    const view = checkoutView(viewFacts({ invoice: { ...invoice, receivedMicros: 4_000_000n }, payments, settings }));
    expect(view.stage).toBe("partial");
    expect(heaviest(view)).toBeLessThanOrEqual(MOST_BYTES);
  });
});
