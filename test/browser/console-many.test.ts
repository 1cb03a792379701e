// The console under load: a hundred thousand invoices, a network that fails in the middle of a change, and a user without a mouse.
import type { Locator, Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { enter } from "./console-entry.ts";
import { freshAddress, mailedCode, untilPage } from "./console-harness.ts";
import { describeInBrowser, openShop, type PageShop, useBrowser } from "./harness.ts";
import { emailOf } from "./testbed.ts";

/** Also tolerates the browser's messages about a failing network. */
const QUIET = {
  reducedMotion: "reduce",
  alsoSaid: /status of 40[13]|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION|ERR_FAILED|ERR_ABORTED/,
} as const;
const MOST_TABS = 60;

describeInBrowser("a hundred thousand invoices", () => {
  const browsing = useBrowser();

  it("can be paged, filtered and searched in the list", async () => {
    const { baseUrl, many } = inject("testbed");
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), baseUrl, emailOf(many.merchantId, "OWNER"));
    await page.goto(`/console/${many.merchantId}/invoices`);
    await page.getByRole("link", { name: `Order ${many.count - 1}`, exact: true }).waitFor();
    for (const newest of [many.count - 26, many.count - 51]) {
      await page.getByRole("button", { name: "Older" }).click();
      await page.getByRole("link", { name: `Order ${newest}`, exact: true }).waitFor();
    }
    // Deep in the list: the address of a page contains the position at which the page starts.
    await page.goto(`/console/${many.merchantId}/invoices?cursor=${cursorAt(1)}`);
    await page.getByRole("link", { name: "Order 0", exact: true }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Older" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Newest" }).click();
    await page.getByRole("link", { name: `Order ${many.count - 1}`, exact: true }).waitFor();
    await page.getByRole("combobox", { name: "Status" }).click();
    await page.getByRole("option", { name: "Expired" }).click();
    await page.getByRole("link", { name: `Order ${many.count - 10}`, exact: true }).waitFor();
    expect(await rowsOf(page)).toBe(25);
    await page.goto(`/console/${many.merchantId}/invoices`);
    await search(page, "Order 4242");
    await page.getByRole("link", { name: "Order 42425", exact: true }).waitFor();
    await page.getByRole("link", { name: "Order 4242", exact: true }).waitFor();
    expect(await rowsOf(page)).toBe(11);
    await search(page, "seed-50000@example.com");
    await page.getByRole("link", { name: "Order 50009", exact: true }).waitFor();
    expect(await rowsOf(page)).toBe(10);
    await search(page, "Nobody ordered this");
    await page.getByText("No matching invoices").waitFor();
    await search(page, "Order 77777");
    await page.getByRole("link", { name: "Order 77777", exact: true }).click();
    await untilPage(page, "Order 77777");
  });

  /** The cursor of the page that starts after the invoice with this number. */
  function cursorAt(n: number): string {
    const { many } = inject("testbed");
    const id = `inv_01${String(n).padStart(24, "0")}`;
    return btoa(`${many.firstAtMs + n * 1_000}.${id}`)
      .replaceAll("=", "")
      .replaceAll("+", "-")
      .replaceAll("/", "_");
  }

  async function search(page: Page, text: string): Promise<void> {
    await page.getByLabel("Search invoices").fill(text);
    const isSearched = ({ searchParams }: URL) => searchParams.get("search")?.replaceAll('"', "") === text;
    await page.waitForURL(isSearched);
  }

  const rowsOf = (page: Page) => page.getByRole("main").locator("tbody tr").count();
});

const nameOf = (page: Page) => page.getByRole("dialog").getByRole("textbox", { name: "Name", exact: true });

