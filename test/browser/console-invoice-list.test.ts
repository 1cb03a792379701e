// The list of invoices: filtered by days, currency, amount and coin, exported with the same filters, and several invoices changed at once.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { createOrder, type OrderFacts, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("the list of invoices", () => {
  const browsing = useBrowser();

  async function atThree() {
    const { page } = await browsing.visit({ ...QUIET, permissions: ["clipboard-read", "clipboard-write"] });
    const merchant = await openMerchant(page);
    const orders = [
      await createOrder(merchant, "Order 1"),
      await createOrder(merchant, "=Order 2", { currency: "EUR" }),
      await createOrder(merchant, "Order 3", { currency: "EUR" }),
    ];
    await page.goto(`/console/${merchant.id}/invoices`);
    await untilPage(page, "Invoices");
    return { page, merchant, orders };
  }

  it("can be filtered by days and currency, keeps the filter in the page's URL, and exports the filtered invoices", async () => {
    const { page } = await atThree();
    await choose(page, "Currency", "EUR");
    await page.waitForURL(/currency=EUR/);
    await expect.poll(() => namesIn(page)).toEqual(["Order 3", "=Order 2"]);
    await choose(page, "Created", "Last month");
    await page.waitForURL(/from=.*to=/);
    await page.getByText("No matching invoices").waitFor();
    await choose(page, "Created", "Last 7 days");
    await expect.poll(() => namesIn(page)).toEqual(["Order 3", "=Order 2"]);
    await page.reload();
    await untilPage(page, "Invoices");
    expect(await page.getByRole("combobox", { name: "Created" }).inputValue()).toBe("Last 7 days");
    expect(await findings(page)).toEqual([]);
    const lines = await savedBy(page, "Export as CSV");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain("id,name,order_number,status");
    // No spreadsheet may read a name as a formula.
    expect(lines[2]).toContain(`"'=Order 2"`.replaceAll('"', ""));
    await page.getByText("2 invoices were exported.").waitFor();
  });

  it("can be filtered by amount and by the coin that was paid with, and shows why an amount cannot be read", async () => {
    const { page, merchant } = await atThree();
    await createOrder(merchant, "Order 4", { rawAmount: 1_250.5 });
    const wallet = { cryptocurrency: "USDT", network: "ETH", walletType: "DIRECT_WALLET", address: merchant.address };
    await merchant.call("POST", "/wallets", wallet);
    await page.reload();
    await page.getByLabel("Amount from").fill("1250");
    await page.waitForURL(/amountFrom=/);
    await expect.poll(() => namesIn(page)).toEqual(["Order 4"]);
    await page.getByLabel("Amount from").fill("1,250");
    await page
      .getByText(/can be read as/)
      .first()
      .waitFor();
    await page.getByLabel("Amount from").fill("");
    await page.getByLabel("Amount to").fill("49.9");
    await expect.poll(() => namesIn(page)).toEqual(["Order 3", "=Order 2", "Order 1"]);
    await page.reload();
    await untilPage(page, "Invoices");
    expect(await page.getByLabel("Amount to").inputValue()).toBe("49.9");
    expect(await findings(page)).toEqual([]);
    await choose(page, "Paid with", "USDT on ETH");
    await page.waitForURL(/cryptocurrency=USDT.*network=ETH/);
    await page.getByText("No matching invoices").waitFor();
    await page.getByRole("button", { name: "Show all invoices" }).click();
    await expect.poll(() => namesIn(page)).toHaveLength(4);
    expect(await page.getByLabel("Amount to").inputValue()).toBe("");
  });

  it("lets a user select rows with the keyboard, and copy, export and cancel the selected invoices", async () => {
    const { page, merchant, orders } = await atThree();
    await merchant.call("POST", `/invoices/${orders[0]?.id}/cancel`);
    await page.getByRole("checkbox", { name: "Select all on this page" }).press("Space");
    await page.getByText("3 invoices selected").waitFor();
    await page.getByRole("checkbox", { name: "Select Order 3" }).press("Space");
    const selected = page.getByRole("region", { name: "Selected invoices" });
    await selected.getByText("2 invoices selected").waitFor();
    await selected.getByRole("button", { name: "Copy links" }).press("Enter");
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied.split("\n").map((link) => new URL(link).pathname)).toEqual(
      [orders[1]?.id, orders[0]?.id].map((id) => `/pay/${id}`),
    );
    expect(await savedBy(page, "Export selected")).toHaveLength(3);
    expect(await findings(page)).toEqual([]);
    await selected.getByRole("button", { name: "Cancel 1 invoice" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Cancel 1 invoice" });
    await dialog.getByText("The other selected invoice can no longer be cancelled").waitFor();
    await dialog.getByRole("button", { name: "Cancel 1 invoice" }).press("Enter");
    await page.getByText("1 invoice cancelled.").waitFor();
    await selected.waitFor({ state: "detached" });
    const states = async () => {
      const { data } = await merchant.call<{ readonly data: readonly OrderFacts[] }>("GET", "/invoices");
      return data.map(({ status }) => status);
    };
    expect(await states()).toEqual(["AWAITING_PAYMENT", "CANCELLED", "CANCELLED"]);
  });

  it("shows a preview of an invoice, with the time between its steps", async () => {
    const { page, merchant, orders } = await atThree();
    await merchant.call("POST", `/invoices/${orders[2]?.id}/cancel`);
    await page.reload();
    await untilPage(page, "Invoices");
    await page.getByRole("button", { name: "Actions for Order 3" }).press("Enter");
    await page.getByRole("menuitem", { name: "Preview" }).press("Enter");
    const preview = page.getByRole("dialog", { name: "Order 3" });
    await preview.getByRole("region", { name: "Summary" }).getByText("€49.90").first().waitFor();
    await preview.getByText(/ (sec|min).* later$/).waitFor();
    expect(await findings(page)).toEqual([]);
    await preview.getByRole("link", { name: "View invoice" }).press("Enter");
    await untilPage(page, "Order 3");
    await preview.waitFor({ state: "detached" });
  });
});

function namesIn(page: Page): Promise<readonly string[]> {
  return page.locator(".row-link").allTextContents();
}

async function choose(page: Page, filter: string, option: string): Promise<void> {
  await page.getByRole("combobox", { name: filter }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

/** The lines of a file that a button produces, without empty lines at its end. */
async function savedBy(page: Page, button: string): Promise<readonly string[]> {
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  return readFileSync(await (await saved).path(), "utf8")
    .trimEnd()
    .split("\r\n");
}
