// Where the QR code, the amount and the address are on the payment page, on a wide screen and on a phone.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { en } from "../../src/platform/texts/en.ts";
import { findingsEverywhere } from "../support/page-axe.ts";
import {
  type Code,
  describeInBrowser,
  methodOf,
  openShop,
  payPath,
  seenIn,
  untilStage,
  useBrowser,
} from "./harness.ts";

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** A description as long as those of many shops. */
const DESCRIPTION = "Whole beans, roasted this week. Sent tomorrow, with a note on how to grind them.";

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The element's position in the window, before the payer scrolls. Exactly one such element must be visible. */
function boxOf(page: Page, selector: string): Promise<Box> {
  return page.evaluate<Box>(`(() => {
    const shown = [...document.querySelectorAll(${JSON.stringify(selector)})].filter((each) => each.checkVisibility());
    if (shown.length !== 1 || scrollY !== 0) throw new Error(shown.length + " shown, scrolled by " + scrollY);
    const { left, top, right, bottom } = shown[0].getBoundingClientRect();
    return { left, top, right, bottom };
  })()`);
}

describeInBrowser("the payment page", () => {
  const browsing = useBrowser();

  async function openAt(code: Code, of: { readonly viewport: typeof WIDE; readonly locale?: string }): Promise<Page> {
    const shop = await openShop([code, "DAI"]);
    const method =
      code === "BTC" ? { cryptocurrency: "BTC", network: "BTC" } : { cryptocurrency: code, network: "ETH" };
    const fields = { name: "Espresso beans, 1 kg", description: DESCRIPTION, rawAmount: 49.9 };
    const invoice = await shop.createInvoice({ ...fields, paymentMethods: [method] });
    const { page } = await browsing.visit(of);
    await page.goto(payPath(invoice), { waitUntil: "networkidle" });
    await untilStage(page, "pay");
    return page;
  }

  it.each([
    ["USDT", "en"],
    ["BTC", "de"],
    ["ETH", "ar"],
  ] as const)(
    "for %s in %s has the QR code and the amount side by side and above the fold on a wide screen",
    async (code, locale) => {
      const page = await openAt(code, { viewport: WIDE, locale });
      const qr = await boxOf(page, "svg.qr-address, svg.qr-uri");
      const amount = await boxOf(page, ".amount");
      const address = await boxOf(page, ".address");
      expect(qr.top).toBeLessThan(420);
      expect(qr.bottom).toBeLessThan(WIDE.height);
      expect(address.bottom).toBeLessThan(WIDE.height);
      expect(amount.top).toBeLessThan(qr.bottom);
      expect(amount.bottom).toBeGreaterThan(qr.top);
      if (locale === "ar") expect(amount.right).toBeLessThan(qr.left);
      else expect(amount.left).toBeGreaterThan(qr.right);
    },
  );

  it.each([
    ["USDT", "en"],
    ["BTC", "ru"],
    ["ETH", "ar"],
  ] as const)(
    "for %s in %s has the whole QR code above the details and above the fold on a phone",
    async (code, locale) => {
      const page = await openAt(code, { viewport: PHONE, locale });
      const qr = await boxOf(page, "svg.qr-address, svg.qr-uri");
      const amount = await boxOf(page, ".amount");
      const address = await boxOf(page, ".address");
      expect(qr.bottom).toBeLessThanOrEqual(PHONE.height);
      // Large enough to be scanned from arm's length.
      expect(qr.right - qr.left).toBeGreaterThanOrEqual(216);
      expect(amount.top).toBeGreaterThanOrEqual(qr.bottom);
      expect(address.top).toBeGreaterThan(amount.bottom);
    },
  );

  it("has the QR code and the details side by side from 720 px on, and nothing wider than the screen at any width", async () => {
    const page = await openAt("USDT", { viewport: WIDE });
    for (const [width, isBeside] of [
      [320, false],
      [719, false],
      [720, true],
      [1920, true],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      const [qr, amount] = [await boxOf(page, "svg.qr-address"), await boxOf(page, ".amount")];
      expect([width, amount.left > qr.right]).toEqual([width, isBeside]);
      expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(
        0,
      );
    }
  });

  it("shows the whole address, and shows the QR code of the payment link first if wallets can read it", async () => {
    const shop = await openShop(["BTC"]);
    const invoice = await shop.createInvoice({ rawAmount: 30 });
    const { page } = await browsing.visit();
    await page.goto(payPath(invoice));
    await untilStage(page, "pay");
    const { address, paymentUri } = await methodOf(shop, invoice, "BTC");
    expect((await seenIn(page.locator("p.address"))).replaceAll(/\s/g, "")).toBe(address);
    expect(
      await page.evaluate(
        "getSelection().selectAllChildren(document.querySelector('p.address')), String(getSelection()).trim()",
      ),
    ).toBe(address);
    const link = page.getByRole("img", { name: en.qrUriAlt });
    const bare = page.getByRole("img", { name: en.qrAddressAlt, exact: true });
    expect([await link.isVisible(), await bare.isVisible()]).toEqual([true, false]);
    await page.getByText(en.qrAddress, { exact: true }).click();
    expect([await link.isVisible(), await bare.isVisible()]).toEqual([false, true]);
    expect(await page.getByRole("link", { name: en.openInWallet }).getAttribute("href")).toBe(paymentUri);
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("has a single QR code, for the address, if any amount may be sent", async () => {
    const shop = await openShop(["BTC"]);
    const { page } = await browsing.visit({ viewport: PHONE });
    await page.goto(payPath(await shop.createInvoice({ rawAmount: 0 })));
    await untilStage(page, "pay");
    expect(await page.getByRole("radio").count()).toBe(0);
    expect((await boxOf(page, "svg.qr-address")).bottom).toBeLessThanOrEqual(PHONE.height);
    expect(await findingsEverywhere(page)).toEqual([]);
  });
});
