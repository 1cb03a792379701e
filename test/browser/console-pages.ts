// Every console page in one list: scripts/console-pictures.ts takes a picture of each, and console-look.test.ts checks each with axe, in both
// schemes. For a new page, add a line.
import type { Page } from "playwright-core";
import { untilIdle } from "../support/page-idle.ts";
import { follow } from "./console-links.ts";
import type { Course, Month } from "./console-month.ts";
import { emailOf } from "./testbed.ts";

/**
 * Who sees the page: a visitor who is not signed in, the owner of a merchant with a month of data or without data, or an operator of the deployment.
 */
type Viewer = "NOBODY" | "MONTH" | "NEWCOMER" | "OPERATOR";

/** The data that pages show: a merchant with a month of data, or one without data. */
export type Seen = Pick<Month, "merchantId"> & Partial<Month>;

export interface ConsolePage {
  /** The page's name, also used in the file names of its screenshots. */
  readonly name: string;
  readonly viewers: readonly Viewer[];
  readonly path: (of: Seen) => string;
  /** The page's `h1`; undefined if that is the invoice's name. */
  readonly heading?: string;
  /** Brings the loaded page into the state that is to be shown. */
  readonly act?: (page: Page) => Promise<void>;
}

const BOTH = ["MONTH", "NEWCOMER"] as const;
const ALONE = ["MONTH"] as const;

const ENDPOINTS = "/developers?tab=endpoints";

const AUTHORIZE =
  "/api-keys/authorize?permissions=btcpay.store.canviewinvoices&applicationName=WooCommerce&redirect=https%3A%2F%2Fshop.example%2F";

const button = (name: string) => (page: Page) => page.getByRole("button", { name }).first().click();

