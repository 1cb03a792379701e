// Products in the console: they are created with a picture, shared, taken off sale, changed and deleted.
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/**
 * Turns transitions off, because Mantine removes an element only once its transition has ended. Tolerates the 404 for a deleted object that its page
 * rereads.
 */
const QUIET = {
  reducedMotion: "reduce",
  alsoSaid: new RegExp(`${EXPECTED_IN_CONSOLE.source}|status of 404`),
} as const;

/** A picture of one transparent pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

describeInBrowser("products", () => {
  const browsing = useBrowser();

  it("can be created with a picture, shared with a link, a QR code and a button, changed, and deleted after typing their name", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page, { isBare: true });
    await page.goto(`/console/${merchant.id}/products`);
    await page.getByText("No products yet").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Create your first product" }).click();
    const dialog = page.getByRole("dialog", { name: "New product" });
    await dialog.getByRole("button", { name: "Create product" }).click();
    await dialog.getByText("Enter what you sell").waitFor();
    await dialog.getByLabel("Name", { exact: false }).first().fill('Tea & "cake" <b>');
    await dialog.getByLabel("Price").fill("12.5");
    await dialog.locator('input[type="file"]').setInputFiles({ name: "x.png", mimeType: "image/png", buffer: PIXEL });
    await dialog.getByRole("img", { name: "The product" }).waitFor();
    await dialog.getByLabel("Phone number").check();
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create product" }).click();
    await untilPage(page, 'Tea & "cake" <b>');
    await page.getByText("$12.50").waitFor();
    await page.getByRole("img", { name: /^Image of Tea/ }).waitFor();
    await page.getByRole("img", { name: /^QR code for Tea/ }).waitFor();
    const snippet = (await page.locator("pre").textContent()) ?? "";
    expect(snippet).toContain("Buy Tea &amp; &quot;cake&quot; &lt;b&gt;");
    const [, link = ""] = /href="([^"]+)"/.exec(snippet) ?? [];
    expect((await page.request.get(link)).status()).toBe(200);
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Take off sale" }).click();
    await page.getByText("Not for sale right now").waitFor();
    expect((await page.request.get(link)).status()).not.toBe(200);
    await page.getByRole("button", { name: "Put on sale" }).click();
    await page.getByText("For sale", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    const edited = page.getByRole("dialog", { name: "Edit product" });
    await edited.getByLabel("Name", { exact: false }).first().fill("Tea");
    await edited.getByRole("button", { name: "Save" }).click();
    await untilPage(page, "Tea");
    // The picture must remain, although the form did not resend it.
    await page.getByRole("img", { name: "Image of Tea" }).waitFor();
    await page.getByRole("link", { name: "All products" }).click();
    await page.getByLabel("Search products").fill("Te");
    await page.waitForURL(/search=Te/);
    await page.getByRole("link", { name: "Tea", exact: true }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("link", { name: "Tea", exact: true }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    const deletion = page.getByRole("dialog", { name: "Delete" });
    await expect.poll(() => deletion.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    await deletion.getByRole("textbox").fill("Tea");
    await deletion.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No products yet").waitFor();
  });
});
