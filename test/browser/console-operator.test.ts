// The operators' page: the deployment's state and its switches. What pauses and rereads do is tested in test/worker/detection/switches.test.ts.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { parseChainSources } from "../../src/chains/sources/chain-sources.ts";
import { enter } from "./console-entry.ts";
import { findings, REFUSED_IN_CONSOLE, untilPage } from "./console-harness.ts";
import { describeInBrowser, ON_ETH, openShop, until, useBrowser } from "./harness.ts";
import { changeDatabase, emailOf, makeOperator, takeShop } from "./testbed.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: REFUSED_IN_CONSOLE } as const;
const WITHIN_MS = 120_000;

const region = (page: Page, name: string) => page.getByRole("region", { name });
const confirm = (page: Page, action: string) =>
  page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click();

describeInBrowser("the operator page", () => {
  const browsing = useBrowser();

  async function opened() {
    const testbed = inject("testbed");
    const shop = takeShop(testbed);
    const email = emailOf(shop.merchantId, "OWNER");
    makeOperator(testbed, email);
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), testbed.baseUrl, email);
    await page.goto("/console");
    await page.getByRole("navigation").getByRole("link", { name: "Operator" }).click();
    await untilPage(page, "Operator");
    return { page, testbed, shop };
  }

  it("is not shown to users who are not operators", async () => {
    const testbed = inject("testbed");
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), testbed.baseUrl, emailOf(takeShop(testbed).merchantId, "OWNER"));
    await page.goto("/console");
    await page.getByRole("link", { name: "Account" }).waitFor();
    expect(await page.getByRole("link", { name: "Operator" }).count()).toBe(0);
    await page.goto("/operator");
    await page.getByText("Page not found").first().waitFor();
    expect(await page.getByRole("heading", { name: "Merchants" }).count()).toBe(0);
  });

  it("shows the deployment's state, and rereads a range of blocks and shows its progress", async () => {
    const { page } = await opened();
    // The network is read because an invoice awaits payment on it.
    await (await openShop(["USDT"])).createInvoice({ rawAmount: 30, paymentMethods: [ON_ETH("USDT")] });
    await region(page, "Status").getByText("Healthy", { exact: true }).waitFor();
    const networks = region(page, "Networks");
    await until(
      () => networks.getByText(/Block \d/).count(),
      (count) => count > 0,
      WITHIN_MS,
    );
    expect(await findings(page)).toEqual([]);
    await networks.getByRole("button", { name: "Rescan: ETH" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("From block").fill("999999999");
    await dialog.getByRole("button", { name: "Rescan" }).click();
    await dialog.getByText('"To block" must not be lower than "From block".').waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByLabel("From block").fill("1");
    await dialog.getByRole("button", { name: "Rescan" }).click();
    await networks.getByText(/Rescanned .*: blocks 1 to \d/).waitFor({ timeout: WITHIN_MS });
  });

  it("shows the host of a network's source, and tries the source", async () => {
    const { page, testbed } = await opened();
    const networks = region(page, "Networks");
    const { host } = new URL(testbed.chainUrl);
    await networks.getByText(`Source 1, evm-rpc at ${host} (read first)`).first().waitFor();
    await networks.getByRole("button", { name: "Try sources: ETH" }).click();
    const result = networks.getByRole("status").filter({ hasText: "Every source of ETH works" });
    await result.getByText(/works, block [\d,]+ in [\d,]+ ms/).waitFor();
    await networks
      .getByText(/Last answered .*, block \d/)
      .first()
      .waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("offers public sources for a network that has no source, with the value and the command that add them", async () => {
    const { page } = await opened();
    const offers = region(page, "Add data sources");
    expect(await offers.getByLabel("ETH", { exact: true }).count()).toBe(0);
    await offers.getByLabel("BTC", { exact: true }).check();
    await offers.getByLabel("Ethereum Sepolia testnet").check();
    await offers.getByText("BTC: mempool.space").waitFor();
    expect(await offers.getByText("Untried").count()).toBe(4);
    await offers
      .getByText(/The vendor learns: Each address of yours/)
      .first()
      .waitFor();
    const command = await offers.getByLabel("Command that adds the sources").textContent();
    expect(command).toBe("npm run wrangler -- secret put CHAIN_SOURCES_2 --name <name of the deployment>");
    const value = await offers.getByLabel("Value to paste").textContent();
    const parsed = parseChainSources({ CHAIN_SOURCES_2: value ?? "" });
    expect(parsed.ok && [...parsed.value.keys()]).toEqual(["BTC", "ETH_SEPOLIA"]);
    expect(await findings(page)).toEqual([]);
  });

  it("warns until an operator confirms that a test alert arrived, and shows what each channel answered", async () => {
    const { page, testbed } = await opened();
    changeDatabase(testbed, (database) => database.exec("DELETE FROM alert_proof"));
    await page.reload();
    await untilPage(page, "Operator");
    const status = region(page, "Status");
    await status.getByText("Nobody has confirmed that alerts arrive").waitFor();
    expect(await findings(page)).toEqual([]);
    expect(await status.getByRole("button", { name: "It arrived" }).count()).toBe(0);
    await status.getByRole("button", { name: "Send test alert" }).click();
    await status.getByText("accepted by the mail provider").first().waitFor();
    expect(await findings(page)).toEqual([]);
    await status.getByRole("button", { name: "It arrived" }).click();
    await status.getByText("A test alert was last confirmed").waitFor();
    expect(await status.getByText("Nobody has confirmed that alerts arrive").count()).toBe(0);
    expect(await findings(page)).toEqual([]);
    // As after a change of the settings.
    const others = "UPDATE alert_proof SET accepted_settings = 'others', proved_settings = 'others'";
    changeDatabase(testbed, (database) => database.exec(others));
    await page.reload();
    await status.getByText("Nobody has confirmed that alerts still arrive").waitFor();
    expect(await status.getByRole("button", { name: "It arrived" }).count()).toBe(0);
    expect(await findings(page)).toEqual([]);
    await status.getByRole("button", { name: "Send test alert" }).click();
    await status.getByRole("button", { name: "It arrived" }).click();
    await status.getByText("still arrive").waitFor({ state: "detached" });
  });

  it("pauses and resumes a network, and explains the effect", async () => {
    const { page, testbed } = await opened();
    // Uses a network that no other test needs.
    changeDatabase(testbed, (database) =>
      database.exec(
        `INSERT INTO network_cursors (network, is_resting, since_ms, checkpoints, passed_ms, last_moved_at_ms, progress)
         VALUES ('LTC', 1, 0, '[]', 0, 0, '{}') ON CONFLICT DO NOTHING`,
      ),
    );
    await page.reload();
    await untilPage(page, "Operator");
    const networks = region(page, "Networks");
    await networks.getByRole("button", { name: "Pause: LTC" }).press("Enter");
    await page.getByText(/Invoices that await payment on it stay open/).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await networks.getByRole("button", { name: "Pause: LTC" }).click();
    await confirm(page, "Pause");
    await networks.getByText("Paused", { exact: true }).waitFor();
    await networks.getByRole("button", { name: "Resume: LTC" }).click();
    await confirm(page, "Resume");
    await networks.getByText("Paused", { exact: true }).waitFor({ state: "detached" });
  });

  it("finds a merchant, suspends it and resumes it", async () => {
    const { page, testbed } = await opened();
    const { merchantId, key } = takeShop(testbed);
    const create = async () => {
      const answer = await fetch(`${testbed.baseUrl}/api/v1/merchants/merchant/${merchantId}/invoices`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ name: "Order", rawAmount: 10, paymentMethods: [] }),
      });
      return answer.status;
    };
    const name = "شركة <b>الميناء</b> ".repeat(9);
    changeDatabase(testbed, (database) =>
      database.prepare("UPDATE merchants SET name = ? WHERE id = ?").run(name, merchantId),
    );
    const merchants = region(page, "Merchants");
    await merchants.getByLabel("Search merchants").fill(merchantId);
    await merchants.getByText("<b>الميناء</b>").first().waitFor();
    expect(await create()).toBe(201);
    await merchants.getByRole("button", { name: /^Suspend/ }).click();
    await page.getByText(/Payments to addresses they already have are still detected/).waitFor();
    expect(await findings(page)).toEqual([]);
    await confirm(page, "Suspend");
    await merchants.getByText("Suspended", { exact: true }).waitFor();
    expect(await create()).toBe(403);
    await merchants.getByRole("button", { name: /^Resume/ }).click();
    await confirm(page, "Resume");
    await merchants.getByText("Suspended", { exact: true }).waitFor({ state: "detached" });
    expect(await create()).toBe(201);
    await merchants.getByLabel("Search merchants").fill("zzz");
    await merchants.getByText("No merchant has this name or ID.").waitFor();
  });

  it("adds and removes an operator, and lists the deployment's keys", async () => {
    const { page, shop } = await opened();
    const operators = region(page, "Operators");
    await operators.getByText("You", { exact: true }).waitFor();
    await operators.getByRole("button", { name: "Add" }).click();
    const dialog = page.getByRole("dialog");
    const add = () => dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByLabel("Email address").fill("nobody@example.com");
    await add();
    await dialog.getByText(/No user has this email address/).waitFor();
    const admin = emailOf(shop.merchantId, "ADMIN");
    await dialog.getByLabel("Email address").fill(admin);
    await add();
    await operators.getByRole("button", { name: `Remove: ${admin}` }).click();
    await confirm(page, "Remove");
    await operators.getByRole("button", { name: `Remove: ${admin}` }).waitFor({ state: "detached" });
    await region(page, "Keys").getByText("In use", { exact: true }).first().waitFor();
  });
});
