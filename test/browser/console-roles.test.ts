// What each role sees in the navigation, on Home, and on the pages for invoices and payments to review (console-roles-harness.ts).
import { beforeAll, describe, expect, inject, it } from "vitest";
import { NEEDS } from "../../dashboard/src/home/needs.ts";
import { ROLES } from "../../src/accounts/roles/roles.ts";
import { EXPECTED_IN_CONSOLE, freshAddress, REFUSED_IN_CONSOLE, signIn, untilPage } from "./console-harness.ts";
import {
  ALL,
  type Area,
  allowed,
  COUNTS,
  expectPlaces,
  type Needs,
  PLACE_WITHIN_MS,
  permissionsOf,
} from "./console-roles-harness.ts";
import { describeInBrowser, mine, ON_ETH, openShop, type PageShop, send, until, useBrowser } from "./harness.ts";
import { changeDatabase, emailOf } from "./testbed.ts";

const SEEN_WITHIN_MS = 120_000;

/** The navigation's links, in order. */
const LINKS: Readonly<Record<string, Needs>> = {
  Home: "merchant:view",
  Invoices: "invoice:view",
  "Payments to review": "payment:view",
  Wallets: "wallet:view",
  Products: "product:view",
  Customers: "customer:view",
  Reports: "invoice:view",
  Developers: "api_key:view",
  Team: "team:view",
  Settings: "merchant:view",
  Audit: "audit:view",
  Account: ALL,
};

const OF_AN_INVOICE = { Summary: ALL, Timeline: ALL, Payments: ALL, "Payment methods": ALL, Events: "webhook:view" };
const COPIES = { "Copy link": ALL, "Copy the ID": ALL };

/** Where the shop's server would receive events; no server answers there. */
const SWITCHED_OFF = "http://127.0.0.1:9/orders";
const FAILING = "http://127.0.0.1:9/pings";

const invoicesOf = ({ merchantId }: Shop) => `/console/${merchantId}/invoices`;
const OF_ANY_LIST = { "New invoice": "invoice:create", "Export as CSV": ALL, "Actions for": ALL, Columns: ALL };
const OF_THE_LIST = { ...OF_ANY_LIST, Newest: ALL, Older: ALL };
const OF_WAITING = { ...COPIES, Edit: "invoice:update", "Cancel invoice": "invoice:cancel" };

const OF_HOME = { "Skip: Get your first invoice paid": "invoice:create", "New invoice": "invoice:create" };
const SECTIONS_OF_HOME = {
  "First steps": "invoice:create",
  "Needs attention": ALL,
  Received: "invoice:view",
  Invoices: "invoice:view",
};
/** The buttons of the "Needs attention" strip; each name starts with a number. */
const KINDS_OF_NEEDS = /^\d+ · /;
const REMEDIES: Readonly<
  Record<string, { readonly about: string; readonly buttons: Readonly<Record<string, Needs>> }>
> = {
  "Disabled endpoints": {
    about: NEEDS.ENDPOINT_DISABLED.about,
    buttons: { [`Turn on again: ${SWITCHED_OFF}`]: "webhook:update" },
  },
  "Failing endpoints": {
    about: NEEDS.ENDPOINT_FAILING.about,
    buttons: { [`Send a ping: ${FAILING}`]: "webhook:update" },
  },
  "Altered wallets": {
    about: NEEDS.WALLET_ALTERED.about,
    buttons: { "Delete wallet: USDC on ETH": "wallet:delete" },
  },
  "Pending wallet changes": {
    about: NEEDS.WALLET_CHANGE_PENDING.about,
    buttons: { "Disable wallet: DAI on ETH": "wallet:update" },
  },
};

