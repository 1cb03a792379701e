// The page on which a payer sends: what is shown, copied, scanned and given to a wallet.
import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { coinName } from "../../../../src/checkout/pay/coins.ts";
import { checkoutView } from "../../../../src/checkout/pay/view.ts";
import { fill, textsOf } from "../../../../src/platform/texts/texts.ts";
import { ADDRESS, BTC_BTC, viewFacts } from "../../../support/checkout-facts.ts";
import { escaped, page, shownText } from "../../../support/checkout-html.ts";
import { checkoutViewOf, EVM_METHOD, METHOD, NOW, STAGES } from "../../../support/checkout-views.ts";

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

  it("has a QR code of the address, and a second one only if the payment link has more than the address", () => {
    expect(page(checkoutViewOf("pay")).match(/<svg[^>]* role="img"/g)).toHaveLength(2);
    const bare = { ...METHOD, uri: METHOD.address };
    const html = page(checkoutViewOf("pay", { method: bare }));
    expect(html.match(/<svg[^>]* role="img"/g)).toHaveLength(1);
    expect(html).not.toContain('type="radio"');
  });

  it("shows the code of the payment link first where a wallet that reads it badly sends nothing astray", () => {
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

  it("shows one code, of the address, where any amount may be sent", () => {
    const html = page(checkoutViewOf("pay", { method: { ...METHOD, amount: null } }));
    expect(html.match(/<svg[^>]* role="img"/g)).toHaveLength(1);
    expect(shownText(html)).not.toContain(textsOf("en").qrUri);
  });

  it("has the code before the details", () => {
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
    // The script fills in the wallet; the network is filled in already.
    expect(html).toMatch(/data-pay-with="[^"]*\{wallet\}/);
    expect(html).toMatch(/data-wrong-network="[^"]*Ethereum/);
    expect(page(checkoutViewOf("pay"))).not.toContain("data-wallets");
  });

  it("warns by the network's name on every EVM network, where the same address is on all of them, also of its own coin", () => {
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

  it("counts down to the amount's deadline and says what happens then", () => {
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

  it("links back to the choice while there is one", () => {
    expect(page(checkoutViewOf("pay"))).toContain("?choose=1");
    expect(page(checkoutViewOf("pay", { canChoose: false }))).not.toContain("?choose=1");
  });
});
