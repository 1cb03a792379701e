// Identity in the console, as a user sees it: passkeys, a provider's account, an invitation, the email about a wallet, and changes that need a recent
// factor. The provider is a real one on loopback, and the passkeys belong to a virtual device.
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { until } from "../../scripts/demo-story/until.ts";
import type { Role } from "../../src/accounts/roles/roles.ts";
import { type OidcProvider, startOidcProvider } from "../support/oidc-server.ts";
import { enter, mailsTo } from "./console-entry.ts";
import { freshAddress, giveDevice, mailedCode, REFUSED_IN_CONSOLE, signIn, untilPage } from "./console-harness.ts";
import { describeInBrowser, openShop, type PageShop, useBrowser } from "./harness.ts";
import { changeDatabase, emailOf, issuerOf } from "./testbed.ts";

const QUIET = { reducedMotion: "reduce", alsoSaid: REFUSED_IN_CONSOLE } as const;
const MAILED_WITHIN_MS = 120_000;

describeInBrowser("a user of the console", () => {
  const browsing = useBrowser();

  /** A signed-in user's page. */
  async function pageOf(email: string): Promise<Page> {
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), inject("testbed").baseUrl, email);
    return page;
  }

  it("creates a passkey, signs in with it, and removes it", async () => {
    const page = await pageOf(freshAddress());
    await giveDevice(page);
    await page.goto("/console/account");
    await untilPage(page, "Account");
    await makePasskey(page, "Work laptop");
    await signOut(page);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.waitForURL(/\/console/);
    await page.goto("/console/account");
    await page.getByText("Signed in with a passkey").waitFor();
    await page.getByRole("button", { name: "Remove: Work laptop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No passkeys yet.").waitFor();
  });

  it("sees a message if the device has none of their passkeys", async () => {
    const { page } = await browsing.visit(QUIET);
    await giveDevice(page);
    await page.goto("/sign-in");
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByText("No passkey was used. Try again.").waitFor();
  });

  it("confirms their identity with a passkey, and the change continues", async () => {
    const email = freshAddress();
    const page = await pageOf(email);
    await giveDevice(page);
    await page.goto("/console/account");
    await untilPage(page, "Account");
    await makePasskey(page, "Phone");
    outliveProof(email);
    await page.getByRole("region", { name: "Authenticator app" }).getByRole("button", { name: "Set up" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("img", { name: "QR code for your authenticator app" }).waitFor();
  });

  it("confirms their identity with an email code, and the change continues", async () => {
    const email = freshAddress();
    const page = await pageOf(email);
    await page.goto("/console/account");
    await untilPage(page, "Account");
    outliveProof(email);
    await page.getByRole("switch", { name: "Email codes as a second factor" }).click({ force: true });
    const dialog = page.getByRole("dialog", { name: "Confirm your identity" });
    await dialog.getByLabel("Code from the email").fill("00000000");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Code from the email").fill(await mailedCode(email));
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Email codes are on.").waitFor();
    await expect.poll(() => page.getByRole("switch").isChecked()).toBe(true);
  });

  it("changes nothing by closing the dialog that asks for confirmation", async () => {
    const email = freshAddress();
    const page = await pageOf(email);
    await page.goto("/console/account");
    await untilPage(page, "Account");
    outliveProof(email);
    await page.getByRole("switch", { name: "Email codes as a second factor" }).click({ force: true });
    await page.getByRole("dialog", { name: "Confirm your identity" }).getByRole("button", { name: "Close" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => page.getByRole("switch").isChecked()).toBe(false);
    expect(await page.getByText("Something went wrong").count()).toBe(0);
  });
});

describeInBrowser("a user with an account at a provider", () => {
  const browsing = useBrowser();
  let google: OidcProvider;
  beforeAll(async () => {
    const { baseUrl, google: place } = inject("testbed");
    google = await startOidcProvider({ ...place, redirectUri: `${baseUrl}/api/v1/auth/google/callback` }, place.port);
  });
  afterAll(() => google?.close());
  const visit = () => browsing.visit({ ...QUIET, alsoAllowed: [issuerOf(inject("testbed").google)] });

  it("signs in, and returns to the requested page", async () => {
    google.user = { subject: crypto.randomUUID(), email: freshAddress(), isEmailVerified: true };
    const { page } = await visit();
    await page.goto("/console/account");
    await page.getByRole("link", { name: "Sign in with Google" }).click();
    await untilPage(page, "Account");
    expect(await page.getByLabel("Email address").inputValue()).toBe(google.user.email);
    await page.getByText("Signed in with Google").waitFor();
  });

  it("must prove that they own the mailbox if the address already has an account", async () => {
    const email = freshAddress();
    const { page: first } = await visit();
    await enter(first.context(), inject("testbed").baseUrl, email);
    google.user = { subject: crypto.randomUUID(), email, isEmailVerified: true };
    const { page } = await visit();
    await page.goto("/sign-in");
    await page.getByRole("link", { name: "Sign in with Google" }).click();
    await page.getByText(`We sent an 8-digit code to ${email}.`).waitFor();
    expect(page.url()).not.toContain(email.slice(0, 10));
    await page.getByLabel("Digit 1 of the code").click();
    await page.keyboard.type(await mailedCode(email));
    await untilPage(page, "Welcome");
  });

  it("links an account, and unlinks it", async () => {
    const { page } = await visit();
    await enter(page.context(), inject("testbed").baseUrl, freshAddress());
    google.user = { subject: crypto.randomUUID(), email: freshAddress(), isEmailVerified: true };
    await page.goto("/console/account");
    await page.getByRole("button", { name: "Link Google" }).click();
    await page.getByText(`${google.user.email}, linked`).waitFor();
    await page.getByRole("button", { name: "Unlink: Google" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Unlink" }).click();
    await page.getByText("No linked accounts.").waitFor();
  });
});

describeInBrowser("an invited user", () => {
  const browsing = useBrowser();

  /** Invites someone to a shop's team; returns the link in the email. */
  async function invite(shop: PageShop, email: string, role: Role): Promise<string> {
    const { page } = await browsing.visit(QUIET);
    const context = page.context();
    await enter(context, shop.baseUrl, emailOf(shop.merchantId, "OWNER"));
    await post(context, `/api/v1/merchants/merchant/${shop.merchantId}/team/invitations`, { email, role });
    return linkIn(shop.baseUrl, email, /\/invitations#token=\S+/);
  }

  it("signs in through the link in the email, accepts, and sees what their role allows", async () => {
    const shop = await openShop(["USDT"]);
    const email = freshAddress();
    const link = await invite(shop, email, "VIEWER");
    const { page } = await browsing.visit(QUIET);
    await page.goto(link);
    // The token is a secret, and is removed from the address at once.
    await page.getByLabel("Email address").waitFor();
    expect(page.url()).not.toContain("token");
    await page.getByLabel("Email address").fill(email);
    await page.getByRole("button", { name: "Send me a code" }).click();
    await page.getByLabel("Digit 1 of the code").click();
    await page.keyboard.type(await mailedCode(email));
    await page.getByRole("button", { name: "Accept the invitation" }).click();
    await untilPage(page, "Home");
    await page.getByRole("navigation", { name: "Console" }).getByText("Viewer").waitFor();
    await page.getByRole("link", { name: "Invoices", exact: true }).first().click();
    await untilPage(page, "Invoices");
    expect(await page.getByRole("button", { name: "New invoice" }).count()).toBe(0);
  });

  it("finds the invitation without the email, and joins only by accepting it", async () => {
    const shop = await openShop(["USDT"]);
    const email = freshAddress();
    await invite(shop, email, "MEMBER");
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), shop.baseUrl, email);
    await page.goto("/console");
    await untilPage(page, "Welcome");
    await page.getByRole("link", { name: "See your invitations" }).click();
    await page.getByText(/has invited you to the team of .*, as member\.$/).waitFor();
    await page.goto(`/console/${shop.merchantId}/invoices`);
    await page.getByText("This could not be loaded").waitFor();
    await page.goto("/invitations");
    await page.getByRole("button", { name: /^Accept the invitation to/ }).click();
    await untilPage(page, "Home");
  });

  it("sees that they are signed in with the wrong account, and accepts with the right one", async () => {
    const shop = await openShop(["USDT"]);
    const email = freshAddress();
    const link = await invite(shop, email, "ADMIN");
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), shop.baseUrl, freshAddress());
    await page.goto(link);
    await page.getByRole("button", { name: "Accept the invitation" }).click();
    await page.getByText("This invitation is for another address.").waitFor();
    await page.getByRole("button", { name: "Use another account" }).click();
    await signIn(page, email);
    await page.getByText(`Signed in as ${email}.`).waitFor();
    await page.getByRole("button", { name: "Accept the invitation" }).click();
    await untilPage(page, "Home");
  });
});

describeInBrowser("an owner", () => {
  const browsing = useBrowser();

  async function ownerOf(shop: PageShop): Promise<Page> {
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), shop.baseUrl, emailOf(shop.merchantId, "OWNER"));
    return page;
  }

  it("disables a changed wallet with the link in the email, without signing in, and only once", async () => {
    const shop = await openShop([]);
    // The owner changes a wallet, and gets the link because their only factor is their mailbox.
    const owner = await ownerOf(shop);
    const wallet = await post(owner.context(), `/api/v1/merchants/merchant/${shop.merchantId}/wallets`, {
      walletType: "DIRECT_WALLET",
      cryptocurrency: "USDT",
      network: "ETH",
      address: `0x${"7".repeat(40)}`,
    });
    const link = await linkIn(shop.baseUrl, emailOf(shop.merchantId, "OWNER"), /\/wallets\/disable#token=\S+/);
    const { page } = await browsing.visit({ ...QUIET, alsoSaid: /status of 40\d/ });
    await page.goto(link);
    await page.getByRole("button", { name: "Disable wallet" }).click();
    await page.getByText("Wallet disabled").waitFor();
    expect(await shop.call("GET", `/wallets/${wallet.id}`)).toMatchObject({ isEnabled: false });
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByRole("button", { name: "Disable wallet" }).click();
    await page.getByRole("alert").waitFor();
  });

  it.each([
    ["Accept", "Paid", "Accepted manually"],
    ["Dismiss", "Cancelled", "Dismissed manually"],
    ["Mark as returned", "Cancelled", "Marked as returned"],
  ])("resolves an invoice under review: %s", async (decision, state, decided) => {
    const shop = await openShop(["USDT"]);
    const { id } = await shop.createInvoice({ name: "Undecided" });
    await shop.cancelInvoice(id);
    changeDatabase(inject("testbed"), (database) => {
      database.prepare("UPDATE invoices SET needs_review = 1 WHERE id = ?").run(id);
    });
    const page = await ownerOf(shop);
    await page.goto(`/console/${shop.merchantId}/invoices/${id}`);
    await page.getByRole("button", { name: "Resolve" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(decision, { exact: true }).first().click();
    await dialog.getByRole("button", { name: decision }).click();
    await dialog.getByText("Enter a reason").waitFor();
    await dialog.getByLabel("Reason").fill("Agreed on the phone");
    if (decision === "Mark as returned") await dialog.getByLabel("Return transaction hash").fill("0xabc123");
    await dialog.getByRole("button", { name: decision }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText(decided).first().waitFor();
    await page.getByText("Agreed on the phone").waitFor();
    await expect.poll(() => page.getByText("0xabc123").count()).toBe(decision === "Mark as returned" ? 1 : 0);
    await page.getByText("This invoice needs your decision").waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1 }).locator("..").getByText(state, { exact: true }).waitFor();
  });

  it("has no option to accept an invoice that was paid in full", async () => {
    const shop = await openShop(["USDT"]);
    const { id } = await shop.createInvoice({ name: "Paid too much" });
    changeDatabase(inject("testbed"), (database) => {
      database.prepare("UPDATE invoices SET needs_review = 1, status = 'OVERPAID' WHERE id = ?").run(id);
    });
    const page = await ownerOf(shop);
    await page.goto(`/console/${shop.merchantId}/invoices/${id}`);
    await page.getByRole("button", { name: "Resolve" }).click();
    const decisions = page.getByRole("dialog").getByRole("radiogroup");
    await expect.poll(() => decisions.getByRole("radio").count()).toBe(2);
    await page.getByRole("dialog").getByLabel("Reason").fill("Kept for the next order");
    await page.getByRole("dialog").getByRole("button", { name: "Dismiss" }).click();
    await page.getByText("Dismissed manually").waitFor();
  });
});

async function makePasskey(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a passkey" });
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("region", { name: "Passkeys" }).getByText(name, { exact: true }).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Signed in as/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByLabel("Email address").waitFor();
}

/** Makes the factor from the sign-in too old for a change, as if ten minutes had passed. */
function outliveProof(email: string): void {
  changeDatabase(inject("testbed"), (database) => {
    const { changes } = database
      .prepare(
        `UPDATE sessions SET factor_at_ms = factor_at_ms - 600000
         WHERE user_id = (SELECT id FROM users WHERE email_key = ?)`,
      )
      .run(email);
    if (changes === 0) throw new Error(`${email} has no session`);
  });
}

/** Makes a call in a browser's session. */
async function post(context: BrowserContext, path: string, data: unknown): Promise<{ readonly id: string }> {
  const { baseUrl } = inject("testbed");
  const answer = await context.request.post(baseUrl + path, { data, headers: { origin: baseUrl } });
  if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  return answer.json();
}

/** The newest link of this kind that was emailed to an address, as a path. */
async function linkIn(baseUrl: string, email: string, link: RegExp): Promise<string> {
  const read = async () => (await mailsTo(baseUrl, email)).flatMap(({ text }) => link.exec(text)?.[0] ?? []);
  const [newest] = await until(read, (links) => links.length > 0, MAILED_WITHIN_MS);
  return newest ?? "";
}