export const CONSOLE_PAGES: readonly ConsolePage[] = [
  { name: "sign-in", viewers: ["NOBODY"], path: () => "/sign-in", heading: "Sign in" },
  { name: "sign-in-code", viewers: ["NOBODY"], path: () => "/sign-in", heading: "Sign in", act: askForCode },
  { name: "setup", viewers: ["NOBODY"], path: () => "/setup#x", heading: "Set up Edgetill" },
  { name: "setup-without-link", viewers: ["NOBODY"], path: () => "/setup", heading: "Set up Edgetill" },
  { name: "disable-wallet", viewers: ["NOBODY"], path: () => "/wallets/disable#token=x", heading: "Disable a wallet" },
  { name: "invitations", viewers: BOTH, path: () => "/invitations", heading: "Invitation to a team" },
  { name: "authorize", viewers: ALONE, path: () => AUTHORIZE, heading: "Connect an application" },
  { name: "welcome", viewers: ALONE, path: () => "/console/welcome", heading: "Welcome" },
  { name: "account", viewers: ALONE, path: () => "/console/account", heading: "Account" },
  { name: "no-such-page", viewers: ALONE, path: () => "/console/mer_x/invoices" },
  { name: "mailbox", viewers: ALONE, path: mailbox, heading: "Development mailbox" },
  { name: "home", viewers: ["MONTH"], path: of(""), heading: "Home", act: untilChart },
  { name: "home-table", viewers: ALONE, path: of("?days=7"), heading: "Home", act: button("Show as a table") },
  { name: "home-needs", viewers: ALONE, path: of("?days=90"), heading: "Home", act: openNeed },
  { name: "home", viewers: ["NEWCOMER"], path: of(""), heading: "Home" },
  { name: "search", viewers: ALONE, path: of("/invoices"), heading: "Invoices", act: search },
  { name: "invoices", viewers: BOTH, path: of("/invoices"), heading: "Invoices" },
  {
    name: "invoices-selected",
    viewers: ALONE,
    path: of("/invoices?currency=USD"),
    heading: "Invoices",
    act: selectAll,
  },
  { name: "invoice-preview", viewers: ALONE, path: of("/invoices?status=PAID"), heading: "Invoices", act: preview },
  { name: "new-invoice", viewers: ALONE, path: of("/invoices"), heading: "Invoices", act: fillNewInvoice },
  {
    name: "first-wallet",
    viewers: ["NEWCOMER"],
    path: of("/invoices"),
    heading: "Invoices",
    act: button("New invoice"),
  },
  { name: "reports", viewers: BOTH, path: of("/reports"), heading: "Reports" },
  { name: "invoices-none-found", viewers: ALONE, path: of("/invoices?search=zzz"), heading: "Invoices" },
  ...(["awaiting", "confirming", "paid", "overpaid", "underpaid", "late", "open"] as const).map(invoice),
  { ...invoice("late"), name: "decide", act: button("Resolve") },
  { ...invoice("awaiting"), name: "edit-invoice", act: button("Edit") },
  { name: "payments", viewers: BOTH, path: of("/payments"), heading: "Payments to review" },
  {
    name: "look-up",
    viewers: ALONE,
    path: of("/payments"),
    heading: "Payments to review",
    act: button("Look up transaction"),
  },
  { name: "payment", viewers: ALONE, path: unmatched, heading: "77.123456 USDT", act: button("Show source data") },
  { name: "assign", viewers: ALONE, path: unmatched, heading: "77.123456 USDT", act: button("Assign to this invoice") },
  { name: "ignore", viewers: ALONE, path: unmatched, heading: "77.123456 USDT", act: button("Ignore payment") },
  { name: "wallets", viewers: BOTH, path: of("/wallets"), heading: "Wallets" },
  { name: "new-wallet", viewers: ALONE, path: of("/wallets"), heading: "Wallets", act: pasteKey },
  { name: "wallet", viewers: ALONE, path: of("/wallets"), heading: "Wallets", act: row(/^BTC/, "All wallets") },
  { name: "readiness", viewers: BOTH, path: of("/readiness"), heading: "Can I accept payments now?" },
  { name: "products", viewers: BOTH, path: of("/products"), heading: "Products" },
  { name: "new-product", viewers: ALONE, path: of("/products"), heading: "Products", act: button("New product") },
  { name: "product", viewers: ALONE, path: of("/products"), heading: "Products", act: row(/grinder/, "All products") },
  { name: "edit-product", viewers: ALONE, path: of("/products"), heading: "Products", act: editProduct },
  { name: "customers", viewers: BOTH, path: of("/customers"), heading: "Customers" },
  {
    name: "customer",
    viewers: ALONE,
    path: of("/customers"),
    heading: "Customers",
    act: row(/^Ann Miller/, "All customers"),
  },
  { name: "new-customer", viewers: ALONE, path: of("/customers"), heading: "Customers", act: button("New customer") },
  { name: "developers", viewers: BOTH, path: of("/developers"), heading: "Developers" },
  { name: "new-key", viewers: ALONE, path: of("/developers"), heading: "Developers", act: button("New key") },
  { name: "endpoints", viewers: BOTH, path: of(ENDPOINTS), heading: "Developers" },
  { name: "new-endpoint", viewers: ALONE, path: of(ENDPOINTS), heading: "Developers", act: button("New endpoint") },
  { name: "endpoint", viewers: ALONE, path: of(ENDPOINTS), heading: "Developers", act: failingEndpoint },
  { name: "events", viewers: ALONE, path: of("/developers?tab=events"), heading: "Developers" },
  { name: "event", viewers: ALONE, path: of("/developers?tab=events"), heading: "Developers", act: newestEvent },
  { name: "team", viewers: BOTH, path: of("/team"), heading: "Team" },
  { name: "invite", viewers: ALONE, path: of("/team"), heading: "Team", act: button("Invite") },
  { name: "settings", viewers: BOTH, path: of("/settings"), heading: "Settings" },
  { name: "audit", viewers: BOTH, path: of("/audit"), heading: "Audit" },
  {
    name: "audit-entry",
    viewers: ALONE,
    path: of("/audit?action=settings.updated"),
    heading: "Audit",
    act: newestEntry,
  },
  { name: "operator", viewers: ["OPERATOR"], path: () => "/operator", heading: "Operator" },
  { name: "pause", viewers: ["OPERATOR"], path: () => "/operator", heading: "Operator", act: button("Pause") },
  { name: "suspend", viewers: ["OPERATOR"], path: () => "/operator", heading: "Operator", act: button("Suspend") },
  { name: "reread", viewers: ["OPERATOR"], path: () => "/operator", heading: "Operator", act: button("Rescan") },
];

function of(rest: string) {
  return ({ merchantId }: Seen) => `/console/${merchantId}${rest}`;
}

/** Opens the first row with this name in a list, and waits for its page, which has a link back. */
function row(name: RegExp, back: string) {
  return async (page: Page) => {
    await page.getByRole("link", { name }).first().click();
    await page.getByRole("link", { name: back }).waitFor();
  };
}

