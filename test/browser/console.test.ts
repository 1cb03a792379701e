// The console in a browser: from an empty deployment to an invoice, and what must be true of each page.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { randomHex } from "../support/wallet-bodies.ts";
import { EXPECTED_IN_CONSOLE, findings, freshAddress, mailedCode, signIn, untilPage } from "./console-harness.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

/** The limit for the scripts that the first opened page loads, compressed and without the charts. */
const MAX_SCRIPT_BYTES = 300 * 1_024;
/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("the console", () => {
  const browsing = useBrowser();

  async function signedIn(path = "/", email = freshAddress()): Promise<Page> {
    const { page } = await browsing.visit(QUIET);
    await page.goto(path);
    await signIn(page, email);
    return page;
  }

  /** Signs in a new user, creates a merchant and opens its invoices page. */
  async function atInvoices(email?: string): Promise<Page> {
    const page = await signedIn("/", email);
    await untilPage(page, "Welcome");
    await page.getByLabel("Name of your shop or business").fill("Corner shop");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Skip" }).click();
    await page.getByRole("button", { name: "Skip" }).click();
    await page.getByRole("link", { name: "Go to your invoices" }).click();
    await untilPage(page, "Invoices");
    return page;
  }

  async function createInvoice(page: Page, name: string): Promise<void> {
    await page.getByRole("button", { name: "New invoice" }).click();
    // There is no wallet yet, so the form first offers to add one.
    await page.getByText("Add a wallet first").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Skip" }).click();
    await page.getByLabel("Name", { exact: false }).first().fill(name);
    await page.getByRole("dialog").getByLabel("Amount").fill("49.9");
    await page.getByLabel("Order number").fill("1001");
    await page.getByRole("button", { name: "Create invoice" }).click();
    await untilPage(page, name);
  }

  it("leads a newcomer from an empty account to a wallet and a product, with every page accessible", async () => {
    const { page } = await browsing.visit(QUIET);
    await page.goto("/");
    await page.getByLabel("Email address").waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
    expect(await findings(page)).toEqual([]);
    await signIn(page, freshAddress());
    await untilPage(page, "Welcome");
    expect(await findings(page)).toEqual([]);
    await page.getByLabel("Name of your shop or business").fill("Corner shop");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("Address or extended public key").fill(`0x${randomHex(20)}`);
    await page.getByText("An address on Ethereum and compatible networks.").waitFor();
    await page.getByRole("button", { name: "Add wallet" }).click();
    await page.getByLabel("Product").fill("Chair");
    await page.getByLabel("Price").fill("120");
    await page.getByRole("button", { name: "Create page" }).click();
    await page.getByRole("img", { name: "QR code for Chair" }).waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("creates an invoice, finds it again, and cancels it", async () => {
    const page = await atInvoices();
    await page.getByText("No invoices yet").waitFor();
    await createInvoice(page, "Order 1001");
    await page.getByText("Awaiting payment").first().waitFor();
    await page.getByText("$49.90").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("link", { name: "All invoices" }).click();
    await page.getByLabel("Search invoices").fill("1001");
    await page.waitForURL(/search=/);
    await page.getByRole("link", { name: "Order 1001" }).waitFor();
    expect(await findings(page)).toEqual([]);
    // The page's address alone must show the same rows.
    await page.reload();
    await page.getByRole("link", { name: "Order 1001" }).click();
    await untilPage(page, "Order 1001");
    await page.getByRole("button", { name: "Cancel invoice" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel invoice" }).click();
    await page.getByText("Cancelled").first().waitFor();
  });

  it("asks for a recent factor in the middle of a change, and then continues it", async () => {
    const email = freshAddress();
    const page = await signedIn("/console/account", email);
    await untilPage(page, "Account");
    expect(await findings(page)).toEqual([]);
    // The service's answer once the user's factor is too old.
    const refusal = { statusCode: 403, message: "Confirm", code: "STEP_UP_REQUIRED", factors: ["email_code"] };
    await page.route("**/api/v1/me/totp", (route) => route.fulfill({ status: 403, json: refusal }), { times: 1 });
    await page.getByRole("region", { name: "Authenticator app" }).getByRole("button", { name: "Set up" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm your identity" });
    const code = dialog.getByLabel("Code from the email");
    await code.waitFor();
    expect(await findings(page)).toEqual([]);
    await code.fill(await mailedCode(email));
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("img", { name: "QR code for your authenticator app" }).waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it("asks for a recent factor on top of the dialog of the change that needs it", async () => {
    const email = freshAddress();
    const page = await atInvoices(email);
    await page.getByRole("link", { name: "Developers" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    const change = page.getByRole("dialog", { name: "New API key" });
    await change.getByLabel("Name").fill("Shop");
    const refusal = { statusCode: 403, message: "Confirm", code: "STEP_UP_REQUIRED", factors: ["email_code"] };
    await page.route("**/api-keys", (route) => route.fulfill({ status: 403, json: refusal }), { times: 1 });
    await change.getByRole("button", { name: "Create key" }).click();
    const question = page.getByRole("dialog", { name: "Confirm your identity" });
    // A real click hits the topmost element, so this fails if something covers the dialog.
    await question.getByLabel("Code from the email").click();
    await page.keyboard.type(await mailedCode(email));
    await question.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("dialog").getByText(/^sk_/).last().waitFor();
  });

  it("returns to the page requested before the sign-in, even if the service failed once, and signs out", async () => {
    const { page } = await browsing.visit(QUIET);
    await page.goto("/console/account");
    await page.getByLabel("Email address").waitFor();
    const away = { statusCode: 503, message: "The database did not answer.", code: "STORAGE_UNAVAILABLE" };
    await page.route("**/api/v1/me", (route) => route.fulfill({ status: 503, json: away }), { times: 1 });
    await signIn(page, freshAddress());
    await untilPage(page, "Account");
    expect(await page.title()).toBe("Account - Edgetill");
    await page.getByRole("button", { name: /^Signed in as/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("Email address").waitFor();
  });

  it("links to every page in its navigation, and opens pages with Ctrl-K", async () => {
    const page = await atInvoices();
    const names = await page.getByRole("navigation", { name: "Console" }).getByRole("link").allTextContents();
    expect(names).toEqual([
      "Home",
      "Invoices",
      "Payments to review",
      "Wallets",
      "Products",
      "Customers",
      "Reports",
      "Developers",
      "Team",
      "Settings",
      "Audit",
      "Account",
    ]);
    const current = page.getByRole("navigation", { name: "Console" }).locator('[aria-current="page"]');
    await expect.poll(() => current.allTextContents()).toEqual(["Invoices"]);
    await page.keyboard.press("Control+k");
    await page.getByRole("textbox", { name: "Find a page, an invoice or a customer" }).fill("acc");
    await page.keyboard.press("Enter");
    await untilPage(page, "Account");
  });

  it("shows that the connection is lost, and continues automatically once it is back", async () => {
    const page = await atInvoices();
    await page.context().setOffline(true);
    await page.getByText("You are offline.").waitFor();
    await page.context().setOffline(false);
    await page.getByText("You are offline.").waitFor({ state: "detached" });
    await createInvoice(page, "Order after the storm");
  });

  it("loads at most 300 KiB of scripts for the first opened page, all from its own origin", async () => {
    const { page, loads } = await browsing.visit(QUIET);
    await page.goto("/sign-in", { waitUntil: "networkidle" });
    const scripts = loads.filter(({ type }) => type === "Script");
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.every(({ url }) => url.startsWith(`${inject("testbed").baseUrl}/assets/`))).toBe(true);
    expect(scripts.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MAX_SCRIPT_BYTES);
  });
});
