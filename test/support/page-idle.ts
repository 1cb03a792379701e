// When a page has nothing more to do: no response is pending, none is being read, and its scripts have run. It takes only as long as the page does,
// without the half second that "networkidle" adds, and it also works after a navigation within the page, which "networkidle" does not see.
import type { BrowserContext, Page, Request } from "playwright-core";
import { until } from "../../scripts/demo-story/until.ts";

const READ_WITHIN_MS = 120_000;

/** Each page's requests without a response yet. */
const awaited = new WeakMap<Page, Set<Request>>();

/** Call it before the context has a page. WebSockets do not count as requests. */
export function watchRequests(context: BrowserContext): void {
  context.on("page", (page) => {
    const open = new Set<Request>();
    awaited.set(page, open);
    page.on("request", (request) => open.add(request));
    page.on("requestfinished", (request) => open.delete(request));
    page.on("requestfailed", (request) => open.delete(request));
  });
}

/** A page that draws no frame for this long is asked again, so its caller gets an error in the end. */
const DRAWN_WITHIN_MS = 5_000;

/** The number of parts being loaded once the page's scripts are done; -1 for a page that draws nothing. */
const BUSY = `new Promise((counted) => {
  const parts = '[aria-busy="true"], [role="status"][aria-label="Loading"]';
  const count = () => counted(document.querySelectorAll(parts).length);
  requestAnimationFrame(() => requestIdleCallback(() => requestAnimationFrame(() => requestIdleCallback(count))));
  setTimeout(() => counted(-1), ${DRAWN_WITHIN_MS});
})`;

/** Waits until no response is pending and no part of the page is loading, before its scripts have run and after. */
export async function untilIdle(page: Page): Promise<void> {
  const requests = awaited.get(page);
  if (requests === undefined) throw new Error("nobody watches the requests of this page");
  const isIdle = async () => requests.size === 0 && (await page.evaluate<number>(BUSY)) === 0 && requests.size === 0;
  await until(isIdle, (idle) => idle, READ_WITHIN_MS);
}
