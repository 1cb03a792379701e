// Requirements for the checkout's pages at every stage of a payment: size, layout shifts, languages, keyboard, no script, hostile texts, frames.
// Nothing is mined here, because another file mines on the same chain at the same time.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { en } from "../../src/platform/texts/en.ts";
import { LANGUAGES } from "../../src/platform/texts/languages.ts";
import { textsOf } from "../../src/platform/texts/texts.ts";
import { axeFindings, findingsEverywhere } from "../support/page-axe.ts";
import type { Load } from "../support/page-visit.ts";
import { installWallet } from "../support/page-wallet.ts";
import { randomHex } from "../support/wallet-bodies.ts";
import {
  describeInBrowser,
  methodOf,
  ON_ETH,
  openShop,
  type PageShop,
  payPath,
  seenIn,
  untilStage,
  useBrowser,
} from "./harness.ts";

/** A picture of 16 by 16 pixels in one colour. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mNkYPhPEmIaVTCqYPgqAAAuKQ8BqkG0ZQAAAABJRU5ErkJggg==";
/** An origin that is never contacted, because the test answers in its place. */
const OUTER = "https://shop.example";
const KILOBYTE = 1_024;
/** USDT and USDC are on all of these networks, in addition to their native coins. */
const EVM_NETWORKS = ["ETH", "POL", "BNB"];

const total = (loads: readonly Load[]) => loads.reduce((sum, { bytes }) => sum + bytes, 0);
const sideways = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

/** Two tokens and the native coin on each of three networks. */
async function openLargeShop(): Promise<PageShop> {
  const shop = await openShop([]);
  const address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  for (const network of EVM_NETWORKS) {
    for (const cryptocurrency of ["USDT", "USDC", network]) {
      await shop.registerWallet({ walletType: "DIRECT_WALLET", cryptocurrency, network, address });
    }
  }
  return shop;
}

async function dress(shop: PageShop, name: string): Promise<void> {
  const { name: logo } = await shop.call<{ readonly name: string }>("POST", "/images", {
    contentType: "image/png",
    data: PNG,
  });
  await shop.changeSettings({ brand: { name, color: "#ffcc00", logo, supportUrl: "https://shop.example/help" } });
}