const PLACES: readonly Area<Shop>[] = [
  {
    name: "Home",
    path: ({ merchantId }) => `/console/${merchantId}`,
    heading: "Home",
    buttons: OF_HOME,
    sections: SECTIONS_OF_HOME,
    besides: KINDS_OF_NEEDS,
  },
  ...Object.entries(REMEDIES).map(([title, { about, buttons }]) => ({
    name: `Home, where ${title} is opened`,
    path: ({ merchantId }: Shop) => `/console/${merchantId}`,
    heading: "Home",
    opens: new RegExp(title),
    opened: about,
    buttons: { ...OF_HOME, ...buttons },
    sections: SECTIONS_OF_HOME,
    besides: KINDS_OF_NEEDS,
  })),
  { name: "the list of invoices", path: invoicesOf, heading: "Invoices", buttons: OF_THE_LIST },
  {
    name: "the menu of an invoice in the list",
    path: (shop) => `${invoicesOf(shop)}?search=Waiting`,
    heading: "Invoices",
    buttons: OF_ANY_LIST,
    opens: /^Actions for Waiting/,
    items: { Preview: ALL, "Copy link": ALL, "Show QR code": ALL, Edit: "invoice:update" },
  },
  {
    name: "an invoice that waits for its payment",
    path: (shop) => `${invoicesOf(shop)}/${shop.waiting}`,
    heading: "Waiting",
    buttons: OF_WAITING,
    sections: OF_AN_INVOICE,
  },
  {
    name: "what can be done with several invoices",
    path: (shop) => `${invoicesOf(shop)}?search=Waiting`,
    heading: "Invoices",
    selects: /^Select Waiting/,
    buttons: {
      ...OF_ANY_LIST,
      "Copy links": ALL,
      "Export selected": ALL,
      "Cancel 1 invoice": "invoice:cancel",
      "Clear selection": ALL,
    },
    sections: {},
  },
  {
    name: "the deliveries of an event",
    path: (shop) => `${invoicesOf(shop)}/${shop.waiting}`,
    heading: "Waiting",
    buttons: { ...OF_WAITING, [`Send again to ${SWITCHED_OFF}`]: "webhook:update" },
    sections: OF_AN_INVOICE,
    opens: /^invoice\.created/,
    opened: SWITCHED_OFF,
  },
  {
    name: "an invoice that is over",
    path: (shop) => `${invoicesOf(shop)}/${shop.over}`,
    heading: "Over",
    buttons: { ...COPIES, Resolve: "payment:resolve" },
    sections: OF_AN_INVOICE,
  },
  {
    name: "an invoice that needs a decision",
    path: (shop) => `${invoicesOf(shop)}/${shop.inReview}`,
    heading: "In review",
    buttons: { ...COPIES, Resolve: "payment:resolve" },
    sections: OF_AN_INVOICE,
  },
  {
    name: "the payments to review",
    path: ({ merchantId }) => `/console/${merchantId}/payments`,
    heading: "Payments to review",
    buttons: { "Look up transaction": "payment:resolve" },
    sections: { "Invoices that need a decision": "invoice:view" },
  },
  {
    name: "a payment that waits for a decision",
    path: ({ merchantId, unmatched }) => `/console/${merchantId}/payments/${unmatched}`,
    heading: "0.03 ETH",
    buttons: {
      "Copy the ID": ALL,
      "Show source data": ALL,
      "Ignore payment": "payment:resolve",
      "Mark as returned": "payment:resolve",
      "Assign to this invoice": "payment:resolve",
      "Assign to selected invoice": "payment:resolve",
    },
    sections: {
      "This payment": ALL,
      Candidate: "invoice:view",
      "Another invoice": "payment:resolve",
      Evidence: ALL,
    },
  },
  {
    name: "a payment that was ignored",
    path: ({ merchantId, ignored }) => `/console/${merchantId}/payments/${ignored}`,
    heading: "0.04 ETH",
    buttons: {
      "Copy the ID": ALL,
      "Show source data": ALL,
      "Reopen payment": "payment:resolve",
      "Assign to this invoice": "payment:resolve",
      "Assign to selected invoice": "payment:resolve",
    },
    sections: {
      "This payment": ALL,
      Candidate: "invoice:view",
      "Another invoice": "payment:resolve",
      Evidence: ALL,
    },
  },
];

interface Shop extends PageShop {
  readonly waiting: string;
  readonly over: string;
  readonly inReview: string;
  readonly unmatched: string;
  readonly ignored: string;
}

