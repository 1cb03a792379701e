// What each role sees on the reports page (console-roles-harness.ts).
import { beforeAll, it } from "vitest";
import { ROLES } from "../../src/accounts/roles/roles.ts";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE, untilPage } from "./console-harness.ts";
import { ALL, type Area, expectPlaces, PLACE_WITHIN_MS } from "./console-roles-harness.ts";
import { describeInBrowser, mine, mineUntil, ON_ETH, openShop, type PageShop, send, useBrowser } from "./harness.ts";
import { emailOf } from "./testbed.ts";

const EXPORTS = {
  "Export invoices": "invoice:view",
  "Export payments": "payment:view",
  "Export statement": "payment:view",
};

const PLACES: readonly Area<PageShop>[] = [
  {
    name: "the report of a day with a payment",
    path: ({ merchantId }) => `/console/${merchantId}/reports`,
    heading: "Reports",
    needs: "invoice:view",
    buttons: EXPORTS,
    sections: { Received: ALL, "By day": ALL, "By coin": ALL, Export: ALL },
  },
  {
    name: "the report of days without any",
    path: ({ merchantId }) => `/console/${merchantId}/reports?from=2020-01-01&to=2020-01-31&by=month`,
    heading: "Reports",
    needs: "invoice:view",
    buttons: EXPORTS,
    sections: { Received: ALL, Export: ALL },
  },
];

describeInBrowser("a member of the team", () => {
  const browsing = useBrowser();
  let shop: PageShop;
  beforeAll(async () => {
    shop = await openShop(["ETH"]);
    const invoice = await shop.createInvoice({ rawAmount: 30, paymentMethods: [ON_ETH("ETH")] });
    const [method] = invoice.paymentMethods;
    await send("ETH", String(method?.amount), String(method?.address));
    await mine();
    await mineUntil(shop, invoice, "PAID");
  });

  const patience = { timeout: PLACES.length * PLACE_WITHIN_MS };
  it.each(ROLES)("with the role %s sees exactly what the role allows in reports", patience, async (role) => {
    const { page } = await browsing.visit({ reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE });
    await enter(page.context(), shop.baseUrl, emailOf(shop.merchantId, role));
    await page.goto(`/console/${shop.merchantId}`);
    await untilPage(page, "Home");
    await expectPlaces(page, { places: PLACES, shop, role });
  });
});
