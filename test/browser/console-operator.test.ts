// The operators' page: the deployment's state and its switches. Pauses and re-reads themselves: test/worker/detection/switches.test.ts.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { enter } from "./console-entry.ts";
import { findings, REFUSED_IN_CONSOLE, untilPage } from "./console-harness.ts";
import { describeInBrowser, ON_ETH, openShop, until, useBrowser } from "./harness.ts";
import { changeDatabase, emailOf, makeOperator, takeShop } from "./testbed.ts";

/** Mantine removes elements after their transition. */
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

  it("is absent for everyone else", async () => {
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

  it("shows the deployment's state, and rereads a network's range with its progress", async () => {
    const { page } = await opened();
    // An invoice that awaits payment on the network keeps it read.
    await (await openShop(["USDT"])).createInvoice({ rawAmount: 30, paymentMethods: [ON_ETH("USDT")] });
    await region(page, "Status").getByText("Works", { exact: true }).waitFor();
    const networks = region(page, "Networks");
    await until(
      () => networks.getByText(/Block \d/).count(),
      (count) => count > 0,
      WITHIN_MS,
    );
    expect(await findings(page)).toEqual([]);
    await networks.getByRole("button", { name: "Read again: ETH" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("From block").fill("999999999");
    await dialog.getByRole("button", { name: "Read again" }).click();
    await dialog.getByText("The last block is before the first.").waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByLabel("From block").fill("1");
    await dialog.getByRole("button", { name: "Read again" }).click();
    await networks.getByText(/Read again .*: blocks 1 to \d/).waitFor({ timeout: WITHIN_MS });
  });

  it("pauses and resumes a network, saying what that does", async () => {
    const { page, testbed } = await opened();
    // A network that no other test needs.
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
    await page.getByText(/Invoices that wait for it stay open/).waitFor();
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
    await page.getByText(/Payments to what they were given are still found/).waitFor();
    expect(await findings(page)).toEqual([]);
    await confirm(page, "Suspend");
    await merchants.getByText("Suspended", { exact: true }).waitFor();
    expect(await create()).toBe(403);
    await merchants.getByRole("button", { name: /^Resume/ }).click();
    await confirm(page, "Resume");
    await merchants.getByText("Suspended", { exact: true }).waitFor({ state: "detached" });
    expect(await create()).toBe(201);
    await merchants.getByLabel("Search merchants").fill("zzz");
    await merchants.getByText("No merchant has this name or id.").waitFor();
  });

  it("adds an operator and removes one, and names the keys", async () => {
    const { page, shop } = await opened();
    const operators = region(page, "Operators");
    await operators.getByText("You", { exact: true }).waitFor();
    await operators.getByRole("button", { name: "Add" }).click();
    const dialog = page.getByRole("dialog");
    const add = () => dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByLabel("Email address").fill("nobody@example.com");
    await add();
    await dialog.getByText(/Nobody has an account with this address/).waitFor();
    const admin = emailOf(shop.merchantId, "ADMIN");
    await dialog.getByLabel("Email address").fill(admin);
    await add();
    await operators.getByRole("button", { name: `Remove: ${admin}` }).click();
    await confirm(page, "Remove");
    await operators.getByRole("button", { name: `Remove: ${admin}` }).waitFor({ state: "detached" });
    await region(page, "Keys").getByText("In use", { exact: true }).first().waitFor();
  });
});