describeInBrowser("the checkout", () => {
  const browsing = useBrowser();
  const baseUrl = () => inject("testbed").baseUrl;

  it("loads few files, with one script of at most 13 KB, and has no layout shifts", async () => {
    const shop = await openLargeShop();
    await dress(shop, "Corner shop");
    const choosing = await shop.createInvoice({ name: "Coffee, 1 kg", rawAmount: 19.5 });
    const paying = await shop.createInvoice({ rawAmount: 19.5, paymentMethods: [ON_ETH("USDT")] });
    for (const path of [payPath(choosing), `${payPath(paying)}?method=USDT_ETH`]) {
      for (const width of [320, 1280]) {
        const { page, loads, shifts } = await browsing.visit({ viewport: { width, height: 720 } });
        await page.goto(path, { waitUntil: "networkidle" });
        const scripts = loads.filter(({ type }) => type === "Script");
        // The page, its script, and the shop's logo.
        expect(loads.map(({ type }) => type).toSorted()).toEqual(["Document", "Image", "Script"]);
        expect(total(scripts)).toBeLessThanOrEqual(13 * KILOBYTE);
        expect(await shifts()).toEqual([]);
        expect(await sideways(page)).toBe(0);
      }
    }
  });

  it("shows an approximate amount for each coin, and the exact amount after the customer has chosen the coin", async () => {
    const shop = await openShop(["USDT", "ETH", "BTC"]);
    const invoice = await shop.createInvoice({ rawAmount: 19.5 });
    const { page } = await browsing.visit({ javaScriptEnabled: false });
    for (const code of ["USDT", "ETH", "BTC"] as const) {
      await page.goto(`${payPath(invoice)}?choose=1`);
      const way = page.locator(`button[name="method"][value^="${code}_"]`);
      const said = /≈ ([\d.]+) /.exec(await seenIn(way))?.[1] ?? "";
      expect(await seenIn(way)).toContain(code);
      await way.click();
      await untilStage(page, "pay");
      const { amount } = await methodOf(shop, invoice, code);
      expect(Number(amount)).toBeGreaterThan(0);
      expect(Number(amount)).toBeLessThanOrEqual(Number(said));
      expect(Number(amount)).toBeGreaterThan(Number(said) * 0.99);
      // Now the amount is locked, so the choice shows it exactly.
      await page.goto(`${payPath(invoice)}?choose=1`);
      expect(await seenIn(page.locator(`button[value^="${code}_"]`))).toContain(`${amount} ${code}`);
      expect(await seenIn(page.locator(`button[value^="${code}_"]`))).not.toContain("≈");
    }
  });

  it("names Base, Arbitrum One and OP Mainnet and uses their chain ids when one address is used on all three, and is accessible", async () => {
    const shop = await openShop([]);
    const address = `0x${randomHex(20)}`;
    const rollups = {
      BASE: ["Base", 8_453],
      ARBITRUM: ["Arbitrum One", 42_161],
      OPTIMISM: ["OP Mainnet", 10],
    } as const;
    for (const network of Object.keys(rollups))
      await shop.registerWallet({ walletType: "DIRECT_WALLET", cryptocurrency: "USDC", network, address });
    const { page } = await browsing.visit({ viewport: { width: 320, height: 720 } });
    await page.goto(payPath(await shop.createInvoice({ rawAmount: 19.5 })));
    await untilStage(page, "choose");
    for (const [name] of Object.values(rollups)) await page.getByRole("button", { name: new RegExp(name) }).waitFor();
    expect(await findingsEverywhere(page)).toEqual([]);
    for (const [network, [name, chainId]] of Object.entries(rollups)) {
      const paymentMethods = [{ cryptocurrency: "USDC", network }];
      await page.goto(payPath(await shop.createInvoice({ rawAmount: 19.5, paymentMethods })));
      await untilStage(page, "pay");
      expect(await seenIn(page.locator(".details p.warning"))).toMatch(
        new RegExp(`^Send only USD Coin, and only on ${name}`),
      );
      expect(await page.getByRole("link", { name: en.openInWallet }).getAttribute("href")).toContain(
        `@${chainId}/transfer?`,
      );
      expect(await findingsEverywhere(page)).toEqual([]);
      expect(await sideways(page)).toBe(0);
    }
  });

  it("has no layout shift when a browser wallet is found or something is copied", async () => {
    const shop = await openShop(["USDC"]);
    const invoice = await shop.createInvoice({ rawAmount: 20 });
    const { page, shifts } = await browsing.visit({ permissions: ["clipboard-read", "clipboard-write"] });
    await installWallet(page, { nodeUrl: inject("testbed").chainUrl });
    await page.goto(payPath(invoice));
    await page.locator("[data-wallets] button").waitFor();
    const copy = page.getByRole("button", { name: en.copyAmount });
    const width = (await copy.boundingBox())?.width;
    await copy.click();
    await page.locator("#say", { hasText: en.amountCopied }).waitFor();
    expect((await copy.boundingBox())?.width).toBe(width);
    expect(await shifts()).toEqual([]);
  });

  it("uses the browser's language and its writing direction, is accessible, and fits a width of 320 px", async () => {
    const shop = await openShop();
    const choosing = await shop.createInvoice();
    const paying = await shop.createInvoice({ paymentMethods: [ON_ETH("USDT")] });
    const findings: string[] = [];
    for (const [language, { direction }] of Object.entries(LANGUAGES)) {
      const texts = textsOf(language as keyof typeof LANGUAGES);
      const { page, close } = await browsing.visit({ locale: language, viewport: { width: 320, height: 720 } });
      for (const [invoice, stage, title] of [
        [choosing, "choose", texts.chooseTitle],
        [paying, "pay", texts.payTitle],
      ] as const) {
        await page.goto(payPath(invoice));
        await untilStage(page, stage);
        expect(await seenIn(page.locator("main h1"))).toBe(title);
        expect(await page.evaluate("[document.documentElement.lang, document.documentElement.dir]")).toEqual([
          language,
          direction,
        ]);
        if ((await sideways(page)) > 0) findings.push(`${language}, ${stage}: wider than 320 px`);
        findings.push(...(await axeFindings(page)).map((finding) => `${language}, ${stage}: ${finding}`));
      }
      await close();
    }
    expect(findings).toEqual([]);
  });

  it("changes its language on request, and keeps the chosen payment method", async () => {
    const shop = await openShop();
    const invoice = await shop.createInvoice({ paymentMethods: [ON_ETH("USDT"), ON_ETH("ETH")] });
    const { page } = await browsing.visit();
    await page.goto(`${payPath(invoice)}?method=USDT_ETH`);
    await page.locator("#lang").selectOption("ar");
    await page.getByRole("button", { name: en.changeLanguage }).click();
    await page.locator('html[dir="rtl"] main[data-stage="pay"]').waitFor();
    expect(await seenIn(page.locator("main"))).toContain("USDT");
    await page.getByRole("link", { name: textsOf("ar").changeMethod }).click();
    await page.locator('html[dir="rtl"] main[data-stage="choose"]').waitFor();
  });

  it("filters many payment methods by the typed text", async () => {
    const shop = await openLargeShop();
    const invoice = await shop.createInvoice();
    const { page } = await browsing.visit();
    await page.goto(payPath(invoice));
    const search = page.getByRole("searchbox");
    const ways = page.locator('button[name="method"]:visible');
    expect(await ways.count()).toBe(9);
    await search.fill("usdt pol");
    expect(await ways.count()).toBe(1);
    expect(await ways.getAttribute("value")).toBe("USDT_POL");
    expect(await page.locator("[data-find-group]:visible").count()).toBe(1);
    await search.fill("dogecoin");
    expect(await ways.count()).toBe(0);
    expect(await seenIn(page.locator("main"))).toContain(en.chooseNone);
    expect(await findingsEverywhere(page)).toEqual([]);
    await search.fill("");
    expect(await ways.count()).toBe(9);
  });

  it("can be used with the keyboard alone: every control is reachable with a visible focus, and copying is announced", async () => {
    const shop = await openShop();
    await dress(shop, "Corner shop");
    const invoice = await shop.createInvoice({ paymentMethods: [ON_ETH("USDT")] });
    const { page } = await browsing.visit({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(payPath(invoice), { waitUntil: "networkidle" });
    await untilStage(page, "pay");
    // A group of radio buttons is one tab stop.
    const controls =
      await page.evaluate<number>(`[...document.querySelectorAll("a[href], button, select, summary, input")]
      .filter((each) => each.checkVisibility({ visibilityProperty: true }) && each.type !== "hidden")
      .filter((each) => each.type !== "radio" || each.checked).length`);
    const reached = new Set<string>();
    for (let pressed = 0; pressed < controls; pressed++) {
      await page.keyboard.press("Tab");
      const { path, ring } = await page.evaluate<{ path: string; ring: boolean }>(`(() => {
        const at = document.activeElement;
        const shown = at.type === "radio" ? at.labels[0] : at;
        const ringed = [at, shown, shown.parentElement].some((each) => {
          const { outlineStyle, outlineWidth } = getComputedStyle(each);
          return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
        });
        const all = [...document.querySelectorAll("*")];
        return { path: at.tagName + all.indexOf(at), ring: ringed };
      })()`);
      expect([path, ring]).toEqual([path, true]);
      reached.add(path);
    }
    expect(reached.size).toBe(controls);

    const { address, amount } = await methodOf(shop, invoice, "USDT");
    for (const [name, key, copied, announced] of [
      [en.copyAmount, "Enter", amount, en.amountCopied],
      [en.copyAddress, "Space", address, en.addressCopied],
    ] as const) {
      await page.getByRole("button", { name }).focus();
      await page.keyboard.press(key);
      await page.locator("#say", { hasText: announced }).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(copied);
    }
  });

  it("without scripts offers the payment methods, shows the address, accepts a claim and changes the language", async () => {
    const shop = await openShop(["USDC", "ETH"]);
    const invoice = await shop.createInvoice({ rawAmount: 20 });
    const { page } = await browsing.visit({ javaScriptEnabled: false });
    await page.goto(payPath(invoice));
    await page.locator('button[value="USDC_ETH"]').click();
    await untilStage(page, "pay");
    const { address, amount } = await methodOf(shop, invoice, "USDC");
    const text = await seenIn(page.locator("main"));
    expect(text.replaceAll(/\s/g, "")).toContain(address);
    expect(text).toContain(`${amount} USDC`);
    expect(await page.locator("[data-copy]:visible, [data-wallets]:visible").count()).toBe(0);
    await page.getByText(en.qrUri, { exact: true }).click();
    expect(await page.getByRole("img", { name: en.qrUriAlt }).isVisible()).toBe(true);

    await page.locator("summary", { hasText: en.claimOpen }).click();
    await page.getByLabel(en.claimHash).fill("not a hash");
    await page.getByRole("button", { name: en.claimSend }).click();
    await page.locator(".error").first().waitFor();
    await page.getByLabel(en.claimHash).fill(`0x${"ab".repeat(32)}`);
    await page.getByRole("button", { name: en.claimSend }).click();
    await page.locator(".note", { hasText: en.claimNotFound }).waitFor();

    await page.getByLabel(en.language).selectOption("de");
    await page.getByRole("button", { name: en.changeLanguage }).click();
    await page.locator('html[lang="de"] main[data-stage="pay"]').waitFor();
    await page.locator(".note", { hasText: textsOf("de").claimNotFound }).waitFor();
  });

  it("shows a hostile name and description as text, and no customer data", async () => {
    const shop = await openShop();
    const attack = `<script>window.__owned=1</script><img src=x onerror=window.__owned=1>"'>\u202Etxet\u0007`;
    await dress(shop, `Shop ${attack}`);
    const invoice = await shop.createInvoice({
      name: `Order ${attack}`,
      description: `Words ${attack}\n</main><h1>not ours</h1>`,
      customerEmail: "somebody@customer.example",
      customerName: "Some Body of Customers",
      metadata: { secret: "kept to the merchant" },
      externalId: "external-4711",
      paymentMethods: [ON_ETH("USDT")],
    });
    const { page } = await browsing.visit();
    for (const query of ["", "?choose=1", "?lang=ar"]) {
      const response = await page.goto(`${payPath(invoice)}${query}`, { waitUntil: "networkidle" });
      const html = (await response?.text()) ?? "";
      const text = await seenIn(page.locator("body"));
      expect(await page.evaluate("window.__owned")).toBeUndefined();
      for (const name of ["Shop", "Order", "Words"])
        expect(text).toContain(`${name} <script>window.__owned=1</script>`);
      expect(await page.locator("h1").count()).toBe(1);
      for (const control of ["\u202E", "\u0007"]) expect(html).not.toContain(control);
      for (const secret of ["customer.example", "Some Body", "kept to the merchant", "external-4711"]) {
        expect(html).not.toContain(secret);
      }
      expect(await sideways(page)).toBe(0);
    }
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("cannot be framed, except by the origins that the merchant has set", async () => {
    const shop = await openShop();
    const invoice = await shop.createInvoice();
    const framed = async () => {
      const { page } = await browsing.visit({ alsoAllowed: [OUTER], alsoSaid: /frame/i });
      const frame = `<!doctype html><title>Shop</title><iframe src="${baseUrl()}${payPath(invoice)}"></iframe>`;
      await page.route(`${OUTER}/**`, (route) => route.fulfill({ contentType: "text/html", body: frame }));
      await page.goto(OUTER, { waitUntil: "networkidle" });
      return page.frameLocator("iframe").locator("main#checkout").count();
    };
    expect(await framed()).toBe(0);
    await shop.changeSettings({ frameAncestors: ["https://other.example"] });
    expect(await framed()).toBe(0);
    await shop.changeSettings({ frameAncestors: ["https://other.example", OUTER] });
    expect(await framed()).toBe(1);
  });

  it("for a product asks for the product's fields and continues to the payment, with and without scripts", async () => {
    const shop = await openShop(["USDC"]);
    const { id } = await shop.call<{ readonly id: string }>("POST", "/products", {
      name: "Coffee, 1 kg",
      description: "Whole beans",
      price: 19.5,
      image: `data:image/png;base64,${PNG}`,
      askForName: true,
      askForAddress: true,
    });
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await browsing.visit({ javaScriptEnabled });
      await page.goto(`/buy/${id}`);
      if (javaScriptEnabled) expect(await findingsEverywhere(page)).toEqual([]);
      await page.getByLabel(en.buyName).fill("Ann");
      await page.getByLabel(en.buyAddress, { exact: true }).fill("1 Main Street");
      await page.getByRole("button", { name: en.buyGo }).click();
      await untilStage(page, "pay");
      const invoiceId = new URL(page.url()).pathname.split("/")[2] ?? "";
      expect(await shop.invoice(invoiceId)).toMatchObject({ name: "Coffee, 1 kg", rawAmount: "19.500000" });
    }
  });
});
