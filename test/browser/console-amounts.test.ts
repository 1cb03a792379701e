// Amounts typed into the console in browsers of several countries: the service must store the amount that the field showed, and ambiguous text must
// not be sent.
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { follow, goTo } from "./console-links.ts";
import { type ConsoleMerchant, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

/** Amounts as users in a country type them, and the values that the service must store. */
const COUNTRIES = [
  {
    locale: "en-US",
    typed: [
      { text: "1,234", shown: "= $1,234.00", stored: "1234.000000" },
      { text: "1,234.50", shown: "= $1,234.50", stored: "1234.500000" },
    ],
    refused: { text: "1.234", why: "“1.234” can be read as $1.234 or as $1,234.00. Write 1.23 or 1234" },
  },
  {
    locale: "de-DE",
    typed: [
      { text: "1.234,50", shown: "= 1.234,50 $", stored: "1234.500000" },
      { text: "1,234.50", shown: "= 1.234,50 $", stored: "1234.500000" },
    ],
    refused: { text: "1,234", why: "“1,234” can be read as 1,234 $ or as 1.234,00 $. Write 1,23 or 1234" },
  },
  {
    locale: "en-IN",
    typed: [{ text: "1,23,456.75", shown: "= $1,23,456.75", stored: "123456.750000" }],
    refused: { text: "1.234", why: "“1.234” can be read as $1.234 or as $1,234.00. Write 1.23 or 1234" },
  },
  {
    locale: "fr-CH",
    typed: [{ text: "1’234.50", shown: /^= .*234[.,]50/, stored: "1234.500000" }],
    refused: { text: "1,234", why: /^“1,234” can be read as .* or as .*\. Write 1,23 or 1234$/ },
  },
  {
    locale: "ar-EG",
    typed: [{ text: "١٬٢٣٤٫٥٠", shown: /^= .*١٬٢٣٤٫٥٠/, stored: "1234.500000" }],
    refused: { text: "1.234", why: /^“1\.234” can be read as .* or as .*\. Write 1\.23 or 1234$/ },
  },
] as const;

async function openNewInvoice(page: Page, merchant: ConsoleMerchant, name: string): Promise<Locator> {
  await goTo(page, `/console/${merchant.id}/invoices`);
  await page.getByRole("button", { name: "New invoice" }).click();
  const dialog = page.getByRole("dialog", { name: "New invoice" });
  await dialog.getByLabel("Name", { exact: false }).first().fill(name);
  return dialog;
}

interface Priced {
  readonly data: readonly { readonly rawAmount: string }[];
}

describeInBrowser("typed amounts", () => {
  const browsing = useBrowser();

  it.each(COUNTRIES)("are read in the number format of $locale", async ({ locale, typed, refused }) => {
    const { page } = await browsing.visit({ ...QUIET, locale });
    const merchant = await openMerchant(page);
    for (const { text, shown, stored } of typed) {
      const dialog = await openNewInvoice(page, merchant, `For ${text}`);
      await dialog.getByLabel("Amount").pressSequentially(text);
      await dialog.getByText(shown).waitFor();
      await dialog.getByRole("button", { name: "Create invoice" }).click();
      await untilPage(page, `For ${text}`);
      const { data } = await merchant.call<Priced>("GET", "/invoices?limit=1");
      expect([text, data[0]?.rawAmount]).toEqual([text, stored]);
    }
    const dialog = await openNewInvoice(page, merchant, "Not made");
    await dialog.getByLabel("Amount").pressSequentially(refused.text);
    await dialog.getByText(refused.why).waitFor();
    await dialog.getByRole("button", { name: "Create invoice" }).click();
    await expect.poll(() => dialog.getByLabel("Amount").getAttribute("aria-invalid")).toBe("true");
    await dialog.getByText(refused.why).waitFor();
    expect(await findings(page)).toEqual([]);
    const { data } = await merchant.call<Priced>("GET", "/invoices");
    expect(data).toHaveLength(typed.length);
  });

  it("are stored as typed in every dialog and form, and saving them again unchanged changes nothing", async () => {
    const { page } = await browsing.visit({ ...QUIET, locale: "de-DE" });
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/products`);
    await page.getByRole("button", { name: "Create your first product" }).click();
    const made = page.getByRole("dialog", { name: "New product" });
    await made.getByLabel("Name", { exact: false }).first().fill("Machine");
    await made.getByLabel("Price").pressSequentially("1.234,50");
    await made.getByRole("button", { name: "Create product" }).click();
    await untilPage(page, "Machine");
    const readPrice = async () => {
      const { data } = await merchant.call<{ readonly data: readonly { readonly price: string }[] }>(
        "GET",
        "/products",
      );
      return data[0]?.price;
    };
    expect(await readPrice()).toBe("1234.500000");
    await page.getByRole("button", { name: "Edit" }).click();
    const edited = page.getByRole("dialog", { name: "Edit product" });
    expect(await edited.getByLabel("Price").inputValue()).toBe("1234,5");
    await edited.getByRole("button", { name: "Save" }).click();
    await edited.waitFor({ state: "detached" });
    expect(await readPrice()).toBe("1234.500000");
    await follow(page, `/console/${merchant.id}/settings`);
    await untilPage(page, "Settings");
    const quorum = page.getByLabel("Require two data sources from this amount");
    await quorum.fill("");
    await quorum.pressSequentially("12.500");
    await page.getByText("“12.500” can be read as 12.500 or as 12,5. Write 12500 or 12,5").waitFor();
    await quorum.fill("12.500,75");
    await page.getByText("= 12.500,75").waitFor();
    await page.getByLabel("Created by your server and team").fill("1.500");
    await page.getByRole("button", { name: "Save: When an invoice is paid" }).click();
    await page.getByText("Settings saved.").first().waitFor();
    await page.getByRole("button", { name: "Close the notice" }).first().click();
    await page.getByRole("button", { name: "Save: Limits" }).click();
    // The notice about the first save may still be closing.
    await expect
      .poll(() => merchant.call("GET", "/settings"))
      .toMatchObject({ quorumAboveAmount: "12500.750000", maxActiveInvoices: 1500 });
  });
});
