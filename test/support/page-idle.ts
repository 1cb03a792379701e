// When a page has nothing more to do: no answer is awaited, nothing of it is being read, and its scripts have run. It takes as long as the page does, and
// not the half second without a request that "networkidle" waits for; and it also ends after a navigation inside the page, which "networkidle" knows
// nothing of.
import type { BrowserContext, Page, Request } from "playwright-core";
import { until } from "../../scripts/demo-story/until.ts";

const READ_WITHIN_MS = 120_000;

/** What each page has asked for and has no answer to. */
const awaited = new WeakMap<Page, Set<Request>>();

/** Call it before the context has a page. WebSockets are no requests. */
export function watchRequests(context: BrowserContext): void {
  context.on("page", (page) => {
    const open = new Set<Request>();
    awaited.set(page, open);
    page.on("request", (request) => open.add(request));
    page.on("requestfinished", (request) => open.delete(request));
    page.on("requestfailed", (request) => open.delete(request));
  });
}

/** A page that draws no frame for so long is asked again, so that whoever waits for it hears of that in the end. */
const DRAWN_WITHIN_MS = 5_000;

/** The number of parts that are being read, once the scripts of the page have done all they had to do; -1 for a page that draws nothing. */
const BUSY = `new Promise((counted) => {
  const parts = '[aria-busy="true"], [role="status"][aria-label="Loading"]';
  const count = () => counted(document.querySelectorAll(parts).length);
  requestAnimationFrame(() => requestIdleCallback(() => requestAnimationFrame(() => requestIdleCallback(count))));
  setTimeout(() => counted(-1), ${DRAWN_WITHIN_MS});
})`;

/** Waits until no answer is awaited and no part of the page is being read, before its scripts have run and after. */
export async function untilIdle(page: Page): Promise<void> {
  const requests = awaited.get(page);
  if (requests === undefined) throw new Error("nobody watches the requests of this page");
  const isIdle = async () => requests.size === 0 && (await page.evaluate<number>(BUSY)) === 0 && requests.size === 0;
  await until(isIdle, (idle) => idle, READ_WITHIN_MS);
}
