// How many requests and bytes it takes to open a page of the console, in a browser with an empty cache.
import { beforeAll, expect, inject, it } from "vitest";
import { GATHER_MS } from "../../dashboard/src/api/live.ts";
import { untilIdle } from "../support/page-idle.ts";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE } from "./console-harness.ts";
import { createOrder, openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";
import { emailOf, takeShop } from "./testbed.ts";

const MOST_REQUESTS = 25;
const MOST_BYTES = 300 * 1_024;

const PAGES = [
  "",
  "/invoices",
  "/payments",
  "/reports",
  "/wallets",
  "/products",
  "/customers",
  "/developers",
  "/team",
  "/settings",
  "/audit",
];

describeInBrowser("the first page that is opened", () => {
  const browsing = useBrowser();
  let merchantId: string;
  beforeAll(() => {
    ({ merchantId } = takeShop(inject("testbed")));
  });

  async function costOf(path: string) {
    const { page, loads, sockets } = await browsing.visit({ alsoSaid: EXPECTED_IN_CONSOLE });
    await enter(page.context(), inject("testbed").baseUrl, emailOf(merchantId, "OWNER"));
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await untilIdle(page);
    return { page, loads, requests: loads.length + sockets.length };
  }

  it.each(PAGES)("/console/:merchantId%s makes at most 25 requests", async (rest) => {
    const { loads, requests } = await costOf(`/console/${merchantId}${rest}`);
    expect(requests).toBeGreaterThan(4);
    expect(requests).toBeLessThanOrEqual(MOST_REQUESTS);
    // Counts everything that is sent over the network, including styles and answers.
    if (rest === "") expect(loads.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it("makes at most 25 requests for an audit log whose entries are about twenty invoices, and names them all", async () => {
    const { page: shopPage } = await browsing.visit({ alsoSaid: EXPECTED_IN_CONSOLE });
    const merchant = await openMerchant(shopPage);
    for (let number = 1; number <= 20; number++) await createOrder(merchant, `Order ${number}`);
    const { page, loads, sockets } = await browsing.visit({ alsoSaid: EXPECTED_IN_CONSOLE });
    await page.context().addCookies(await shopPage.context().cookies());
    await page.goto(`/console/${merchant.id}/audit`);
    for (const number of [1, 20]) await page.getByText(`You created “Order ${number}” for $49.90`).waitFor();
    await untilIdle(page);
    expect(loads.length + sockets.length).toBeLessThanOrEqual(MOST_REQUESTS);
  });

  it("requests nothing twice, even after its live updates have begun", async () => {
    const { page, loads } = await costOf(`/console/${merchantId}`);
    await page.waitForTimeout(GATHER_MS + 1_500);
    await untilIdle(page);
    expect(loads.map(({ url }) => url)).toEqual([...new Set(loads.map(({ url }) => url))]);
  });
});
