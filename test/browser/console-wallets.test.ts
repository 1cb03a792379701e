// Wallets in the console: they are registered with their first addresses to compare, tracked, changed, and deleted once no open invoice uses them.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { rpcAt } from "../../scripts/demo-story/rpc.ts";
import { networkNamed } from "../../src/chains/registry/networks.ts";
import { randomHex, xpubWallet } from "../support/wallet-bodies.ts";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { type ConsoleMerchant, createOrder, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, REQUIRED, until, useBrowser } from "./harness.ts";
import { changeDatabase } from "./testbed.ts";

/**
 * Turns transitions off, because Mantine removes an element only once its transition has ended. Tolerates the 409 for a refused deletion, and the 404
 * for a deleted object that its page rereads.
 */
const QUIET = {
  reducedMotion: "reduce",
  alsoSaid: new RegExp(`${EXPECTED_IN_CONSOLE.source}|status of 40[49]`),
} as const;

interface WalletFacts {
  readonly id: string;
  readonly cryptocurrency: string;
  readonly network: string;
  readonly address: string | null;
  readonly requiredConfirmations: number;
  readonly isEnabled: boolean;
}

/** The networks' answers are faked, because only Ethereum has a source here. Registrations are real. */
async function answerWith(page: Page, address: string, states: Readonly<Record<string, string>>) {
  const coins = (network: string) =>
    (networkNamed(network)?.assets ?? []).map(({ code }) => ({ cryptocurrency: code, walletId: null }));
  const networks = Object.entries({ ETH: "FREE", ...states }).map(([network, state]) => ({
    network,
    state,
    coins: coins(network),
  }));
  await page.route("**/wallets/*/networks", (route) => route.fulfill({ json: { address, networks } }));
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

  it("are registered after the first five addresses were shown for comparison, and never from a private key", async () => {
    const { page, merchant } = await atWallets({ isBare: true });
    await page.getByText("No wallets yet").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Add your first wallet" }).click();
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
    await dialog.getByText("With fewer than 3 confirmations, a payment may count and then disappear").waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Add wallet" }).click();
    await dialog.getByText("1 of 3 recommended confirmations").waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "BTC" }).waitFor();
    expect((await walletsOf(merchant)).map(({ requiredConfirmations }) => requiredConfirmations)).toEqual([1]);
  });

  it("with an extended key show their addresses, their history of changes, and a recovery file to download", async () => {
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
    await page.getByRole("region", { name: "Changes" }).getByText("Added by").waitFor();
    expect(await findings(page)).toEqual([]);
    const link = page.getByRole("link", { name: "Download as CSV" });
    const recovery = await page.request.get((await link.getAttribute("href")) ?? "");
    expect(recovery.headers()["content-type"]).toMatch(/^text\/csv/);
    await page.getByLabel("Required confirmations").fill("4");
    await page.getByRole("region", { name: "Confirmations" }).getByRole("button", { name: "Save" }).click();
    await page.getByText("Confirmations changed from 1 to 4").waitFor();
    expect((await walletsOf(merchant))[0]?.requiredConfirmations).toBe(4);
  });

  it("can be disabled and enabled, and can be deleted once no open invoice uses them", async () => {
    const { page, merchant } = await atWallets();
    const order = await createOrder(merchant, "Order 8001");
    await page.getByRole("link", { name: "ETH" }).click();
    await untilPage(page, "ETH");
    expect(await findings(page)).toEqual([]);
    await confirm(page, "Disable");
    await page.getByText("Disabled", { exact: true }).waitFor();
    await confirm(page, "Delete");
    await page.getByText("This wallet is used by open invoices").waitFor();
    await page.getByRole("alert").getByRole("link", { name: "Order 8001" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await confirm(page, "Enable");
    await page.getByText("In use", { exact: true }).waitFor();
    await merchant.call("POST", `/invoices/${order.id}/cancel`);
    await confirm(page, "Delete");
    await untilPage(page, "Wallets");
    expect(await walletsOf(merchant)).toEqual([]);
  });

  it("with an EVM address can be added on other networks: none is preselected, and one refused wallet does not prevent the others", async () => {
    const { page, merchant } = await atWallets();
    const [wallet] = await walletsOf(merchant);
    const address = wallet?.address ?? "";
    await answerWith(page, address, { BASE: "FREE", ARBITRUM: "FREE", CRO: "NO_SOURCE", POL: "NO_ANSWER" });
    await page.getByRole("link", { name: "ETH" }).click();
    const section = page.getByRole("region", { name: "Other networks" });
    await section.getByRole("button", { name: "Use this address on other networks" }).click();
    await section.getByText("Not offered: Cronos, because this deployment has no data source").waitFor();
    await section.getByText("Not offered: Polygon, because the data sources there are not responding").waitFor();
    const next = section.getByRole("button", { name: "Check and confirm" });
    expect(await Promise.all([section.getByRole("checkbox", { checked: true }).count(), next.isDisabled()])).toEqual([
      0,
      true,
    ]);
    await section.getByLabel("Base", { exact: true }).check();
    await section.getByLabel("EURC on Base").uncheck();
    await section.getByLabel("USDT on Arbitrum One").check();
    expect(await findings(page)).toEqual([]);
    await next.click();
    await section.getByText("Customers will send money on Base, Arbitrum One to this address").waitFor();
    await section.getByText(address).waitFor();
    expect(await findings(page)).toEqual([]);
    expect(await walletsOf(merchant)).toHaveLength(1);
    // A team member registers one of the wallets first, with a different address.
    const other = {
      walletType: "DIRECT_WALLET",
      address: `0x${randomHex(20)}`,
      network: "BASE",
      cryptocurrency: "USDC",
    };
    await merchant.call("POST", "/wallets", other);
    await section.getByRole("button", { name: "Add 3 wallets" }).click();
    await section.getByText("2 of 3 wallets were added. Invoices will not offer the others").waitFor();
    const refused = section.getByRole("listitem").filter({ hasText: "USDC on Base" });
    await refused.getByText(/^Not added: /).waitFor();
    expect(await findings(page)).toEqual([]);
    const own = (await walletsOf(merchant)).filter((each) => each.address === address);
    expect(
      own.map(({ cryptocurrency, network, requiredConfirmations }) => [cryptocurrency, network, requiredConfirmations]),
    ).toEqual([
      ["ETH", "ETH", REQUIRED],
      ["ETH", "BASE", 12],
      ["USDT", "ARBITRUM", 96],
    ]);
  });

  it("are not offered for other networks if there is code at the address, or for a network without a source", async () => {
    const { page, merchant } = await atWallets({ isBare: true });
    await page.getByRole("button", { name: "Add your first wallet" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a wallet" });
    const address = `0x${randomHex(20)}`;
    await dialog.getByLabel("Address or extended public key").fill(address);
    await dialog.getByRole("button", { name: "Add wallet" }).click();
    const ask = () => dialog.getByRole("button", { name: "Use this address on other networks" }).click();
    await ask();
    await dialog
      .getByText(/^Not offered: Polygon, BNB Smart Chain.*because this deployment has no data source there/)
      .waitFor();
    expect(await dialog.getByRole("checkbox").count()).toBe(0);
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await rpcAt(inject("testbed").chainUrl)("anvil_setCode", address, "0x6000");
    await page.getByRole("link", { name: "USDT on ETH" }).click();
    await page.getByRole("button", { name: "Use this address on other networks" }).click();
    await page.getByText("It is a contract on Ethereum, such as a Safe").waitFor();
    expect(await page.getByRole("checkbox").count()).toBe(0);
    expect(await findings(page)).toEqual([]);
    expect(await walletsOf(merchant)).toHaveLength(1);
  });

  it("show who added them before they become usable, and can be disabled at once", async () => {
    const { page, merchant } = await atWallets();
    changeDatabase(inject("testbed"), (database) => {
      const inAnHour = Date.now() + 3_600_000;
      database.prepare("UPDATE wallets SET usable_from_ms = ? WHERE merchant_id = ?").run(inAnHour, merchant.id);
    });
    await page.reload();
    const pending = page.getByRole("alert").filter({ hasText: "Pending changes" });
    await pending.getByText(/was added by user-/).waitFor();
    expect(await findings(page)).toEqual([]);
    await pending.getByRole("button", { name: "Disable wallet: ETH" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable wallet" }).click();
    await page.getByText("Disabled", { exact: true }).waitFor();
    expect((await walletsOf(merchant))[0]?.isEnabled).toBe(false);
  });
});
