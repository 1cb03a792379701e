// The page from which a payer pays: what is shown, copied, scanned and passed to a wallet.
import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { coinName } from "../../../../src/checkout/pay/coins.ts";
import { checkoutView } from "../../../../src/checkout/pay/view.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { DAY_MS } from "../../../../src/lib/time.ts";
import { timeText } from "../../../../src/platform/texts/format.ts";
import { LANGUAGES, type Language } from "../../../../src/platform/texts/languages.ts";
import { fill, textsOf } from "../../../../src/platform/texts/texts.ts";
import { ADDRESS, BTC_BTC, viewFacts } from "../../../support/checkout-facts.ts";
import { escaped, page, shownText } from "../../../support/checkout-html.ts";
import { checkoutViewOf, EVM_METHOD, METHOD, NOW, PAYMENT, STAGES } from "../../../support/checkout-views.ts";

const ALL_LANGUAGES = Object.keys(LANGUAGES) as Language[];

describe("the page for paying", () => {
  it.each([METHOD, EVM_METHOD])(
    "shows the whole address of $key in groups, and copies the exact address and amount",
    (method) => {
      const html = page(checkoutViewOf("pay", { method }));
      const [, groups = ""] = /<p class="address">(.*?)<\/p>/.exec(html) ?? [];
      expect(groups.replaceAll(/<[^>]*>/g, "")).toBe(method.address);
      expect(groups.match(/<span>/g)).toHaveLength(Math.ceil(method.address.length / 4));
      const copied = [...html.matchAll(/ data-copy="([^"]*)"/g)].map(([, text]) => text);
      expect(copied).toEqual([method.amount, method.address]);
      expect(html).toContain(`href="${escaped(method.uri)}"`);
      expect(shownText(html)).toContain(`${method.amount} ${method.code}`);
    },
  );

  it("has a QR code of the address, and a second one only if the payment link contains more than the address", () => {
    expect(page(checkoutViewOf("pay")).match(/<svg[^>]* role="img"/g)).toHaveLength(2);
    const bare = { ...METHOD, uri: METHOD.address };
    const html = page(checkoutViewOf("pay", { method: bare }));
    expect(html.match(/<svg[^>]* role="img"/g)).toHaveLength(1);
    expect(html).not.toContain('type="radio"');
  });

  it("shows the QR code of the payment link first only if a wallet that misreads it cannot send money to the wrong address", () => {
    const firstOf = (cryptocurrency: string, network: string) => {
      const view = checkoutView(viewFacts({ active: [{ cryptocurrency, network }] }));
      const html = page(view);
      const tabs = [...html.matchAll(/<input type="radio" name="qr" id="([^"]*)"[^>]*?( checked="")?\/>/g)];
      expect(tabs.map(([, id]) => id).toSorted()).toEqual(["qr-address", "qr-uri"]);
      expect(tabs.map(([, , isChecked]) => isChecked !== undefined)).toEqual([true, false]);
      return tabs[0]?.[1];
    };
    const read = NETWORKS.flatMap((network) =>
      network.assets.map(({ code }) => [code, network.name, network.family] as const),
    ).filter(([code, name]) => firstOf(code, name) === "qr-uri");
    expect(read.filter(([, , family]) => family !== "bitcoin")).toEqual([["ETH", "ETH", "evm"]]);
    expect(read.map(([, name]) => name)).toEqual(expect.arrayContaining(["BTC", "LTC"]));
  });

  it("shows only the QR code of the address if any amount may be sent", () => {
    const html = page(checkoutViewOf("pay", { method: { ...METHOD, amount: null } }));
    expect(html.match(/<svg[^>]* role="img"/g)).toHaveLength(1);
    expect(shownText(html)).not.toContain(textsOf("en").qrUri);
  });

  it("has the QR code above the details", () => {
    const html = page(checkoutViewOf("pay"));
    const places = ['data-part="codes"', 'data-part="amount"', 'class="address"', 'class="warning"'].map((each) =>
      html.indexOf(each),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it("gives browser wallets the exact transfer, and only on EVM networks", () => {
    const html = page(checkoutViewOf("pay", { method: EVM_METHOD }));
    const [, transfer = ""] = / data-wallets="([^"]*)"/.exec(html) ?? [];
    expect(JSON.parse(transfer.replaceAll("&quot;", '"'))).toEqual(EVM_METHOD.transfer);
    // The network is already filled in; the script fills in the wallet.
    expect(html).toMatch(/data-pay-with="[^"]*\{wallet\}/);
    expect(html).toMatch(/data-wrong-network="[^"]*Ethereum/);
    expect(page(checkoutViewOf("pay"))).not.toContain("data-wallets");
  });

  it("names the network in its warning on every EVM network, even for its own coin, because the same address exists on all of them", () => {
    const evm = NETWORKS.filter(({ family }) => family === "evm");
    expect(evm).toHaveLength(14);
    for (const { name, displayName, nativeCode, chainId } of evm) {
      const active = [{ cryptocurrency: nativeCode, network: name }];
      const html = page(checkoutView(viewFacts({ active })));
      expect(shownText(html)).toContain(
        fill(textsOf("en").warnNetwork, { coin: coinName(nativeCode), network: displayName }),
      );
      expect(html).toContain(`href="ethereum:${ADDRESS}@${chainId}?value=`);
    }
    const bitcoin = page(checkoutView(viewFacts({ active: [BTC_BTC] })));
    expect(shownText(bitcoin)).toContain(fill(textsOf("en").warnCoin, { coin: "Bitcoin" }));
  });

  it("counts down to the amount's deadline and says what happens after it", () => {
    const { atRequote, atExpiry } = textsOf("en");
    const html = page(checkoutViewOf("pay"));
    expect(html).toContain(`data-deadline="${METHOD.deadlineMs}" datetime="2026-10-02T10:14:59.000Z"`);
    expect(shownText(html)).toContain("Oct 2, 2026, 10:14");
    expect(html).toContain(atRequote);
    expect(page(checkoutViewOf("pay", { method: EVM_METHOD }))).toContain(atExpiry);
    expect(html).toContain(`data-now="${NOW}"`);
  });

  it("shows no address when nothing should be sent", () => {
    const sendable = STAGES.filter((stage) => page(checkoutViewOf(stage)).includes("data-copy"));
    expect(sendable).toEqual(["pay", "partial"]);
    for (const stage of STAGES) {
      const isShown = shownText(page(checkoutViewOf(stage))).includes(METHOD.address);
      expect(isShown).toBe(sendable.includes(stage));
    }
    // If the shop accepts late payments, the missing amount can still be sent.
    expect(page(checkoutViewOf("underpaid", { acceptsLate: true }))).toContain(`data-copy="${METHOD.address}"`);
    expect(page(checkoutViewOf("underpaid", { acceptsLate: true, isMonitored: false }))).not.toContain("data-copy");
  });

  it.each([
    ["pay", {}],
    ["partial", {}],
    ["underpaid", { acceptsLate: true }],
  ] as const)(
    "hides the payment details, which the payer can open, while the shop has to decide about what arrived: %s",
    (stage, changes) => {
      const undecided = { ...PAYMENT, state: "undecided" } as const;
      for (const language of ALL_LANGUAGES) {
        const { undecidedTitle, payAnyway, waiting, claimSentIt } = textsOf(language);
        const html = page(checkoutViewOf(stage, { ...changes, payments: [undecided] }), { language });
        const [open = "", more = ""] = html.split(`<summary>${payAnyway}</summary>`);
        expect(/<h1[^>]*>([^<]*)</.exec(open)?.[1]).toBe(undecidedTitle);
        expect(open).toMatch(/<details class="again">$/);
        expect(open).not.toMatch(/data-copy|data-part="(codes|amount)"|ethereum:|tron:/);
        expect(shownText(open)).not.toContain(waiting);
        const shown = shownText(stage === "underpaid" ? html : open);
        expect([shown.includes(claimSentIt), shown.includes(undecided.txHash)]).toEqual([true, true]);
        expect(more).toContain(`data-copy="${METHOD.address}"`);
        expect(more).toContain(`data-copy="${METHOD.amount}"`);
        expect(page(checkoutViewOf(stage, changes), { language })).not.toContain(payAnyway);
      }
    },
  );

  it("also hides the payment details after a payer claimed a transaction that the shop has to decide about", () => {
    const claim = { id: makeId("clm", "0".repeat(26)), isGood: false, sent: "40 USDC", asked: "80 USDC" };
    const { payAnyway } = textsOf("en");
    for (const text of ["claimDiffers", "claimToDecide"] as const) {
      const html = page(checkoutViewOf("pay", { claim: { ...claim, text } }));
      const [open = "", more] = html.split(`<summary>${payAnyway}</summary>`);
      expect([open.includes("data-copy"), more?.includes("data-copy")]).toEqual([false, true]);
    }
    expect(page(checkoutViewOf("pay", { claim: { ...claim, text: "claimNotFound" } }))).not.toContain(payAnyway);
  });

  it("shows the state in its title, so that a tab in the background shows it, and in the text that screen readers announce", () => {
    const undecided = { ...PAYMENT, state: "undecided" } as const;
    const html = page(checkoutViewOf("pay", { payments: [undecided] }));
    const { undecidedTitle } = textsOf("en");
    expect(html).toContain(`<title>${undecidedTitle}: Flowers</title>`);
    expect(html).toContain(`data-stage-text="${undecidedTitle}"`);
  });

  it("says, in every language, that a network is not watched when it asks for money on that network", () => {
    const hasSource = (network: string) => network !== "ETH";
    for (const language of ALL_LANGUAGES) {
      const said = fill(textsOf(language).unwatched, { network: "Ethereum" });
      expect(shownText(page(checkoutView(viewFacts({ hasSource })), { language }))).toContain(said);
      for (const given of [{}, { hasSource, active: [BTC_BTC] }, { hasSource, status: "CANCELLED" } as const])
        expect(shownText(page(checkoutView(viewFacts(given)), { language }))).not.toContain(said);
    }
  });

  it("says, in every language, until when the rest of an underpaid invoice may still be sent", () => {
    for (const language of ALL_LANGUAGES) {
      const rest = page(checkoutViewOf("underpaid", { acceptsLate: true }), { language });
      const time = timeText(language, NOW + DAY_MS);
      expect(shownText(rest)).toContain(fill(textsOf(language).underpaidAccept, { time }));
      expect(shownText(rest)).toContain(time);
    }
  });

  it("links back to the choice of methods while the payer can still choose", () => {
    expect(page(checkoutViewOf("pay"))).toContain("?choose=1");
    expect(page(checkoutViewOf("pay", { canChoose: false }))).not.toContain("?choose=1");
  });
});
