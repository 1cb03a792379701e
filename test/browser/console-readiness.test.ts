// Whether the console says correctly that the shop can accept payments now: the answer must change with the state of a wallet and of its network.
import { expect, inject, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";
import { changeDatabase } from "./testbed.ts";

const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("Can I accept payments now?", () => {
  const browsing = useBrowser();

  it("is answered on a page that Home links to, for all coins and for each one", async () => {
    const { page } = await browsing.visit(QUIET);
    const { id } = await openMerchant(page);
    await page.goto(`/console/${id}`);
    await untilPage(page, "Home");
    await page.getByRole("link", { name: "Can I accept payments now?" }).click();
    await untilPage(page, "Can I accept payments now?");
    await page.getByText("Yes: customers can pay with your coin.").waitFor();
    const coin = page.getByRole("article", { name: "ETH" });
    await coin.getByText("Yes", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Ready to add" }).getByText("USDT on ETH").waitFor();
    const missing = page.getByRole("region", { name: "Not available yet" });
    await missing.getByText("No data source is configured for this network").first().waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("is answered with No once the wallet is disabled, on Home and, with the reason, on the page that lists all coins", async () => {
    const { page } = await browsing.visit(QUIET);
    const { id } = await openMerchant(page);
    changeDatabase(inject("testbed"), (database) => {
      database.prepare("update wallets set is_enabled = 0 where merchant_id = ?").run(id);
    });
    await page.goto(`/console/${id}`);
    await untilPage(page, "Home");
    await page.getByText("No: customers cannot pay with any of your coins.").waitFor();
    await page.getByRole("link", { name: "View all coins" }).click();
    await untilPage(page, "Can I accept payments now?");
    const coin = page.getByRole("article", { name: "ETH" });
    await coin.getByText("The wallet is disabled.").waitFor();
    await coin.getByText("No", { exact: true }).waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("can be answered for prices in another currency, which stays in the page's URL", async () => {
    const { page } = await browsing.visit(QUIET);
    const { id } = await openMerchant(page);
    await page.goto(`/console/${id}/wallets`);
    await page.getByRole("link", { name: "Can I accept payments now?" }).click();
    await untilPage(page, "Can I accept payments now?");
    const field = page.getByRole("combobox", { name: "Price currency" });
    await field.click();
    await page.getByRole("option", { name: "CHF" }).click();
    await page.waitForURL(/currency=CHF/);
    await expect.poll(() => field.inputValue()).toBe("CHF");
    await page.getByText("Yes: customers can pay with your coin.").waitFor();
  });
});
