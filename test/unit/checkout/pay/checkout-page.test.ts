import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkoutMain, checkoutPage } from "../../../../src/checkout/pay/checkout-page.tsx";
import { modalStatus } from "../../../../src/checkout/pay/modal-status.ts";
import { NOTES, type Note } from "../../../../src/checkout/pay/note.ts";
import { problemPage } from "../../../../src/checkout/pay/problem-page.tsx";
import type { CheckoutView } from "../../../../src/checkout/pay/view.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { LANGUAGES, type Language } from "../../../../src/platform/texts/languages.ts";
import { fill, textsOf } from "../../../../src/platform/texts/texts.ts";
import { escaped, page, shownText, texts } from "../../../support/checkout-html.ts";
import { checkoutViewOf, chromeOf, EVM_METHOD, METHOD, PAYMENT, STAGES } from "../../../support/checkout-views.ts";
import { RUNS } from "../../../support/property-runs.ts";

const CLAIM_ID = makeId("clm", "0".repeat(26));
const CLAIM_TEXTS = ["claimCredited", "claimLate", "claimDiffers", "claimToDecide", "claimNotFound"] as const;
const ALL_LANGUAGES = Object.keys(LANGUAGES) as Language[];

describe("a page of the checkout", () => {
  const cases = STAGES.flatMap((stage) => ALL_LANGUAGES.map((language) => ({ stage, language })));

  it.each(cases)(
    "at the stage $stage in $language has one heading, no unfilled placeholder, and no duplicate id or part",
    (of) => {
      const { stage, language } = of;
      const variants = [
        checkoutViewOf(stage),
        checkoutViewOf(stage, { method: EVM_METHOD, acceptsLate: true, isTest: true, canReturn: false }),
        checkoutViewOf(stage, { method: null, description: null, imageUrl: null, payments: [], claimNetworks: [] }),
        checkoutViewOf(stage, {
          method: { ...METHOD, amount: null, requiredConfirmations: 1 },
          total: { micros: 0n, currency: "USD" },
          shop: { name: "S", color: null, logoUrl: null, supportUrl: null },
          payments: [{ ...PAYMENT, state: "gone", isLate: true }],
        }),
      ];
      for (const view of variants) {
        const html = page(view, { language });
        expect(texts(html)).not.toMatch(/\{\w+\}|undefined|\[object/);
        expect(html).toContain(`<html lang="${language}" dir="${LANGUAGES[language].direction}">`);
        expect(html.match(/<h1[ >]/g)).toHaveLength(1);
        for (const name of ["id", "data-part"]) {
          const values = [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value]) => value);
          expect(values).toEqual([...new Set(values)]);
        }
        expect(html).toMatch(/<h1 tabindex="-1">[^<]/);
      }
    },
  );

  it.each(NOTES)("shows the result of a form: %s", (note) => {
    for (const language of ALL_LANGUAGES) {
      const html = page(checkoutViewOf("pay"), { language, note });
      const [, said = ""] = /<p class="note[^"]*">([^<]+)<\/p>/.exec(html) ?? [];
      expect(said.length).toBeGreaterThan(4);
      expect(texts(html)).not.toMatch(/\{\w+\}/);
      expect(html.includes('<details class="claim" open')).toBe(note.startsWith("claim-"));
    }
  });

  it.each([
    ["expired", [], undefined],
    ["expiredLate", [{ ...PAYMENT, isLate: true }], undefined],
    ["expiredUndecided", [{ ...PAYMENT, state: "undecided" as const }], undefined],
    ["expiredUndecided", [], "claimToDecide" as const],
    ["expiredUndecided", [], "claimDiffers" as const],
  ] as const)("tells the payer of an expired invoice what was received: %s", (text, payments, claimed) => {
    const claim = {
      id: CLAIM_ID,
      text: claimed ?? ("claimNotFound" as const),
      isGood: false,
      sent: "40 USDC",
      asked: "",
    };
    const about = claimed === undefined ? {} : { claim };
    const html = page(checkoutViewOf("expired", { payments, ...about }));
    const [, said = ""] = /data-part="heading">.*?<p>(.*?)<\/p>/s.exec(html) ?? [];
    expect(shownText(said)).toBe(fill(textsOf("en")[text], { shop: "Flowers" }));
  });

  it("explains how a claimed transaction relates to the invoice, also to screen readers, and keeps the claim in its links", () => {
    for (const language of ALL_LANGUAGES)
      for (const text of CLAIM_TEXTS) {
        const claim = { id: CLAIM_ID, text, isGood: text === "claimCredited", sent: "40 USDC", asked: "80 USDC" };
        const html = page(checkoutViewOf("pay", { claim }), { language });
        const [, said = ""] = /<p class="note[^"]*" data-part="claim">(.*?)<\/p>/.exec(html) ?? [];
        const values = { shop: "Flowers", sent: "40 USDC", asked: "80 USDC" };
        const isOpen = text === "claimDiffers" || text === "claimToDecide";
        const { [text]: sentence, claimSentIt } = textsOf(language);
        expect(shownText(said)).toBe(fill(isOpen ? `${sentence} ${claimSentIt}` : sentence, values));
        expect(html).toContain(`data-claim-text="${shownText(said)}"`);
        expect(html.includes('class="note good"')).toBe(text === "claimCredited");
        expect(html).toContain('<details class="claim" open');
        expect(html).toContain(`<input type="hidden" name="claim" value="${CLAIM_ID}"`);
        expect(html).toMatch(new RegExp(`data-state-url="[^"]*claim=${CLAIM_ID}`));
        expect(html).toMatch(new RegExp(`<noscript><p><a href="[^"]*claim=${CLAIM_ID}`));
      }
  });

  it("polls without a socket until a claim is credited, even if the page otherwise no longer changes", () => {
    const claim = { id: CLAIM_ID, text: "claimNotFound", isGood: false, sent: "", asked: "" } as const;
    const html = page(checkoutViewOf("cancelled", { claim, pollSeconds: 30 }));
    expect(html).not.toContain("data-live-url");
    expect(page(checkoutViewOf("pay"))).toContain("data-live-url");
    expect(html).toContain('http-equiv="refresh" content="30"');
  });

  it("explains a problem in the reader's language", () => {
    for (const language of ALL_LANGUAGES) {
      const html = String(problemPage(chromeOf(language), { code: "INVOICE_NOT_FOUND" }));
      expect(shownText(html)).toContain(textsOf(language).problemNotFound);
    }
  });

  it("links from a problem back to the invoice if it exists, in the chosen language", () => {
    const chrome = chromeOf("de");
    const refused = (path: string, code: "INVOICE_NOT_FOUND" | "CONTENTION") =>
      String(problemPage({ ...chrome, path }, { code }));
    const link = `href="${chrome.path}?lang=de"`;
    expect(refused(`${chrome.path}/return`, "CONTENTION")).toContain(link);
    expect(refused(`${chrome.path}/return`, "INVOICE_NOT_FOUND")).not.toContain(link);
    expect(refused("/buy/prd_1", "CONTENTION")).not.toContain(textsOf("de").problemBack);
  });
});

