// The accessibility of every console page: axe in both schemes, wide and narrow, without sideways scrolling. console-pages.ts lists the
// pages.
import { beforeAll, describe, expect, inject, it } from "vitest";
import { shopApi } from "../../scripts/demo-story/shop.ts";
import { axeFindings, findingsInSchemes } from "../support/page-axe.ts";
import { enter } from "./console-entry.ts";
import { REFUSED_IN_CONSOLE } from "./console-harness.ts";
import { fillMonth, type Month } from "./console-month.ts";
import { CONSOLE_PAGES, type ConsolePage, followToConsolePage, openConsolePage, type Seen } from "./console-pages.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";
import { emailOf, makeOperator, takeShop } from "./testbed.ts";

const PHONE = 360;
const DESK = 1280;
/** A time limit that stops a test that hangs, generous for a busy machine. */
const PAGE_WITHIN_MS = 120_000;
const EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** Identifies a page in any of its states. A page is loaded by its address once per viewer; its other states are reached through links. */
function routeOf({ heading, path }: ConsolePage, seen: Seen): string {
  const [pathname = ""] = path(seen).split(/[?#]/);
  return `${pathname.replace(/\b[a-z]+_\w+/g, ":id")} ${heading?.replace(/^[\d.]+ /, "")}`;
}

describeInBrowser("every page of the console", () => {
  const browsing = useBrowser();
  let month: Month;
  let newcomer: Seen;
  let operator: Seen;
  beforeAll(async () => {
    const testbed = inject("testbed");
    const { merchantId, key } = takeShop(testbed);
    month = await fillMonth({ testbed, shop: shopApi(testbed.baseUrl, merchantId, key) });
    newcomer = takeShop(testbed);
    operator = takeShop(testbed);
    makeOperator(testbed, emailOf(operator.merchantId, "OWNER"));
  });

  describe.each(["NOBODY", "MONTH", "NEWCOMER", "OPERATOR"] as const)("as shown to %s", (viewer) => {
    const pages = CONSOLE_PAGES.filter(({ viewers }) => viewers.includes(viewer));

    it("is accessible in both colour schemes, on a phone and a desktop", {
      timeout: pages.length * PAGE_WITHIN_MS,
    }, async () => {
      const seen = { NOBODY: month, MONTH: month, NEWCOMER: newcomer, OPERATOR: operator }[viewer];
      const { page } = await browsing.visit({ reducedMotion: "reduce", alsoSaid: REFUSED_IN_CONSOLE });
      if (viewer !== "NOBODY")
        await enter(page.context(), inject("testbed").baseUrl, emailOf(seen.merchantId, "OWNER"));
      const found: string[] = [];
      const loaded = new Set<string>();
      for (const each of pages) {
        const isInConsole = [each.path(seen), new URL(page.url()).pathname].every((path) =>
          path.startsWith("/console/"),
        );
        if (isInConsole && loaded.has(routeOf(each, seen))) await followToConsolePage(page, each, seen);
        else {
          // Without this, pages that differ only in the fragment would not be reloaded.
          await page.goto("about:blank");
          await openConsolePage(page, each, seen);
          loaded.add(routeOf(each, seen));
        }
        const isFitting = (what: string) =>
          // A window that was just narrowed needs a moment to settle.
          expect
            .poll(() => page.evaluate<number>(EXCESS), { message: `${each.name}, ${what}: wider than its window` })
            .toBe(0);
        // Checks both schemes at the wide width, which shows the most, and one scheme at the narrow width.
        await page.emulateMedia({ colorScheme: "light" });
        await isFitting(`${DESK} px, light`);
        found.push(...(await findingsInSchemes(page)).map((finding) => `${each.name}, ${DESK} px, ${finding}`));
        await isFitting(`${DESK} px, dark`);
        await page.setViewportSize({ width: PHONE, height: 800 });
        await isFitting(`${PHONE} px, dark`);
        found.push(...(await axeFindings(page)).map((finding) => `${each.name}, ${PHONE} px, dark: ${finding}`));
        await page.setViewportSize({ width: DESK, height: 800 });
      }
      expect(found).toEqual([]);
    });
  });
});
