// The settings: each part explains itself and is saved separately, and the customer's page is shown while its brand is chosen.
import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { logoPng } from "../../scripts/demo-story/logo.ts";
import { EXPECTED_IN_CONSOLE, findings, signIn, untilPage } from "./console-harness.ts";
import { openMerchant } from "./console-merchant.ts";
import { describeInBrowser, openShop, useBrowser } from "./harness.ts";
import { emailOf } from "./testbed.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;
/** Also tolerates the error of a form that the service refuses. */
const REFUSED = { ...QUIET, alsoSaid: /status of 40[013]/ } as const;

/** The console gathers live messages for this long before it rereads (dashboard/src/api/live.ts). */
const GATHER_MS = 1_000;

interface Settings {
  readonly underpaidTolerancePercent: number;
  readonly invoiceLifetimeSeconds: number;
  readonly mailReceiptsToMerchant: boolean;
  readonly frameAncestors: readonly string[];
  readonly walletChangeDelayHours: number;
  readonly brand: { readonly name: string | null; readonly color: string | null; readonly logo: string | null };
}

describeInBrowser("settings", () => {
  const browsing = useBrowser();
  const save = async (page: Page, part: string) => {
    // The notice about the previous save may still be closing, so only the answer shows that this save is done.
    const answer = page.waitForResponse(
      (response) => response.request().method() === "PATCH" && response.url().endsWith("/settings"),
    );
    await page.getByRole("button", { name: `Save: ${part}` }).click();
    expect((await answer).status()).toBe(200);
    await page.getByText("Settings saved.").first().waitFor();
    await page.getByRole("button", { name: "Close the notice" }).first().click();
  };

  it("have parts that are explained, checked and saved separately", async () => {
    const { page } = await browsing.visit(REFUSED);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/settings`);
    await untilPage(page, "Settings");
    expect(await findings(page)).toEqual([]);
    const read = () => merchant.call<Settings>("GET", "/settings");
    await page.getByText("An invoice for $100.00 counts as paid with $99.00 to $105.00.").waitFor();
    await page.getByLabel("Accept underpayment up to").fill("2.5");
    await page.getByText("An invoice for $100.00 counts as paid with $97.50 to $105.00.").waitFor();
    await page.getByText("An invoice for $2,000.00 counts as paid with $1,995.00 to $2,100.00.").waitFor();
    await save(page, "When an invoice is paid");
    await page.getByLabel("Time to pay an invoice", { exact: true }).fill("800");
    await page.getByRole("button", { name: "Save: Time limits" }).click();
    await page.getByText("Enter 1 minute to 30 days").waitFor();
    await page.getByLabel("Time to pay an invoice", { exact: true }).fill("2");
    await save(page, "Time limits");
    await page.getByLabel("Email every owner and admin").check();
    await save(page, "Email");
    const origins = page.getByRole("combobox", { name: "Origins" });
    await origins.fill("http://shop.example");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Save: Sites that may embed the checkout" }).click();
    await page.getByText("Must be an https origin").first().waitFor();
    await origins.click();
    await page.keyboard.press("Backspace");
    await page.keyboard.type("https://shop.example,");
    await save(page, "Sites that may embed the checkout");
    await page.getByLabel("Delay", { exact: true }).fill("24");
    await page.getByText("A new wallet is used after 24 hours.").waitFor();
    await save(page, "Wallet change delay");
    expect(await read()).toMatchObject({
      underpaidTolerancePercent: 2.5,
      invoiceLifetimeSeconds: 7_200,
      mailReceiptsToMerchant: true,
      frameAncestors: ["https://shop.example"],
      walletChangeDelayHours: 24,
    });
    await page.getByLabel("Delay", { exact: true }).fill("0");
    await save(page, "Wallet change delay");
    await page.getByText("A shorter delay was requested").waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("have a table of contents with a link to each part, and open at the part that a URL names", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/settings#limits`);
    await untilPage(page, "Settings");
    const part = (name: string) => page.getByRole("region", { name, exact: true });
    const isInSight = async (name: string) => {
      const box = await part(name).boundingBox();
      return box !== null && box.y >= 0 && box.y < 800;
    };
    await expect.poll(() => isInSight("Limits")).toBe(true);
    expect(await isInSight("Brand")).toBe(false);
    const contents = page.getByRole("navigation", { name: "Settings sections" });
    expect(await contents.getByRole("link").count()).toBe(9);
    await contents.getByRole("link", { name: "Brand" }).press("Enter");
    await page.waitForURL(/#brand$/);
    await expect.poll(() => isInSight("Brand")).toBe(true);
    await expect.poll(() => contents.locator('[aria-current="page"]').allTextContents()).toEqual(["Brand"]);
  });

  it("show a preview of the payment page while the brand is chosen", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/settings`);
    await untilPage(page, "Settings");
    const brand = page.getByRole("region", { name: "Brand" });
    const preview = brand.getByRole("figure", { name: "Payment page preview" });
    await brand.getByLabel("Name", { exact: true }).fill("Harbour <i>Coffee</i>");
    await preview.getByText("Harbour <i>Coffee</i>", { exact: true }).waitFor();
    await brand.getByLabel("Colour").fill("#ffee00");
    await page.keyboard.press("Tab");
    await brand.getByLabel("Support page or contact").fill("https://harbour.example/help");
    await preview.getByText("Contact Harbour <i>Coffee</i>").waitFor();
    const chosen = page.waitForEvent("filechooser");
    await brand.getByRole("button", { name: "Choose an image" }).click();
    await (await chosen).setFiles({ name: "logo.png", mimeType: "image/png", buffer: logoPng("#0f766e") });
    await brand.getByRole("img", { name: "Your logo" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await save(page, "Brand");
    const { brand: saved } = await merchant.call<Settings>("GET", "/settings");
    expect(saved).toMatchObject({ name: "Harbour <i>Coffee</i>", color: "#ffee00", logo: expect.any(String) });
  });

  it("let the owner rename and delete the merchant; other roles can only read", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/settings`);
    await untilPage(page, "Settings");
    await page.getByLabel("Merchant name").fill("Harbour Coffee");
    await page.getByRole("button", { name: "Save: Merchant" }).click();
    await page.getByText("Name changed.").waitFor();
    await page.getByRole("button", { name: "Delete merchant" }).click();
    await page.getByRole("dialog").getByLabel("to confirm").fill("Harbour Coffee");
    // The new name is announced before the answer arrives, and none of the merchant's data may be read until then.
    await page.route(`**/merchant/${merchant.id}`, async (route) => {
      if (route.request().method() !== "DELETE") return route.continue();
      const response = await route.fetch();
      await setTimeout(3 * GATHER_MS);
      await route.fulfill({ response });
    });
    await page.getByRole("dialog").getByRole("button", { name: "Delete merchant" }).click();
    await untilPage(page, "Welcome");
    const shop = await openShop(["USDT"]);
    const { page: theirs } = await browsing.visit(QUIET);
    await theirs.goto(`/console/${shop.merchantId}/settings`);
    await signIn(theirs, emailOf(shop.merchantId, "VIEWER"));
    await untilPage(theirs, "Settings");
    expect(
      await theirs
        .getByRole("main")
        .getByRole("button", { name: /Save|Delete|Choose/ })
        .count(),
    ).toBe(0);
    await expect.poll(() => theirs.getByLabel("Merchant name").isDisabled()).toBe(true);
    expect(await findings(theirs)).toEqual([]);
  });
});
