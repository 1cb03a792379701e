// Whether money can be taken now, in a browser: the answer follows what happens to a wallet and to its network.
import { expect, inject, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";
import { changeDatabase } from "./testbed.ts";

const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("Can I take money now?", () => {
  const browsing = useBrowser();

  it("is answered on Home, and for each coin on a page of its own", async () => {
    const { page } = await browsing.visit(QUIET);
    const { id } = await openMerchant(page);
    await page.goto(`/console/${id}`);
    await untilPage(page, "Home");
    await page.getByRole("link", { name: "Can I take money now?" }).click();
    await untilPage(page, "Can I take money now?");
    await page.getByText("Yes: your coin can be paid now.").waitFor();
    const coin = page.getByRole("article", { name: "ETH" });
    await coin.getByText("Yes", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Ready for a wallet" }).getByText("USDT on ETH").waitFor();
    const missing = page.getByRole("region", { name: "Not yet" });
    await missing.getByText("No source of the network's data is configured").first().waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("is no once the wallet is disabled, with the reason, and Home says so", async () => {
    const { page } = await browsing.visit(QUIET);
    const { id } = await openMerchant(page);
    changeDatabase(inject("testbed"), (database) => {
      database.prepare("update wallets set is_enabled = 0 where merchant_id = ?").run(id);
    });
    await page.goto(`/console/${id}`);
    await untilPage(page, "Home");
    await page.getByText("No: none of your coins can be paid now.").waitFor();
    await page.getByRole("link", { name: "See each coin" }).click();
    await untilPage(page, "Can I take money now?");
    const coin = page.getByRole("article", { name: "ETH" });
    await coin.getByText("The wallet is disabled.").waitFor();
    await coin.getByText("No", { exact: true }).waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("can be asked for prices in another currency, which the page's address keeps", async () => {
    const { page } = await browsing.visit(QUIET);
    const { id } = await openMerchant(page);
    await page.goto(`/console/${id}/wallets`);
    await page.getByRole("link", { name: "Can I take money now?" }).click();
    await untilPage(page, "Can I take money now?");
    const field = page.getByRole("combobox", { name: "For prices in" });
    await field.click();
    await page.getByRole("option", { name: "CHF" }).click();
    await page.waitForURL(/currency=CHF/);
    await expect.poll(() => field.inputValue()).toBe("CHF");
    await page.getByText("Yes: your coin can be paid now.").waitFor();
  });
});
