// Every page of the console as all must be able to read it: axe in both schemes, wide and narrow, and nothing to be scrolled sideways. The
// list of pages is console-pages.ts.
import { beforeAll, describe, expect, inject, it } from "vitest";
import { shopApi } from "../../scripts/demo-story/shop.ts";
import { axeFindings, findingsInSchemes } from "../support/page-axe.ts";
import { enter } from "./console-entry.ts";
import { REFUSED_IN_CONSOLE } from "./console-harness.ts";
import { fillMonth, type Month } from "./console-month.ts";
import { CONSOLE_PAGES, type ConsolePage, followToConsolePage, openConsolePage, type Seen } from "./console-pages.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";
import { emailOf, makeOperator, takeShop } from "./street.ts";

const PHONE = 360;
const DESK = 1280;
/** An end to what hangs, on a busy machine. */
const PAGE_WITHIN_MS = 120_000;
const EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** A page is loaded by its address once for each viewer. Its other states are followed to, as a user comes to them. */
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
    const street = inject("street");
    const { merchantId, key } = takeShop(street);
    month = await fillMonth({ street, shop: shopApi(street.baseUrl, merchantId, key) });
    newcomer = takeShop(street);
    operator = takeShop(street);
    makeOperator(street, emailOf(operator.merchantId, "OWNER"));
  });

  describe.each(["NOBODY", "MONTH", "NEWCOMER", "OPERATOR"] as const)("as it is shown to %s", (viewer) => {
    const pages = CONSOLE_PAGES.filter(({ viewers }) => viewers.includes(viewer));

    it("can be read by all, in both schemes, on a phone and a desk", {
      timeout: pages.length * PAGE_WITHIN_MS,
    }, async () => {
      const seen = { NOBODY: month, MONTH: month, NEWCOMER: newcomer, OPERATOR: operator }[viewer];
      const { page } = await browsing.visit({ reducedMotion: "reduce", alsoSaid: REFUSED_IN_CONSOLE });
      if (viewer !== "NOBODY") await enter(page.context(), inject("street").baseUrl, emailOf(seen.merchantId, "OWNER"));
      const found: string[] = [];
      const loaded = new Set<string>();
      for (const each of pages) {
        const isInConsole = [each.path(seen), new URL(page.url()).pathname].every((path) =>
          path.startsWith("/console/"),
        );
        if (isInConsole && loaded.has(routeOf(each, seen))) await followToConsolePage(page, each, seen);
        else {
          // Pages that differ in the fragment alone would not be loaded anew.
          await page.goto("about:blank");
          await openConsolePage(page, each, seen);
          loaded.add(routeOf(each, seen));
        }
        const isFitting = (what: string) =>
          // A window that was just made narrow needs a moment to settle.
          expect
            .poll(() => page.evaluate<number>(EXCESS), { message: `${each.name}, ${what}: wider than its window` })
            .toBe(0);
        // Both schemes where the most is shown, and one where it is narrow.
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
