// What a page of the console costs to open: how much is asked for, and how many bytes that is, in a browser that has nothing of it yet.
import { beforeAll, expect, inject, it } from "vitest";
import { untilIdle } from "../support/page-idle.ts";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE } from "./console-harness.ts";
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

describeInBrowser("a page that is opened first", () => {
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
    return { requests: loads.length + sockets.length, bytes: loads.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  it.each(PAGES)("/console/:merchantId%s makes at most 25 requests", async (rest) => {
    const { requests, bytes } = await costOf(`/console/${merchantId}${rest}`);
    expect(requests).toBeGreaterThan(4);
    expect(requests).toBeLessThanOrEqual(MOST_REQUESTS);
    // Of all that went over the wire, styles and answers included.
    if (rest === "") expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  });
});
