// Customers in the console: they are found, read with their invoices and totals, changed, and erased by typing their address.
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { createOrder, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/**
 * Turns transitions off, because Mantine removes an element only once its transition has ended. Tolerates the 404 for a deleted object that its page
 * rereads.
 */
const QUIET = {
  reducedMotion: "reduce",
  alsoSaid: new RegExp(`${EXPECTED_IN_CONSOLE.source}|status of 404`),
} as const;

describeInBrowser("customers", () => {
  const browsing = useBrowser();

  it("can be found, viewed with their invoices and totals, changed, and permanently erased", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    await page.goto(`/console/${merchant.id}/customers`);
    await page.getByText("No customers yet").waitFor();
    expect(await findings(page)).toEqual([]);
    await createOrder(merchant, "Order 9001", { customerEmail: "ada@example.com", customerName: "Ada Byron" });
    await createOrder(merchant, "Order 9002", { customerEmail: "bob@example.com" });
    await page.reload();
    await page.getByRole("link", { name: "bob@example.com" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByLabel("Search customers").fill("Ada");
    await page.waitForURL(/search=Ada/);
    await page.getByRole("link", { name: "bob@example.com" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Ada Byron" }).click();
    await untilPage(page, "Ada Byron");
    const invoices = page.getByRole("region", { name: "Invoices" });
    await invoices.getByRole("link", { name: "Order 9001" }).waitFor();
    expect(await invoices.getByRole("link", { name: "Order 9002" }).count()).toBe(0);
    await page.getByRole("region", { name: "Totals" }).getByText("Nothing yet").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Ada Lovelace");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await untilPage(page, "Ada Lovelace");
    await page.getByRole("button", { name: "Erase" }).click();
    const erasure = page.getByRole("dialog", { name: "Erase" });
    await erasure.getByRole("textbox").fill("ada@example.org");
    await expect.poll(() => erasure.getByRole("button", { name: "Erase" }).isDisabled()).toBe(true);
    expect(await findings(page)).toEqual([]);
    await erasure.getByRole("textbox").fill("ada@example.com");
    await erasure.getByRole("button", { name: "Erase" }).click();
    await untilPage(page, "Customers");
    await page.getByRole("link", { name: "bob@example.com" }).waitFor();
    await expect.poll(() => page.getByText("Ada").count()).toBe(0);
    await page.getByRole("button", { name: "New customer" }).click();
    const made = page.getByRole("dialog", { name: "New customer" });
    await made.getByRole("button", { name: "Create customer" }).click();
    await made.getByText("Enter a name or an email address").waitFor();
    await made.getByLabel("Name").fill("Grace Hopper");
    await made.getByLabel("Address").fill("Harbour street 1");
    expect(await findings(page)).toEqual([]);
    await made.getByRole("button", { name: "Create customer" }).click();
    await untilPage(page, "Grace Hopper");
    await page.getByRole("region", { name: "Details" }).getByText("Harbour street 1").waitFor();
    const kept = await merchant.call<{ readonly data: readonly object[] }>("GET", "/invoices");
    expect(kept.data.length).toBe(2);
    expect(JSON.stringify(kept)).not.toContain("ada@example.com");
  });
});
