// Wallets in the console: registered with their first addresses to compare, followed, changed, and deleted once nothing pays to them.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { randomHex, xpubWallet } from "../support/wallet-bodies.ts";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { type ConsoleMerchant, createOrder, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, until, useBrowser } from "./harness.ts";
import { changeDatabase } from "./street.ts";

/** Mantine puts what moves away at the end of its transition. A deletion is refused, and what was deleted is read once more. */
const QUIET = {
  reducedMotion: "reduce",
  alsoSaid: new RegExp(`${EXPECTED_IN_CONSOLE.source}|status of 40[49]`),
} as const;

interface WalletFacts {
  readonly id: string;
  readonly requiredConfirmations: number;
  readonly isEnabled: boolean;
}

describeInBrowser("wallets", () => {
  const browsing = useBrowser();

  async function atWallets(options: { readonly isBare?: boolean } = {}) {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page, options);
    await page.goto(`/console/${merchant.id}/wallets`);
    await untilPage(page, "Wallets");
    return { page, merchant };
  }

  const walletsOf = (merchant: ConsoleMerchant) => merchant.call<readonly WalletFacts[]>("GET", "/wallets");

  const confirm = async (page: Page, action: string) => {
    await page.getByRole("button", { name: action, exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click();
  };

  it("are registered with the first five addresses to compare, and never from a private key", async () => {
    const { page, merchant } = await atWallets({ isBare: true });
    await page.getByText("No wallet yet").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Add the first wallet" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a wallet" });
    const field = dialog.getByLabel("Address or extended public key");
    await field.fill(randomHex(32));
    await dialog.getByText("This looks like a private key or recovery phrase").waitFor();
    await field.fill(xpubWallet().xpub);
    await dialog.getByText("An extended public key: every invoice gets").waitFor();
    await until(
      () => dialog.getByRole("row").count(),
      (rows) => rows === 6,
      120_000,
    );
    await dialog.getByText("Recommended here: 3.").waitFor();
    await dialog.getByLabel("Confirmations").fill("1");
    await dialog.getByText("With fewer than 3 a payment may count and then vanish").waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Add the wallet" }).click();
    await dialog.getByText("1 of 3 recommended confirmations").waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "BTC" }).waitFor();
    expect((await walletsOf(merchant)).map(({ requiredConfirmations }) => requiredConfirmations)).toEqual([1]);
  });

  it("with an extended key show their addresses and changes, and what recovers them", async () => {
    const { page, merchant } = await atWallets({ isBare: true });
    await merchant.call("POST", "/wallets", { ...xpubWallet(), requiredConfirmations: 1 });
    await page.reload();
    await page.getByRole("link", { name: "BTC" }).click();
    await untilPage(page, "BTC");
    await page.getByText("1 of 3 recommended confirmations").waitFor();
    await until(
      () => page.getByRole("region", { name: "First addresses" }).getByRole("row").count(),
      (rows) => rows === 6,
      120_000,
    );
    await page.getByRole("region", { name: "Changes" }).getByText("Registered by").waitFor();
    expect(await findings(page)).toEqual([]);
    const link = page.getByRole("link", { name: "Download as CSV" });
    const recovery = await page.request.get((await link.getAttribute("href")) ?? "");
    expect(recovery.headers()["content-type"]).toMatch(/^text\/csv/);
    await page.getByLabel("Required confirmations").fill("4");
    await page.getByRole("region", { name: "Confirmations" }).getByRole("button", { name: "Save" }).click();
    await page.getByText("Confirmations changed from 1 to 4").waitFor();
    expect((await walletsOf(merchant))[0]?.requiredConfirmations).toBe(4);
  });

  it("are disabled and enabled, and deleted once the invoices that block it are over", async () => {
    const { page, merchant } = await atWallets();
    const order = await createOrder(merchant, "Order 8001");
    await page.getByRole("link", { name: "ETH" }).click();
    await untilPage(page, "ETH");
    expect(await findings(page)).toEqual([]);
    await confirm(page, "Disable");
    await page.getByText("Disabled", { exact: true }).waitFor();
    await confirm(page, "Delete");
    await page.getByText("Open invoices block the deletion").waitFor();
    await page.getByRole("alert").getByRole("link", { name: "Order 8001" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await confirm(page, "Enable");
    await page.getByText("In use", { exact: true }).waitFor();
    await merchant.call("POST", `/invoices/${order.id}/cancel`);
    await confirm(page, "Delete");
    await untilPage(page, "Wallets");
    expect(await walletsOf(merchant)).toEqual([]);
  });

  it("that wait for their delay are shown with who asked for them, and can be disabled at once", async () => {
    const { page, merchant } = await atWallets();
    changeDatabase(inject("street"), (database) => {
      const inAnHour = Date.now() + 3_600_000;
      database.prepare("UPDATE wallets SET usable_from_ms = ? WHERE merchant_id = ?").run(inAnHour, merchant.id);
    });
    await page.reload();
    const pending = page.getByRole("alert").filter({ hasText: "Changes that are not in effect yet" });
    await pending.getByText(/was registered by user-/).waitFor();
    expect(await findings(page)).toEqual([]);
    await pending.getByRole("button", { name: "Disable the wallet: ETH" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable the wallet" }).click();
    await page.getByText("Disabled", { exact: true }).waitFor();
    expect((await walletsOf(merchant))[0]?.isEnabled).toBe(false);
  });
});
