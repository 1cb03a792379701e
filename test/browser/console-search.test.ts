// The search with Ctrl-K in a browser: it must find what the merchant has, and link to it.
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, freshAddress, untilPage } from "./console-harness.ts";
import { addInvoice, ownerAtHome } from "./console-member.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("Ctrl-K", () => {
  const browsing = useBrowser();

  it("finds an invoice by its order number, and a customer with their invoices", async () => {
    const { page } = await browsing.visit(QUIET);
    const member = await ownerAtHome(page, freshAddress());
    const paymentMethods: readonly never[] = [];
    await addInvoice(member, {
      name: "Order 1001",
      externalId: "SHOP-77",
      customerEmail: "ann@example.com",
      paymentMethods,
    });
    await addInvoice(member, {
      name: "Order 1002",
      externalId: "SHOP-78",
      customerEmail: "bob@example.com",
      paymentMethods,
    });
    const field = page.getByRole("textbox", { name: "Find a page, an invoice or a customer" });
    await page.keyboard.press("Control+k");
    await field.fill("SHOP-77");
    await page.getByRole("dialog").getByText("Order 1001").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await untilPage(page, "Order 1001");
    await page.keyboard.press("Control+k");
    await field.fill("bob@example");
    await page.getByRole("dialog").getByText("bob@example.com", { exact: true }).click();
    await untilPage(page, "bob@example.com");
    await page.getByRole("region", { name: "Invoices" }).getByRole("link", { name: "Order 1002" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Order 1001" }).count()).toBe(0);
    await page.getByRole("link", { name: "View in invoice list" }).click();
    await untilPage(page, "Invoices");
    await expect.poll(() => page.locator(".row-link").allTextContents()).toEqual(["Order 1002"]);
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Clear customer filter" }).click();
    await page.getByRole("link", { name: "Order 1001" }).waitFor();
  });

  it("finds an invoice by any word, part of its number, customer or amount, and, like the list of invoices, shows what matched", async () => {
    const { page } = await browsing.visit(QUIET);
    const member = await ownerAtHome(page, freshAddress());
    const paymentMethods: readonly never[] = [];
    await addInvoice(member, {
      name: "Blue winter jacket",
      externalId: "ORD-2026-00123",
      customerEmail: "zoe@example.com",
      customerName: "Zoë Ångström",
      rawAmount: 1234.5,
      paymentMethods,
    });
    await addInvoice(member, { name: "Red scarf", externalId: "ORD-2027-00999", rawAmount: 5, paymentMethods });
    const field = page.getByRole("textbox", { name: "Find a page, an invoice or a customer" });
    const dialog = page.getByRole("dialog");
    const texts = {
      WINTER: "found by its name",
      "ord-2026": "found by its order number",
      angstrom: "found by its customer's name",
      "zoe@": "found by its customer's email",
      "1,234.50": "found by its amount",
    };
    for (const [text, why] of Object.entries(texts)) {
      await page.keyboard.press("Control+k");
      await field.fill(text);
      await dialog.getByText(why).waitFor();
      await dialog.getByText("Blue winter jacket").waitFor();
      expect(await dialog.getByText("Red scarf").count()).toBe(0);
      expect(await findings(page)).toEqual([]);
      await page.keyboard.press("Escape");
    }
    await page.getByRole("link", { name: "Invoices", exact: true }).click();
    await untilPage(page, "Invoices");
    const rows = () => page.locator(".row-link").allTextContents();
    await expect.poll(rows).toEqual(["Red scarf", "Blue winter jacket"]);
    for (const text of ["jacket BLUE", "123", "ÅNGSTRÖM", "1234.50", "zoe@example.com"]) {
      await page.getByLabel("Search invoices").fill(text);
      await expect.poll(rows).toEqual(["Blue winter jacket"]);
      await page.getByLabel("Search invoices").fill("");
      await expect.poll(rows).toEqual(["Red scarf", "Blue winter jacket"]);
    }
    await page.getByLabel("Search invoices").fill("nothing like it");
    await page.getByText("No matching invoices").waitFor();
    expect(await findings(page)).toEqual([]);
  });
});