/** More invoices than fit on a page, and one of each kind that a page treats differently. */
async function stockedShop(): Promise<Shop> {
  const shop = await openShop(["USDT", "USDC", "DAI", "ETH"]);
  for (let more = 0; more < 25; more++) await shop.createInvoice();
  await shop.call("POST", "/webhooks", { url: SWITCHED_OFF, events: ["invoice.created"] });
  // No invoice is paid here, so that no delivery changes the endpoint's count of failures.
  await shop.call("POST", "/webhooks", { url: FAILING, events: ["invoice.paid"] });
  const named = async (name: string) => (await shop.createInvoice({ name })).id;
  const [waiting, over, inReview] = [await named("Waiting"), await named("Over"), await named("In review")];
  await shop.cancelInvoice(over);
  await shop.cancelInvoice(inReview);
  const candidate = await shop.createInvoice({ name: "Candidate", paymentMethods: [ON_ETH("ETH")] });
  const address = candidate.paymentMethods.find((each) => each.address !== null)?.address ?? "";
  const [unmatched, ignored] = [await receive(shop, "0.03", address), await receive(shop, "0.04", address)];
  await shop.call("POST", `/payments/${ignored}/resolve`, { action: "IGNORE", reason: "A test of the wallet" });
  changeDatabase(inject("testbed"), (database) => {
    const set = (change: string, ...of: string[]) => database.prepare(`UPDATE ${change}`).run(...of);
    const { merchantId } = shop;
    set("invoices SET needs_review = 1 WHERE id = ?", inReview);
    set(
      "webhooks SET is_active = 0, disabled_reason = 'FAILING' WHERE merchant_id = ? AND url = ?",
      merchantId,
      SWITCHED_OFF,
    );
    set("webhooks SET failures_in_row = 50 WHERE merchant_id = ? AND url = ?", merchantId, FAILING);
    set("wallets SET address = lower(address) || 'x' WHERE merchant_id = ? AND cryptocurrency = 'USDC'", merchantId);
    const soon = String(Date.now() + 3_600_000);
    set("wallets SET usable_from_ms = ? WHERE merchant_id = ? AND cryptocurrency = 'DAI'", soon, merchantId);
  });
  return { ...shop, waiting, over, inReview, unmatched, ignored };
}

/** Sends ETH that no rule credits; returns the id of the payment. */
async function receive(shop: PageShop, amount: string, address: string): Promise<string> {
  const hash = await send("ETH", amount, address);
  const found = async () => {
    await mine();
    const list = await shop.call<{ readonly data: readonly { readonly id: string }[] }>(
      "GET",
      `/payments?txHash=${hash}`,
    );
    return list.data[0]?.id;
  };
  return String(await until(found, (id) => id !== undefined, SEEN_WITHIN_MS));
}

describe("the table of permissions", () => {
  it.each(ROLES)("gives %s the number of permissions that the interface documents", (role) => {
    expect(permissionsOf(role).size).toBe(COUNTS[role]);
  });
});

describeInBrowser("a member of the team", () => {
  const browsing = useBrowser();
  let shop: Shop;
  beforeAll(async () => {
    shop = await stockedShop();
  });

  const patience = { timeout: PLACES.length * PLACE_WITHIN_MS };
  it.each(ROLES)(
    "with the role %s sees the pages and buttons that the role allows, and no others",
    patience,
    async (role) => {
      const { page } = await browsing.visit({ reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE });
      await page.goto(`/console/${shop.merchantId}`);
      await signIn(page, emailOf(shop.merchantId, role));
      await untilPage(page, "Home");
      const links = page.getByRole("navigation", { name: "Console" }).getByRole("link");
      await expect.poll(() => links.allTextContents()).toEqual(allowed(LINKS, role));
      await expectPlaces(page, { places: PLACES, shop, role });
    },
  );

  it("has access that others lack: a user outside the team sees an error, and none of the merchant's data", async () => {
    const { page } = await browsing.visit({ reducedMotion: "reduce", alsoSaid: REFUSED_IN_CONSOLE });
    await page.goto(`/console/${shop.merchantId}/invoices/${shop.waiting}`);
    await signIn(page, freshAddress());
    await page.getByText("This could not be loaded").waitFor();
    expect(await page.getByText("Waiting").count()).toBe(0);
  });
});
