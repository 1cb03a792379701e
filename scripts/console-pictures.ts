// `npm run console:pictures`: takes pictures of every page of the console, for a merchant with a full month and for an empty one, wide and narrow,
// light and dark. Run it by hand after a visual change, and look at them. Writes docs/screenshots/console/: `invoices.png` is wide and light, the
// others are `invoices-dark.png`, `invoices-narrow.png` and `invoices-narrow-dark.png`. Names given as arguments limit the run to those.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { enter } from "../test/browser/console-entry.ts";
import { fillMonth } from "../test/browser/console-month.ts";
import { CONSOLE_PAGES, openConsolePage, type Seen } from "../test/browser/console-pages.ts";
import { emailOf, makeOperator, openTestbed, type Testbed, takeShop } from "../test/browser/testbed.ts";
import { launchChromium } from "../test/support/page-browser.ts";
import { watchRequests } from "../test/support/page-idle.ts";
import { shopApi } from "./demo-story/shop.ts";
import { palettePng } from "./palette-png.ts";

const FOLDER = "docs/screenshots/console";
const WIDTHS = { "": 1280, "-narrow": 390 } as const;
const SCHEMES = { "": "light", "-dark": "dark" } as const;
/** In pixels. Longer pages are cut off here, because the rest of them looks the same. */
const TALLEST = 1_900;
const USUAL = 844;
const DAYS_BETWEEN = [4, 5, 3, 6, 4, 5, 2];

mkdirSync(FOLDER, { recursive: true });
const { testbed, close } = await openTestbed();
const browser = await launchChromium();
try {
  const { merchantId, key } = takeShop(testbed);
  const month = await fillMonth({
    testbed,
    daysBetween: DAYS_BETWEEN,
    shop: shopApi(testbed.baseUrl, merchantId, key),
  });
  const newcomer = takeShop(testbed);
  const operator = takeShop(testbed);
  makeOperator(testbed, emailOf(operator.merchantId, "OWNER"));
  for (const viewer of [
    { kind: "NOBODY", of: month, ending: "" },
    { kind: "MONTH", of: month, ending: "" },
    { kind: "NEWCOMER", of: newcomer, ending: "-empty" },
    { kind: "OPERATOR", of: operator, ending: "" },
  ] as const) {
    const page = await openBrowser(browser, testbed);
    if (viewer.kind !== "NOBODY") await enter(page.context(), testbed.baseUrl, emailOf(viewer.of.merchantId, "OWNER"));
    const pages = CONSOLE_PAGES.filter(({ viewers, name }) => viewers.includes(viewer.kind) && isWanted(name));
    for (const each of pages) await take(page, { ...each, name: each.name + viewer.ending }, viewer.of);
    await page.context().close();
  }
} finally {
  await browser.close();
  await close();
}

function isWanted(name: string): boolean {
  const wanted = process.argv.slice(2);
  return wanted.length === 0 || wanted.includes(name);
}

async function openBrowser(from: Browser, { baseUrl }: Testbed): Promise<Page> {
  const context = await from.newContext({ baseURL: baseUrl, locale: "en-US", reducedMotion: "reduce" });
  watchRequests(context);
  return context.newPage();
}

async function take(page: Page, of: (typeof CONSOLE_PAGES)[number], seen: Seen): Promise<void> {
  await page.setViewportSize({ width: 1280, height: USUAL });
  // Pages that differ only in the fragment would not be reloaded.
  await page.goto("about:blank");
  await openConsolePage(page, of, seen);
  for (const [narrow, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: USUAL });
    for (const [dark, colorScheme] of Object.entries(SCHEMES)) {
      await page.emulateMedia({ colorScheme });
      const path = join(FOLDER, `${of.name}${narrow}${dark}.png`);
      const picture = palettePng(await photograph(page, width));
      writeFileSync(path, picture);
      console.log(`${path}  ${Math.ceil(picture.length / 1_024)} KB`);
    }
  }
}

async function photograph(page: Page, width: number): Promise<Buffer> {
  // The window is made as tall as the page, so that elements with a fixed position appear in the right place. With a dialog it keeps its normal size,
  // so that the dialog stays in the middle.
  const tall = await page.evaluate<number>("document.documentElement.scrollHeight");
  const hasDialog = (await page.getByRole("dialog").count()) > 0;
  await page.setViewportSize({ width, height: hasDialog ? USUAL : Math.min(Math.max(tall, USUAL), TALLEST) });
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  await page.setViewportSize({ width, height: USUAL });
  return picture;
}
