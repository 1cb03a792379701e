// Two users change the same object in the console: one has its form open when the other's change arrives. Fields that only one of them changed must
// be kept.
import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, it, vi } from "vitest";
import { EXPECTED_IN_CONSOLE, untilPage } from "./console-harness.ts";
import { type ConsoleMerchant, createOrder, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;
/** Data older than this is reread once the page is visible (dashboard/src/api/queries.ts). */
const STALE_AFTER_MS = 15_000;

interface Thing {
  readonly id: string;
}

interface Case {
  readonly what: string;
  /** The API path of the list that contains the object, below the merchant's path. */
  readonly list: string;
  readonly make: (merchant: ConsoleMerchant) => Promise<Thing>;
  /** The path of the page with the form, below the merchant's pages, and the page's heading. */
  readonly page: (thing: Thing) => string;
  readonly heading: string;
  readonly open: string;
  readonly dialog: string;
  /** The field that is changed in the form. */
  readonly field: RegExp;
  readonly mine: string;
  /** The changes made by the form's user and by the colleague, as the API shows them. */
  readonly ours: object;
  readonly theirs: object;
}

const OF_ITS_OWN = (list: string) => ({ list, page: ({ id }: Thing) => `${list}/${id}` });

const CASES: readonly Case[] = [
  {
    what: "a product",
    ...OF_ITS_OWN("/products"),
    heading: "Tea",
    open: "Edit",
    dialog: "Edit product",
    make: (merchant) => merchant.call("POST", "/products", { name: "Tea", price: 12, currency: "USD" }),
    field: /^Description/,
    mine: "Green",
    ours: { description: "Green" },
    theirs: { name: "Mate" },
  },
  {
    what: "an invoice",
    ...OF_ITS_OWN("/invoices"),
    heading: "Order",
    open: "Edit",
    dialog: "Edit invoice",
    make: (merchant) => createOrder(merchant, "Order"),
    field: /^Description/,
    mine: "Chairs",
    ours: { description: "Chairs" },
    theirs: { name: "Order 1001" },
  },
  {
    what: "a customer",
    ...OF_ITS_OWN("/customers"),
    heading: "Ada",
    open: "Edit",
    dialog: "Edit customer",
    make: (merchant) => merchant.call("POST", "/customers", { name: "Ada", email: "ada@example.com" }),
    field: /^Phone/,
    mine: "+123456789",
    ours: { phoneNumber: "+123456789" },
    theirs: { name: "Ada L" },
  },
  {
    what: "an endpoint",
    list: "/webhooks",
    heading: "shop.example.com",
    open: "Edit",
    dialog: "Edit endpoint",
    make: (merchant) => merchant.call("POST", "/webhooks", { url: "https://shop.example.com/hook", events: ["*"] }),
    page: ({ id }) => `/developers/endpoints/${id}`,
    field: /^Description/,
    mine: "Main",
    ours: { description: "Main" },
    theirs: { retryCount: 3 },
  },
  {
    what: "an API key",
    list: "/api-keys",
    heading: "Developers",
    open: "Edit: Shop",
    dialog: "Edit key",
    make: (merchant) =>
      merchant.call("POST", "/api-keys", { name: "Shop", kind: "SECRET", permissions: ["INVOICE_VIEW"] }),
    page: () => "/developers",
    field: /addresses/i,
    mine: "192.0.2.7",
    ours: { allowedIps: ["192.0.2.7"] },
    theirs: { name: "Old shop" },
  },
];

describeInBrowser("two people who change the same thing", () => {
  const browsing = useBrowser();

  it.each(CASES)("overwrite none of each other's changes to $what", async (of) => {
    const { page } = await browsing.visit(QUIET);
    await page.clock.install();
    const merchant = await openMerchant(page);
    const thing = await of.make(merchant);
    await page.goto(`/console/${merchant.id}${of.page(thing)}`);
    await untilPage(page, of.heading);
    await page.getByRole("button", { name: of.open, exact: true }).click();
    const dialog = page.getByRole("dialog", { name: of.dialog });
    const field = dialog.getByLabel(of.field);
    await field.fill(of.mine);
    await untilRead(page, of, () => merchant.call("PATCH", `${of.list}/${thing.id}`, of.theirs));
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    type List = readonly Thing[] | { readonly data: readonly Thing[] };
    const list = await merchant.call<List>("GET", of.list);
    const all = "data" in list ? list.data : list;
    expect(all.find(({ id }) => id === thing.id)).toMatchObject({ ...of.ours, ...of.theirs });
  });
});

/**
 * Lets the colleague make the change, then returns to the page repeatedly until the page has read the change: the page skips a read if another of its
 * reads was answered shortly before.
 */
async function untilRead(page: Page, { list, theirs }: Case, change: () => Promise<unknown>): Promise<void> {
  const changed = JSON.stringify(theirs).slice(1, -1);
  let read = false;
  page.on("response", async (answer) => {
    if (answer.request().method() !== "GET" || !new URL(answer.url()).pathname.includes(list)) return;
    const body = await answer.text().catch(() => "");
    read ||= body.includes(changed);
  });
  await change();
  await vi.waitFor(
    async () => {
      await page.clock.fastForward(STALE_AFTER_MS + 1_000);
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
      await setTimeout(500);
      expect(read, "the page has read the colleague's change").toBe(true);
    },
    { timeout: 120_000, interval: 500 },
  );
}