describe("the checkout page in a frame on a shop's page", () => {
  it("has a close button and a status for the shop, and all its links and forms stay in the frame", () => {
    const chrome = { ...chromeOf("de"), isModal: true };
    for (const stage of STAGES) {
      const html = String(checkoutPage({ chrome, view: checkoutViewOf(stage, { method: EVM_METHOD }), note: null }));
      expect(html).toMatch(/<button[^>]* data-close[^>]*>Schließen</);
      expect(/ data-status="(\w+)"/.exec(html)?.[1]).toBe(modalStatus(stage));
      const own = [...html.matchAll(/ (?:href|action|data-state-url)="(\/pay\/[^"]*)"/g)].map(([, path]) => path);
      expect(own.length).toBeGreaterThan(1);
      // The language form sends `view` as a hidden field instead.
      for (const path of own) if (path !== chrome.path) expect(path).toContain("view=modal");
      expect(html).toContain('<input type="hidden" name="view" value="modal"');
    }
  });

  it("differs from the page without a frame, which has neither a close button nor a status", () => {
    for (const stage of STAGES) expect(page(checkoutViewOf(stage))).not.toMatch(/data-close|data-status|modal/);
  });
});

describe("the checkout page", () => {
  it("loads nothing from another origin, and has no script or style without the nonce", () => {
    for (const stage of STAGES) {
      const html = page(checkoutViewOf(stage, { method: EVM_METHOD }));
      const loaded = [...html.matchAll(/<(?:script|img|link|iframe|source)[^>]*? (?:src|href)="([^"]*)"/g)];
      expect(loaded.length).toBeGreaterThan(2);
      for (const [, address] of loaded) expect(address).toMatch(/^(\/[a-z]|data:image\/svg\+xml,)/);
      expect(html).not.toMatch(/ style="| on[a-z]+="/);
      for (const [tag] of html.matchAll(/<(?:script|style)[^>]*>/g)) expect(tag).toContain('nonce="nonce-of-the-test"');
      expect(html.match(/<script/g)).toHaveLength(1);
    }
  });

  it("has the shop's logo as its icon, and without one our mark in the shop's colour", () => {
    const iconOf = (shop: Partial<CheckoutView["shop"]>) => {
      const html = page(checkoutViewOf("pay", { shop: { ...checkoutViewOf("pay").shop, ...shop } }));
      return /<link rel="icon" href="([^"]*)"/.exec(html)?.[1] ?? "";
    };
    expect(iconOf({})).toBe("/images/m/logo");
    const mark = decodeURIComponent(iconOf({ logoUrl: null })).replaceAll("&#39;", "'");
    expect(mark).toMatch(/^data:image\/svg\+xml,<svg xmlns='http:\/\/www.w3.org\/2000\/svg'.*fill='#0f766e'.*<\/svg>$/);
    // An invalid colour is not written into the page.
    expect(iconOf({ logoUrl: null, color: "'/><script>" })).toBe(iconOf({ logoUrl: null, color: null }));
    expect(String(problemPage(chromeOf(), { code: "INVOICE_NOT_FOUND" }))).toContain(
      '<link rel="icon" href="data:image',
    );
  });

  it("escapes names with any characters", () => {
    const hostile = fc.array(
      fc.oneof(
        fc.constantFrom("</title>", "<script>alert(1)</script>", '" onload="x', "'", "&lt;", "{shop}", "{total}", "$&"),
        fc.constantFrom(
          "</style>",
          "<!--",
          "]]>",
          "<img src=x onerror=x>",
          "javascript:",
          "\\",
          "`",
          "&amp;",
          "\u0627",
        ),
        fc.string({ maxLength: 8, unit: "grapheme" }),
      ),
      { maxLength: 6 },
    );
    const stage = fc.constantFrom(...STAGES);
    const language = fc.constantFrom(...ALL_LANGUAGES);
    fc.assert(
      fc.property(hostile, stage, language, (parts, at, to) => {
        const text = parts.join("").slice(0, 150);
        const render = (name: string) =>
          page(
            checkoutViewOf(at, {
              title: `${name}.`,
              description: `${name}.`,
              shop: { ...checkoutViewOf(at).shop, name: `${name}.` },
            }),
            { language: to },
          );
        // Two renderings may differ only in the escaped name.
        expect(render(text)).toBe(render("Zyxw").replaceAll("Zyxw", () => escaped(text)));
        expect(escaped(text)).not.toMatch(/[<>"']/);
        expect(shownText(render(text))).toContain(text);
      }),
      { numRuns: RUNS / 5 },
    );
  });
});

