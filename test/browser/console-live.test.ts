// Live updates in the console, in a browser: pages show what happens without a reload.
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, freshAddress, untilPage } from "./console-harness.ts";
import { addInvoice, addWallet, ownerAtHome, payInFull } from "./console-member.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/** The same interval as in dashboard/src/api/live.ts. */
const POLL_MS = 30_000;
const GATHER_MS = 1_000;
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("the console", () => {
  const browsing = useBrowser();

  it("shows changes while it is open, through one socket, and requests nothing while nothing happens", async () => {
    const { page, sockets } = await browsing.visit(QUIET);
    const member = await ownerAtHome(page, freshAddress());
    await addWallet(member);
    const invoice = await addInvoice(member, { name: "Order 1001", externalId: "LIVE-1" });
    const made = page.getByRole("region", { name: "Invoices" });
    await made.getByText("1", { exact: true }).waitFor();
    await payInFull(member, invoice);
    await page.getByText("$25.00", { exact: true }).first().waitFor();
    await page.getByRole("link", { name: "Invoices", exact: true }).click();
    // Only looks in the table, because the status filter may contain "Paid" as well.
    await page.getByRole("main").getByRole("table").getByText("Paid", { exact: true }).waitFor();
    await addInvoice(member, { name: "Order 1002" });
    await page.getByRole("link", { name: "Order 1002" }).waitFor();
    expect(sockets.map((url) => new URL(url).pathname)).toEqual([
      `/api/v1/merchants/merchant/${member.merchantId}/live`,
    ]);
  });

  it("rereads everything at intervals while there is no socket", async () => {
    const { page } = await browsing.visit(QUIET);
    await page.routeWebSocket(/\/live$/, (socket) => socket.close());
    await page.clock.install();
    const member = await ownerAtHome(page, freshAddress());
    await addInvoice(member, { name: "Order 1001", paymentMethods: [] });
    await page.clock.runFor(POLL_MS + GATHER_MS);
    await page.getByRole("region", { name: "Invoices" }).getByText("1", { exact: true }).waitFor();
  });

  it("keeps what is typed for a new invoice while the wallets are reread", async () => {
    const { page } = await browsing.visit(QUIET);
    const member = await ownerAtHome(page, freshAddress());
    await page.getByRole("link", { name: "Invoices", exact: true }).click();
    await untilPage(page, "Invoices");
    await page.getByRole("button", { name: "New invoice" }).click();
    const dialog = page.getByRole("dialog", { name: "New invoice" });
    await dialog.getByText("Add a wallet first").waitFor();
    await dialog.getByRole("button", { name: "Skip" }).click();
    const name = dialog.getByLabel(/^Name/);
    await name.fill("Order 1001");
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/wallets", async (route) => {
      await held;
      await route.continue();
    });
    const asked = page.waitForRequest(/\/wallets$/);
    await addWallet(member);
    const request = await asked;
    // If the page removed the form while it reads, it would have done so by now.
    await page.evaluate("new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))");
    expect(await name.count()).toBe(1);
    release();
    await request.response();
    expect(await name.inputValue()).toBe("Order 1001");
    await dialog.getByLabel("Amount").fill("25");
    await dialog.getByRole("button", { name: "Create invoice" }).click();
    await untilPage(page, "Order 1001");
  });
});