/** BIP84 "Test vectors". */
const KEY =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

async function pasteKey(page: Page): Promise<void> {
  await button("Add a wallet")(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address or extended public key").fill(KEY);
  await dialog.getByRole("table").waitFor();
}

async function editProduct(page: Page): Promise<void> {
  await row(/grinder/, "All products")(page);
  await button("Edit")(page);
  await page.getByRole("img", { name: "The product" }).waitFor();
}

function invoice(course: Course): ConsolePage {
  const path = ({ merchantId, invoices }: Seen) => `/console/${merchantId}/invoices/${invoices?.[course]}`;
  return { name: `invoice-${course}`, viewers: ALONE, path };
}

function mailbox({ merchantId }: Seen): string {
  return `/dev/mail?to=${encodeURIComponent(emailOf(merchantId, "OWNER"))}`;
}

function unmatched({ merchantId, unmatched: paymentId }: Seen): string {
  return `/console/${merchantId}/payments/${paymentId}`;
}

async function untilChart(page: Page): Promise<void> {
  await page.getByRole("img", { name: /^Received by day/ }).waitFor();
}

async function openNeed(page: Page): Promise<void> {
  await page.getByRole("button", { name: /Unmatched payments/ }).click();
  await page.getByRole("article", { name: "Unmatched payments" }).waitFor();
}

async function selectAll(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await page.getByRole("region", { name: "Selected invoices" }).waitFor();
}

async function preview(page: Page): Promise<void> {
  await page
    .getByRole("button", { name: /^Actions for/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: "Preview" }).click();
  await page.getByRole("dialog").getByRole("link", { name: "View invoice" }).waitFor();
}

async function search(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("textbox", { name: "Find a page, an invoice or a customer" }).fill("lena@example.com");
  await page.getByRole("dialog").getByText("Espresso machine, refurbished").waitFor();
}

async function fillNewInvoice(page: Page): Promise<void> {
  await button("New invoice")(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Product" }).click();
  await page.getByRole("option", { name: /^Hand grinder/ }).click();
  await dialog.getByRole("combobox", { name: "Existing customer" }).click();
  await page.getByRole("option", { name: /kenji/ }).click();
}

/** Opens the endpoint's page, with its last request and response. */
async function failingEndpoint(page: Page): Promise<void> {
  await row(/warehouse/, "All endpoints")(page);
  await page
    .getByRole("button", { name: /payment\./ })
    .first()
    .click();
  await page.getByText("Request body that endpoints receive").waitFor();
}

async function newestEvent(page: Page): Promise<void> {
  await page
    .getByRole("button", { name: /invoice\./ })
    .first()
    .click();
  await page.getByText("Request body that endpoints receive").waitFor();
}

async function newestEntry(page: Page): Promise<void> {
  await page
    .getByRole("button", { name: /changed the settings/ })
    .first()
    .click();
  await page.getByRole("columnheader", { name: "After" }).waitFor();
}

async function askForCode(page: Page): Promise<void> {
  await page.getByLabel("Email address").fill("somebody.with.a.long.name@example.com");
  await button("Send me a code")(page);
  await page.getByLabel("Digit 1 of the code").waitFor();
}

/** Opens a page by its address, and waits until none of it is still loading. */
export async function openConsolePage(page: Page, each: ConsolePage, of: Seen): Promise<void> {
  await page.goto(each.path(of));
  await untilShown(page, each);
}

/** Opens a page through the console's router, as a link does. Nothing stays open from the previous page. */
export async function followToConsolePage(page: Page, each: ConsolePage, of: Seen): Promise<void> {
  // Escape closes the search, which overlays all pages. Dialogs and opened rows would remain if the page stayed the same, so this first goes to a
  // page that is not in the list.
  await page.keyboard.press("Escape");
  await follow(page, "/console/welcome");
  await page.getByRole("dialog").first().waitFor({ state: "detached" });
  await follow(page, each.path(of));
  await untilShown(page, each);
}

async function untilShown(page: Page, { heading, act }: ConsolePage): Promise<void> {
  await page.getByRole("heading", { level: 1, ...(heading === undefined ? {} : { name: heading }) }).waitFor();
  await untilIdle(page);
  if (act === undefined) return;
  await act(page);
  await untilIdle(page);
}