describeInBrowser("a network that fails", () => {
  const browsing = useBrowser();

  async function writing(): Promise<{ readonly page: Page; readonly shop: PageShop }> {
    const shop = await openShop(["USDT"]);
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), shop.baseUrl, emailOf(shop.merchantId, "MEMBER"));
    await page.goto(`/console/${shop.merchantId}/invoices`);
    await untilPage(page, "Invoices");
    await page.getByRole("button", { name: "New invoice" }).click();
    await nameOf(page).fill("Order in the storm");
    await page.getByRole("dialog").getByLabel("Amount").fill("49.90");
    return { page, shop };
  }

  /**
   * The heading of the created invoice's page. Tests wait for it, because the browser never reports the end of an intercepted request whose answer
   * was dropped.
   */
  const headingOf = (page: Page) => page.getByRole("heading", { level: 1, name: "Order in the storm" });

  async function expectOne(shop: PageShop): Promise<void> {
    const { data } = await shop.call<{ readonly data: readonly unknown[] }>("GET", "/invoices?limit=100");
    expect(data).toHaveLength(1);
  }

  it("after a request was sent leads to exactly one invoice, which the console opens", async () => {
    const { page, shop } = await writing();
    const keys: (string | undefined)[] = [];
    await page.route("**/invoices", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      keys.push(route.request().headers()["idempotency-key"]);
      if (keys.length > 1) return route.continue();
      // The service has the invoice, but its answer is lost with the network.
      await route.fetch();
      await page.context().setOffline(true);
      await route.abort("internetdisconnected");
    });
    await page.getByRole("button", { name: "Create invoice" }).click();
    await page.getByText("You are offline.").waitFor();
    await expectOne(shop);
    await page.context().setOffline(false);
    await headingOf(page).waitFor();
    expect(keys).toHaveLength(2);
    expect(keys[1]).toBe(keys[0]);
    await expectOne(shop);
  });

  it("before a request is sent only delays it: the console sends it once the network is back", async () => {
    const { page, shop } = await writing();
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Create invoice" }).click();
    await page.getByText("You are offline.").waitFor();
    expect(await nameOf(page).inputValue()).toBe("Order in the storm");
    await page.context().setOffline(false);
    await untilPage(page, "Order in the storm");
    await expectOne(shop);
  });

  it("for longer than the console retries leads to an offer to retry, which creates no second invoice", async () => {
    const { page, shop } = await writing();
    const tries: string[] = [];
    await page.route("**/invoices", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      tries.push(route.request().url());
      if (tries.length === 1) await route.fetch();
      return tries.length > 5 ? route.continue() : route.abort("connectionreset");
    });
    await page.getByRole("button", { name: "Create invoice" }).click();
    await page.getByText("Something went wrong").waitFor();
    await page.getByRole("button", { name: "Create invoice" }).click();
    await headingOf(page).waitFor();
    expect(tries).toHaveLength(6);
    await expectOne(shop);
  });
});

describeInBrowser("a user with only a keyboard", () => {
  const browsing = useBrowser();

  it("signs in, creates a merchant, creates an invoice and cancels it", async () => {
    const { page } = await browsing.visit(QUIET);
    const email = freshAddress();
    await page.goto("/");
    await typeInto(page, page.getByLabel("Email address"), email);
    await page.keyboard.press("Enter");
    await page.getByLabel("Digit 1 of the code").and(page.locator(":focus")).waitFor();
    await page.keyboard.type(await mailedCode(email));
    await untilPage(page, "Welcome");
    await typeInto(page, page.getByLabel("Name of your shop or business"), "Corner shop");
    await page.keyboard.press("Enter");
    for (const step of ["Add your first wallet", "Sell something"])
      await press(page, page.getByRole("region", { name: step }).getByRole("button", { name: "Skip" }));
    await press(page, page.getByRole("link", { name: "Go to your invoices" }));
    await untilPage(page, "Invoices");
    await press(page, page.getByRole("button", { name: "New invoice" }));
    const form = page.getByRole("dialog");
    // There is no wallet yet, so the form first offers to add one.
    await press(page, form.getByRole("button", { name: "Skip" }));
    await typeInto(page, nameOf(page), "Order by hand");
    await typeInto(page, form.getByLabel("Amount"), "12");
    await press(page, form.getByRole("button", { name: "Create invoice" }));
    await untilPage(page, "Order by hand");
    await press(page, page.getByRole("button", { name: "Cancel invoice" }));
    const question = page.getByRole("dialog");
    // Pressing Enter alone keeps the invoice.
    await question.getByRole("button", { name: "Go back" }).and(page.locator(":focus")).waitFor();
    await press(page, question.getByRole("button", { name: "Cancel invoice" }));
    await page.getByText("Cancelled", { exact: true }).first().waitFor();
  });

  /** Presses Tab until the element has visible focus. */
  async function reach(page: Page, wanted: Locator): Promise<void> {
    await wanted.waitFor();
    for (let tabs = 0; tabs < MOST_TABS; tabs++) {
      if ((await wanted.and(page.locator(":focus-visible")).count()) === 1) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`${MOST_TABS} tabs do not reach ${wanted}`);
  }

  async function press(page: Page, wanted: Locator): Promise<void> {
    await reach(page, wanted);
    await page.keyboard.press("Enter");
  }

  async function typeInto(page: Page, wanted: Locator, text: string): Promise<void> {
    await reach(page, wanted);
    await page.keyboard.type(text);
  }
});
