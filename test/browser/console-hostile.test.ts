// Texts that strangers and colleagues may write, in every field that takes one, on every page that shows one. None may run, each must be shown
// unchanged, and no page may get wider than a phone. A violation of the content policy, a request to another origin or an error in the console also
// fails the test (support/page-visit.ts).
import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE, freshAddress, untilPage } from "./console-harness.ts";
import { expectFit, HOSTILE_AGENT, long, PHONE, TEXTS } from "./console-hostile-texts.ts";
import { follow } from "./console-links.ts";
import { describeInBrowser, openShop, type PageShop, useBrowser } from "./harness.ts";
import { changeDatabase, emailOf } from "./testbed.ts";

describeInBrowser("hostile texts", () => {
  const browsing = useBrowser();

  /** The page of an owner whose browser sends a hostile user agent. A browser dialog means that a text ran as code. */
  async function ownerOf(shop: PageShop): Promise<{ readonly page: Page; readonly ran: readonly string[] }> {
    const { page } = await browsing.visit({
      reducedMotion: "reduce",
      alsoSaid: EXPECTED_IN_CONSOLE,
      viewport: PHONE,
      userAgent: HOSTILE_AGENT,
    });
    const ran: string[] = [];
    page.on("dialog", (dialog) => {
      ran.push(dialog.message());
      void dialog.dismiss();
    });
    await enter(page.context(), shop.baseUrl, emailOf(shop.merchantId, "OWNER"));
    return { page, ran };
  }

  describe.each(Object.entries(TEXTS))("such as %s", (_, text) => {
    it("are shown as text on every page that contains them, and fit a phone", async () => {
      const shop = await openShop(["USDT"]);
      const { id, productId } = await makeOf(shop, text);
      const { page, ran } = await ownerOf(shop);
      await page.goto(`/console/${shop.merchantId}/invoices`);
      await untilPage(page, "Invoices");
      await expectFit(page, "the list");
      await expect.poll(() => page.getByRole("main").getByRole("link").first().textContent()).toBe(text);
      await page.getByRole("button", { name: "Menu", exact: true }).click();
      const menu = page.getByRole("navigation", { name: "Console" });
      await menu.getByText(text, { exact: true }).first().waitFor();
      await menu.getByRole("link", { name: "Home" }).click();
      await untilPage(page, "Home");
      await page
        .getByRole("button", { name: / · Invoices to review$/ })
        .first()
        .click();
      await expect.poll(() => page.getByRole("article").getByRole("link").first().textContent()).toContain(text);
      await expectFit(page, "Home");
      await follow(page, `/console/${shop.merchantId}/payments`);
      const waiting = page.getByRole("region", { name: "Invoices that need a decision" });
      await expect.poll(() => waiting.getByRole("link").first().textContent()).toBe(text);
      await expectFit(page, "the payments to review");
      await follow(page, `/console/${shop.merchantId}/invoices/${id}`);
      await page.getByText("Marked as returned").waitFor();
      await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toBe(text);
      expect(await page.title()).toContain("Edgetill");
      await expectFit(page, "an invoice");
      for (const part of ["Order number", "Product", "Customer"])
        await expect.poll(() => page.getByText(part, { exact: true }).count(), { message: part }).toBeGreaterThan(0);
      await follow(page, `/console/${shop.merchantId}/products`);
      await expectRow(page, "Products", text);
      await follow(page, `/console/${shop.merchantId}/products/${productId}`);
      await page.getByRole("button", { name: "Edit" }).click();
      expect(await page.getByRole("dialog").getByRole("textbox", { name: "Name", exact: true }).inputValue()).toBe(
        text,
      );
      await expectFit(page, "the form of a product");
      await page.keyboard.press("Escape");
      await expectHeading(page, "a product", text);
      const site = await page.context().newPage();
      await site.setContent((await page.locator("pre").textContent()) ?? "");
      expect((await site.locator("body").textContent())?.trim(), "the button").toBe(`Buy ${text}`.trim());
      await follow(page, `/console/${shop.merchantId}/customers`);
      await expectRow(page, "Customers", text);
      await page.getByRole("main").getByRole("link").first().click();
      await page
        .getByRole("region", { name: "Invoices" })
        .getByRole("link", { name: "View in invoice list" })
        .waitFor();
      await expectHeading(page, "a customer", text);
      await page.getByRole("button", { name: "Erase" }).click();
      await expectFit(page, "the erasure of a customer");
      await follow(page, `/console/${shop.merchantId}/wallets`);
      await expectRow(page, "Wallets", "USDT on ETHOne address");
      await page.locator(".row-link").first().click();
      await page
        .getByRole("region", { name: "Changes" })
        .getByText(/^Added by/)
        .waitFor();
      await expectHeading(page, "a wallet", "USDT on ETH");
      expect(ran).toEqual([]);
    });

    it("are shown as text where a user types them", async () => {
      const shop = await openShop(["USDT"]);
      const { page, ran } = await ownerOf(shop);
      await page.goto(`/console/${shop.merchantId}/invoices?search=${encodeURIComponent(text)}`);
      await page.getByText("No matching invoices").waitFor();
      expect(await page.getByLabel("Search invoices").inputValue()).toBe(text);
      await page.getByRole("button", { name: "New invoice" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(text);
      await dialog.getByLabel("Amount").fill("5");
      await dialog.getByLabel("Order number").fill(text);
      await dialog.getByLabel("Description").fill(long(text, 1_000));
      await expectFit(page, "the form");
      await dialog.getByLabel("Customer's email").fill(text);
      await dialog.getByRole("button", { name: "Create invoice" }).click();
      await dialog.getByText("Enter an email address, or leave this empty").waitFor();
      await dialog.getByLabel("Customer's email").fill("");
      await dialog.getByRole("button", { name: "Create invoice" }).click();
      await page.getByRole("heading", { level: 1, name: "Invoices", exact: true }).waitFor({ state: "detached" });
      expect((await page.getByRole("heading", { level: 1 }).textContent())?.trim()).toBe(text.trim());
      await follow(page, "/console/account");
      await untilPage(page, "Account");
      await page.getByLabel("Name", { exact: true }).fill(text);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Name changed.").waitFor();
      await page.getByText("Chrome", { exact: true }).first().waitFor();
      await expectFit(page, "the account");
      expect(ran).toEqual([]);
    });
  });

  it("are isolated from the direction of the surrounding text where an invited user sees them", async () => {
    const shop = await openShop(["USDT"]);
    const name = TEXTS["a text that turns round"];
    await shop.call("PATCH", "", { name });
    const owner = await ownerOf(shop);
    const email = freshAddress();
    const invited = await owner.page
      .context()
      .request.post(`${shop.baseUrl}/api/v1/merchants/merchant/${shop.merchantId}/team/invitations`, {
        data: { email, role: "VIEWER" },
        headers: { origin: shop.baseUrl },
      });
    expect(invited.ok()).toBe(true);
    const { page } = await browsing.visit({ reducedMotion: "reduce", viewport: PHONE });
    await enter(page.context(), shop.baseUrl, email);
    await page.goto("/invitations");
    const shown = page.locator("bdi", { hasText: "Invoice" });
    await shown.waitFor();
    expect(await shown.textContent()).toBe(name);
    await expectFit(page, "the invitations");
  });
});

/**
 * Creates a merchant, a product, a customer, an invoice that needs a decision and a decided one, all with this text. Returns the ids of the decided
 * invoice and of the product.
 */
async function makeOf(shop: PageShop, text: string): Promise<{ readonly id: string; readonly productId: string }> {
  await shop.call("PATCH", "", { name: text });
  const { id: productId } = await shop.call<{ readonly id: string }>("POST", "/products", {
    name: text,
    description: long(text, 1_000),
    price: 5,
  });
  const waiting = await shop.createInvoice({ name: text, externalId: `${text.slice(0, 60)} 2` });
  const { id } = await shop.createInvoice({
    name: text,
    description: long(text, 500),
    productId,
    rawAmount: 5,
    customerEmail: `${"w".repeat(64)}@${"example".repeat(8)}.com`,
    customerName: text,
    externalId: text,
    metadata: { [text.slice(0, 40)]: text, long: long(text, 500) },
  });
  for (const each of [waiting.id, id]) await shop.cancelInvoice(each);
  changeDatabase(inject("testbed"), (database) => {
    database.prepare("UPDATE invoices SET needs_review = 1 WHERE id IN (?, ?)").run(waiting.id, id);
  });
  const reason = long(text, 500);
  await shop.call("POST", `/invoices/${id}/resolve`, { action: "RETURNED", reason, txHash: long(text, 100) });
  return { id, productId };
}

/** Expects the first row in a list to have this name, and the list to fit the window. */
async function expectRow(page: Page, list: string, text: string): Promise<void> {
  await untilPage(page, list);
  await expect.poll(() => page.locator(".row-link").first().textContent(), { message: list }).toBe(text);
  await expectFit(page, list);
}

async function expectHeading(page: Page, what: string, text: string): Promise<void> {
  await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent(), { message: what }).toBe(text);
  await expectFit(page, what);
}
