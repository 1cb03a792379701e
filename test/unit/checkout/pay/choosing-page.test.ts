// The page on which a payer chooses a coin and a network.
import { describe, expect, it } from "vitest";
import { CRYPTO_CODES } from "../../../../src/chains/registry/networks.ts";
import { coinName } from "../../../../src/checkout/pay/coins.ts";
import { type CheckoutView, checkoutView } from "../../../../src/checkout/pay/view.ts";
import { LANGUAGES, type Language } from "../../../../src/platform/texts/languages.ts";
import { fill, textsOf } from "../../../../src/platform/texts/texts.ts";
import { BTC_BTC, type Given, USDT_TRX, viewFacts } from "../../../support/checkout-facts.ts";
import { page, shownText } from "../../../support/checkout-html.ts";
import { checkoutViewOf, wayOf } from "../../../support/checkout-views.ts";

const ALL_LANGUAGES = Object.keys(LANGUAGES) as Language[];

describe("the page for choosing a payment method", () => {
  it("has one button for each payment method, searchable by coin, network and standard", () => {
    const html = page(checkoutViewOf("choose"));
    const ways = [...html.matchAll(/<button type="submit"[^>]* name="method" value="([^"]*)" data-find="([^"]*)"/g)];
    expect(ways.map(([, key]) => key)).toEqual(["BTC_BTC", "ETH_ETH", "USDT_ETH", "USDT_TRX"]);
    expect(ways[3]?.[2]).toBe("usdt tether usd trx tron trc-20");
    expect(html).toContain('<form method="post" action="/pay/inv_01JAB2C3D4E5F6G7H8J9KMNPQR/methods"');
  });

  it("marks a method on a test network, or shows one notice if all methods are on test networks", () => {
    const { testNetwork } = textsOf("en");
    const [first] = checkoutViewOf("choose").choices;
    const test = {
      code: "LTC",
      name: "Litecoin",
      ways: [{ ...wayOf("LTC_LTC", "Litecoin testnet", null), isTest: true }],
    };
    const said = (changes: Partial<CheckoutView>) =>
      page(checkoutViewOf("choose", changes)).split(testNetwork).length - 1;
    expect(first).toBeDefined();
    expect(said({})).toBe(0);
    expect(said({ choices: first === undefined ? [] : [first, test] })).toBe(1);
    expect(page(checkoutViewOf("choose", { choices: [test] }))).toMatch(
      new RegExp(`value="LTC_LTC".*<small>${testNetwork}`),
    );
    expect(said({ choices: [test], isTest: true })).toBe(1);
  });

  it("has a search field for nine coins, and none for eight", () => {
    const many = Array.from({ length: 9 }, (_, n) => ({
      code: `C${n}`,
      name: `Coin ${n}`,
      ways: [wayOf(`C${n}_N`, "N", null)],
    }));
    expect(page(checkoutViewOf("choose", { choices: many }))).toMatch(/<input type="search"[^>]* hidden/);
    expect(page(checkoutViewOf("choose", { choices: many.slice(1) }))).not.toContain('type="search"');
  });

  it("shows roughly how much of each coin is needed now, only once if the amount is the same on every network", () => {
    const shown = shownText(page(checkoutViewOf("choose")));
    expect(shown.match(/≈ [\d.]+ (BTC|ETH|USDT)/g)).toEqual(["≈ 0.000562 BTC", "≈ 0.0157 ETH", "≈ 57.29 USDT"]);
    const ways = [
      wayOf("USDT_ETH", "Ethereum", "ERC-20", { amount: "57.281437" }),
      wayOf("USDT_TRX", "TRON", "TRC-20", { estimate: "57.29" }),
    ];
    const html = page(checkoutViewOf("choose", { choices: [{ code: "USDT", name: "Tether USD", ways }] }));
    const [, first = "", second = ""] = html.split('<button type="submit" class="way"');
    expect(shownText(html.split("</legend>")[0] ?? "")).not.toContain("57.2");
    // A locked amount is not an estimate.
    expect(shownText(`<${first}`)).toMatch(/^Ethereum ERC-2057.281437 USDT/);
    expect(shownText(`<${second}`)).toMatch(/^TRON TRC-20≈ 57.29 USDT/);
  });

  it("shows no amount if it is unknown or the payer chooses it", () => {
    const given: Given = { active: [], available: [BTC_BTC, USDT_TRX], estimates: { BTC_BTC: "0.0001" } };
    const html = page(checkoutView(viewFacts(given)));
    expect(shownText(html).match(/≈/g)).toHaveLength(1);
    expect(html.match(/class="price"/g)).toHaveLength(1);
    expect(page(checkoutView(viewFacts({ ...given, estimates: {} })))).not.toMatch(/≈|class="price"/);
  });

  it("shows how long each method takes and what the network charges, in every language", () => {
    for (const language of ALL_LANGUAGES) {
      const texts = textsOf(language);
      const shown = shownText(page(checkoutViewOf("choose"), { language }));
      for (const minutes of [20, 3, 1]) expect(shown).toContain(fill(texts.wayMinutes, { minutes }));
      expect(shown.split(texts.feeVaries)).toHaveLength(4);
      expect(shown.split(texts.feeMedium)).toHaveLength(2);
      expect(shown).toContain(texts.warnFees);
    }
    const unknown = [{ code: "CRO", name: "Cronos", ways: [wayOf("CRO_CRO", "Cronos", null, { fee: null })] }];
    expect(shownText(page(checkoutViewOf("choose", { choices: unknown })))).toContain("Cronos CROabout 1 min");
  });

  it("has an icon for every coin, which is decorative and loads nothing", () => {
    for (const code of CRYPTO_CODES) {
      const choices = [{ code, name: coinName(code), ways: [wayOf(`${code}_N`, "N", null)] }];
      const [mark = ""] = /<svg class="coin".*?<\/svg>/.exec(page(checkoutViewOf("choose", { choices }))) ?? [];
      expect([code, mark]).toEqual([
        code,
        expect.stringMatching(/ aria-hidden="true".*<circle .*fill="#[0-9a-f]{6}".*<path d="M/),
      ]);
      expect(mark).not.toMatch(/href|url|<(?!\/?(svg|circle|path)[ >])/);
    }
    const unknown = [{ code: "XYZ", name: "XYZ", ways: [wayOf("XYZ_N", "N", null)] }];
    expect(page(checkoutViewOf("choose", { choices: unknown }))).not.toContain('class="coin"');
  });
});
