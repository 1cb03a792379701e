// What each role sees on the pages for wallets, products and customers (console-roles-harness.ts).
import { beforeAll, inject, it } from "vitest";
import { ROLES } from "../../src/accounts/roles/roles.ts";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE, untilPage } from "./console-harness.ts";
import { ALL, type Area, expectPlaces, PLACE_WITHIN_MS } from "./console-roles-harness.ts";
import { describeInBrowser, openShop, type PageShop, useBrowser } from "./harness.ts";
import { changeDatabase, emailOf } from "./testbed.ts";

interface Shop extends PageShop {
  readonly key: string;
  readonly address: string;
  readonly pending: string;
  readonly altered: string;
  readonly product: string;
  readonly customer: string;
}

const OF_A_WALLET = { "Copy the ID": ALL, Disable: "wallet:update", Delete: "wallet:delete" };
const OF_THE_FORM = { Save: "wallet:update" };
/** The button for coins whose address is the same on other networks. */
const OF_EVM = { "Use this address on other networks": "wallet:create" };
const PARTS = { Summary: ALL, Confirmations: "wallet:update", Changes: "audit:view" };

const PLACES: readonly Area<Shop>[] = [
  {
    name: "the list of wallets",
    path: ({ merchantId }) => `/console/${merchantId}/wallets`,
    heading: "Wallets",
    needs: "wallet:view",
    buttons: { "Add a wallet": "wallet:create", "Disable wallet: ETH": "wallet:update" },
  },
  {
    name: "a wallet with one address",
    path: ({ merchantId, address }) => `/console/${merchantId}/wallets/${address}`,
    heading: "USDT on ETH",
    needs: "wallet:view",
    buttons: { ...OF_A_WALLET, ...OF_THE_FORM, ...OF_EVM },
    sections: { ...PARTS, "Other networks": "wallet:create" },
  },
  {
    name: "a wallet with an extended key",
    path: ({ merchantId, key }) => `/console/${merchantId}/wallets/${key}`,
    heading: "BTC",
    needs: "wallet:view",
    buttons: { ...OF_A_WALLET, ...OF_THE_FORM },
    sections: { ...PARTS, "First addresses": ALL, Recovery: ALL },
  },
  {
    name: "a wallet that is not used yet",
    path: ({ merchantId, pending }) => `/console/${merchantId}/wallets/${pending}`,
    heading: "ETH",
    needs: "wallet:view",
    buttons: { ...OF_A_WALLET, ...OF_THE_FORM, ...OF_EVM },
    sections: { ...PARTS, "Other networks": "wallet:create" },
  },
  {
    name: "a wallet that was altered",
    path: ({ merchantId, altered }) => `/console/${merchantId}/wallets/${altered}`,
    heading: "USDC on ETH",
    needs: "wallet:view",
    buttons: { "Copy the ID": ALL, Delete: "wallet:delete" },
    sections: { Summary: ALL, Changes: "audit:view" },
  },
  {
    name: "the list of products",
    path: ({ merchantId }) => `/console/${merchantId}/products`,
    heading: "Products",
    needs: "product:view",
    buttons: { "New product": "product:create" },
  },
  {
    name: "the list of products where none matches",
    path: ({ merchantId }) => `/console/${merchantId}/products?search=zzz`,
    heading: "Products",
    needs: "product:view",
    buttons: { "New product": "product:create", "Show all products": ALL },
  },
  {
    name: "a product",
    path: ({ merchantId, product }) => `/console/${merchantId}/products/${product}`,
    heading: "Hand grinder",
    needs: "product:view",
    buttons: {
      "Copy link": ALL,
      "Copy the ID": ALL,
      Edit: "product:update",
      "Take off sale": "product:update",
      Delete: "product:delete",
    },
    sections: { Summary: ALL, Share: ALL },
  },
  {
    name: "the list of customers",
    path: ({ merchantId }) => `/console/${merchantId}/customers`,
    heading: "Customers",
    needs: "customer:view",
    buttons: { "New customer": "customer:update" },
  },
  {
    name: "a customer",
    path: ({ merchantId, customer }) => `/console/${merchantId}/customers/${customer}`,
    heading: "Ada Byron",
    needs: "customer:view",
    buttons: { "Copy the ID": ALL, Edit: "customer:update", Erase: "customer:delete" },
    sections: { Details: ALL, Totals: ALL, Invoices: "invoice:view" },
  },
];

/** One object of each kind that a page treats differently. */
async function stockedShop(): Promise<Shop> {
  const shop = await openShop(["USDT", "USDC", "ETH", "BTC"]);
  const { id: product } = await shop.call<{ readonly id: string }>("POST", "/products", {
    name: "Hand grinder",
    price: 119,
  });
  await shop.createInvoice({ customerEmail: "ada@example.com", customerName: "Ada Byron" });
  const { data } = await shop.call<{ readonly data: readonly { readonly id: string }[] }>("GET", "/customers");
  const wallets = await shop.call<readonly { readonly id: string; readonly cryptocurrency: string }[]>(
    "GET",
    "/wallets",
  );
  const walletOf = (code: string) => wallets.find(({ cryptocurrency }) => cryptocurrency === code)?.id ?? "";
  const [address, altered, pending, key] = [walletOf("USDT"), walletOf("USDC"), walletOf("ETH"), walletOf("BTC")];
  changeDatabase(inject("testbed"), (database) => {
    const inAnHour = Date.now() + 3_600_000;
    database.prepare("UPDATE wallets SET usable_from_ms = ? WHERE id = ?").run(inAnHour, pending);
    database.prepare("UPDATE wallets SET address = lower(address) || 'x' WHERE id = ?").run(altered);
  });
  return { ...shop, key, address, pending, altered, product, customer: data[0]?.id ?? "" };
}

describeInBrowser("a member of the team", () => {
  const browsing = useBrowser();
  let shop: Shop;
  beforeAll(async () => {
    shop = await stockedShop();
  });

  const patience = { timeout: PLACES.length * PLACE_WITHIN_MS };
  it.each(ROLES)("with the role %s sees exactly what the role allows on the shop's pages", patience, async (role) => {
    const { page } = await browsing.visit({ reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE });
    await enter(page.context(), shop.baseUrl, emailOf(shop.merchantId, role));
    await page.goto(`/console/${shop.merchantId}`);
    await untilPage(page, "Home");
    await expectPlaces(page, { places: PLACES, shop, role });
  });
});