describe("the page that follows a payment", () => {
  it("shows a payment's progress in confirmations", () => {
    const html = page(checkoutViewOf("seen"));
    expect(html).toContain('<progress max="19" value="7"');
    expect(shownText(html)).toContain("7 of 19 confirmations");
    expect(shownText(html)).toContain(PAYMENT.txHash);
    expect(page(checkoutViewOf("paid"))).not.toContain("<progress");
  });

  it("gives the script the URLs of the page's state and updates, with the language and the method that are shown", () => {
    const html = page(checkoutViewOf("pay"), { language: "de" });
    expect(html).toContain('data-state-url="/pay/inv_01JAB2C3D4E5F6G7H8J9KMNPQR/state?method=USDT_TRX&amp;lang=de"');
    expect(html).toContain('data-live-url="/pay/inv_01JAB2C3D4E5F6G7H8J9KMNPQR/live"');
    expect(page(checkoutViewOf("choose"))).toContain("/state?choose=1");
  });

  it("renders <main> separately exactly as in the page", () => {
    for (const stage of STAGES) {
      const of = { chrome: chromeOf(), view: checkoutViewOf(stage), note: null };
      expect(String(checkoutPage(of))).toContain(String(checkoutMain(of)));
    }
  });

  it("returns to the shop automatically only if there is a return address, and only by the script, which can be stopped", () => {
    const refresh = (view: CheckoutView, note: Note | null = null) =>
      /<noscript><meta http-equiv="refresh" content="([^"]*)"\/?><\/noscript>/.exec(page(view, { note }))?.[1];
    expect(refresh(checkoutViewOf("paid"))).toBeUndefined();
    expect(page(checkoutViewOf("paid"))).toContain('href="/pay/inv_01JAB2C3D4E5F6G7H8J9KMNPQR/return"');
    expect(page(checkoutViewOf("paid"))).toContain('data-return-seconds="8"');
    for (const stage of STAGES) {
      const view = checkoutViewOf(stage, { canReturn: false });
      expect(page(view)).not.toMatch(/data-return-url|\/return/);
      expect(refresh(view)).toBe(view.pollSeconds > 0 && stage !== "choose" ? "30" : undefined);
    }
    // A page that shows the result of a form is not refreshed, so that the result can be read.
    expect(refresh(checkoutViewOf("pay"), "claim-invalid")).toBeUndefined();
  });

  it("does not return to the shop automatically if more than the price was paid, so that the payer notices it", () => {
    const [first = PAYMENT] = checkoutViewOf("paid").payments;
    const twice = { ...PAYMENT, txHash: "5".repeat(64) };
    for (const view of [
      checkoutViewOf("paid", { payments: [first, twice] }),
      checkoutViewOf("paid", { payments: [first, { ...twice, state: "undecided" }] }),
      checkoutViewOf("overpaid"),
    ]) {
      expect(page(view)).not.toMatch(/ data-return-(url|seconds)=/);
      expect(page(view)).toContain('href="/pay/inv_01JAB2C3D4E5F6G7H8J9KMNPQR/return"');
    }
    expect(page(checkoutViewOf("paid"))).toContain("data-return-url");
  });

  it("links to the shop's support page where a payer may need the shop, and shows only the shop's name if it has no such page", () => {
    const link = '<a href="https://flowers.example/help" rel="noreferrer">Flowers</a>';
    const claim = { id: CLAIM_ID, text: "claimStillNotFound", isGood: false, sent: "", asked: "" } as const;
    const undecided = { ...PAYMENT, state: "undecided" } as const;
    for (const [stage, changes] of [
      ["unavailable", {}],
      ["overpaid", {}],
      ["underpaid", {}],
      ["expired", {}],
      ["cancelled", {}],
      ["pay", { claim }],
      ["pay", { payments: [undecided] }],
    ] as const) {
      const view = checkoutViewOf(stage, changes);
      const main = (shown: CheckoutView) => String(checkoutMain({ chrome: chromeOf(), view: shown, note: null }));
      expect(main(view), stage).toContain(link);
      const bare = main({ ...view, shop: { ...view.shop, supportUrl: null } });
      expect(bare, stage).toBe(main(view).replaceAll(link, "Flowers"));
    }
    expect(page(checkoutViewOf("paid"))).not.toContain(link);
  });

  it("asks for a transaction hash and its network while a payment may be on its way", () => {
    const asking = STAGES.filter((stage) => page(checkoutViewOf(stage)).includes('name="txHash"'));
    expect(asking).toEqual(["pay", "partial", "checking", "underpaid", "expired"]);
    expect(page(checkoutViewOf("expired"))).toContain('<input type="hidden" name="network" value="TRX"');
    const two = [
      { network: "TRX", networkName: "TRON" },
      { network: "ETH", networkName: "Ethereum" },
    ];
    expect(page(checkoutViewOf("expired", { claimNetworks: two }))).toContain(
      '<select id="claim-network" name="network"',
    );
  });

  it("says that the shop decides about a late payment", () => {
    const late = checkoutViewOf("expired", { payments: [{ ...PAYMENT, state: "confirmed", isLate: true }] });
    expect(shownText(page(late))).toContain("will decide about it");
    expect(shownText(page(checkoutViewOf("expired")))).not.toContain("will decide about it");
  });
});

describe("the language switch", () => {
  it("keeps the payment method that is shown, and writes each language's name in that language", () => {
    const html = page(checkoutViewOf("pay"), { language: "ar" });
    expect(html).toContain('<input type="hidden" name="method" value="USDT_TRX"');
    for (const [code, { name }] of Object.entries(LANGUAGES)) {
      expect(html).toMatch(new RegExp(`<option value="${code}" lang="${code}"( selected="")?>${name}</option>`));
    }
    expect(html).toContain('<option value="ar" lang="ar" selected="">');
  });
});
